"""The sub-agents of a session of Kimi CLI: `subagents/ID/` with `meta.json` and the conversation."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kimi_tui.base.paths import make_private_dir
from kimi_tui.base.terminal import plain_line
from kimi_tui.cli.kimi_cli.share import read_object
from kimi_tui.engine.subagents.records import SubagentRecord, SubagentRecords, SubagentStatus, is_subagent_id

_STATUSES: dict[str, SubagentStatus] = {"idle": "finished", "completed": "finished", "failed": "failed"}
"""What theirs mean; whatever else they are, they were not left to their end."""


def copy_subagents(session: Path, target: Path) -> int:
    """Copy those of the session in the folder `session` into ours in `target`. Returns how many.

    Ids are the same on both sides, so that the model can have one go on. Raises OSError.
    """
    records = SubagentRecords(target / "subagents")
    copied = 0
    for folder in _folders(session / "subagents"):
        conversation = folder / "context.jsonl"
        if not (conversation.is_file() and conversation.stat().st_size):
            continue
        ours = records.context_file(folder.name)
        make_private_dir(ours.parent)
        shutil.copy2(conversation, ours)
        ours.chmod(0o600)
        records.write(_record(folder.name, read_object(folder / "meta.json")))
        copied += 1
    return copied


def _folders(parent: Path) -> Iterator[Path]:
    for folder in sorted(parent.iterdir()) if parent.is_dir() else ():
        if is_subagent_id(folder.name) and (folder / "meta.json").is_file():
            yield folder


def _record(name: str, theirs: dict[str, Any]) -> SubagentRecord:
    status = _STATUSES.get(str(theirs.get("status")), "interrupted")
    spec = theirs.get("launch_spec")
    model = spec.get("model_override") if isinstance(spec, dict) else None
    created = theirs.get("created_at")
    return SubagentRecord(
        id=name,
        kind=plain_line(str(theirs.get("subagent_type") or "")),
        description=plain_line(str(theirs.get("description") or "")),
        status=status,
        problem="" if status == "finished" else "it did not come to its end in Kimi CLI",
        model=model if isinstance(model, str) and model else None,
        created=float(created) if isinstance(created, int | float) else 0.0,
    )
