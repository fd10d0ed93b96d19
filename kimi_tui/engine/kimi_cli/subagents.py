"""Import of a session's sub-agents: `subagents/ID/` with `meta.json` and the conversation."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kimi_tui.base.paths import make_private_dir
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.engine.subagents.store import SubagentRecord, SubagentStatus, SubagentStore, is_subagent_id
from kimi_tui.history.kimi_cli.data_dir import read_object

_STATUSES: dict[str, SubagentStatus] = {"idle": "finished", "completed": "finished", "failed": "failed"}
"""Statuses by Kimi CLI's names. Any other status counts as interrupted."""


def copy_subagents(session: Path, target: Path) -> int:
    """Copy the sub-agents of the session in directory `session` to `target`. Return their number.

    The IDs are kept, so that the model can resume the sub-agents. Raises OSError.
    """
    records = SubagentStore(target / "subagents")
    copied = 0
    for folder in _subagent_dirs(session / "subagents"):
        conversation = folder / "context.jsonl"
        if not (conversation.is_file() and conversation.stat().st_size):
            continue
        ours = records.context_file(folder.name)
        make_private_dir(ours.parent)
        shutil.copy2(conversation, ours)
        ours.chmod(0o600)
        records.write(_build_record(folder.name, read_object(folder / "meta.json")))
        copied += 1
    return copied


def _subagent_dirs(parent: Path) -> Iterator[Path]:
    for folder in sorted(parent.iterdir()) if parent.is_dir() else ():
        if is_subagent_id(folder.name) and (folder / "meta.json").is_file():
            yield folder


def _build_record(name: str, metadata: dict[str, Any]) -> SubagentRecord:
    status = _STATUSES.get(str(metadata.get("status")), "interrupted")
    spec = metadata.get("launch_spec")
    model = spec.get("model_override") if isinstance(spec, dict) else None
    created = metadata.get("created_at")
    return SubagentRecord(
        id=name,
        kind=sanitize_line(str(metadata.get("subagent_type") or "")),
        description=sanitize_line(str(metadata.get("description") or "")),
        status=status,
        problem="" if status == "finished" else "it didn't finish in Kimi CLI",
        model=model if isinstance(model, str) and model else None,
        created=float(created) if isinstance(created, int | float) else 0.0,
    )
