"""Copy of a session of Kimi CLI: conversation, branches, sub-agents, title and todos."""

import os
import shutil
from dataclasses import replace
from pathlib import Path

from kimi_tui.base.paths import make_private_dir, sessions_dir
from kimi_tui.engine.kimi_cli.subagents import copy_subagents
from kimi_tui.history.filesystem import LOCAL_FILE_SYSTEM, replace_file
from kimi_tui.history.kimi_cli.checkpoint_ids import renumber_branches
from kimi_tui.history.kimi_cli.checkpoint_labels import describe_checkpoints, read_turns
from kimi_tui.history.kimi_cli.data_dir import KimiCliSession
from kimi_tui.history.kimi_cli.session_state import convert_state
from kimi_tui.history.record_codec import role_of
from kimi_tui.history.session_index import SessionIndex
from kimi_tui.history.session_state import CopyOrigin, encode_state, read_state


def copy_session(kimi_cli_session: KimiCliSession, data_dir: Path, *, new_id: str = "") -> int | None:
    """Copy a session into the data directory. Return its number of sub-agents.

    Return None if the copy already exists. `new_id` is the ID of the copy; by default, the original's ID. If
    copying fails, no partial session is left. Raises OSError.
    Grants and yolo mode aren't copied, because the user gave them to another program.
    """
    project = sessions_dir(data_dir) / kimi_cli_session.key
    target = project / (new_id or kimi_cli_session.id)
    if target.exists():
        return None
    temporary = project / f".{target.name}"
    shutil.rmtree(temporary, ignore_errors=True)
    make_private_dir(temporary)
    try:
        for name, source in kimi_cli_session.files.items():
            shutil.copy2(
                source, temporary / name
            )  # keeps the modification time, which determines the latest session
            (temporary / name).chmod(0o600)
        _convert_checkpoints(temporary, kimi_cli_session)
        subagents = copy_subagents(kimi_cli_session.state.parent, temporary)
        state = replace(
            convert_state(kimi_cli_session),
            origin=CopyOrigin(
                modified_ns=kimi_cli_session.context_file.stat().st_mtime_ns,
                messages=_count_messages(temporary),
            ),
        )
        replace_file(LOCAL_FILE_SYSTEM, temporary / "state.json", [encode_state(state)])
        temporary.rename(target)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    if kimi_cli_session.work_dir is not None:
        SessionIndex(project).record(
            target.name,
            work_dir=kimi_cli_session.work_dir,
            title=state.title,
            updated=kimi_cli_session.updated,
        )
    return subagents


def is_outdated_copy(copy: Path, kimi_cli_session: KimiCliSession) -> bool:
    """Return whether the original session has changed since it was copied, while the copy hasn't.

    `copy` is the directory of the copied session.
    """
    state = read_state(copy / "state.json")
    if state is None or state.origin is None:
        return False
    return (
        kimi_cli_session.context_file.stat().st_mtime_ns != state.origin.modified_ns
        and _count_messages(copy) == state.origin.messages
        and not any(copy.glob("context.jsonl.*"))
    )


def _count_messages(folder: Path) -> int:
    """Return the number of messages in a session's conversation."""
    lines = (folder / "context.jsonl").read_bytes().split(b"\n")
    return sum((role := role_of(line)) is not None and not role.startswith("_") for line in lines)


def _convert_checkpoints(folder: Path, kimi_cli_session: KimiCliSession) -> None:
    current = folder / "context.jsonl"
    used = current.stat()
    branches = [folder / name for name in sorted(kimi_cli_session.files) if name.startswith("context_")]
    renumber_branches(current, branches)
    turns = read_turns(folder / "wire.jsonl")
    for file in (current, *branches):
        describe_checkpoints(file, turns)
    os.utime(current, ns=(used.st_atime_ns, used.st_mtime_ns))
