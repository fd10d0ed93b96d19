"""Sub-agents on disk: `subagents/ID/` in the session directory, with `context.jsonl` and `state.json`."""

import json
import logging
import re
import secrets
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Literal

from kimi_tui.base.atomic_file import write_private_atomic
from kimi_tui.base.frozen import frozen
from kimi_tui.base.json_codec import from_jsonable, to_jsonable
from kimi_tui.wire.display_blocks import TodoItem

logger = logging.getLogger(__name__)

_ID = re.compile(r"a[0-9a-f]{8}")

SubagentStatus = Literal["running", "finished", "failed", "interrupted"]


@frozen(kw_only=True)
class SubagentRecord:
    """Saved state of a sub-agent."""

    id: str
    kind: str
    description: str
    """Description of its latest task."""
    status: SubagentStatus
    problem: str = ""
    """Why its latest task didn't finish."""
    model: str | None = None
    """The requested model; None for the parent's."""
    calls: tuple[str, ...] = ()
    """Ids of the tool calls that delegated tasks to it, latest last."""
    steps: int = 0
    """Number of steps over all its tasks."""
    todos: tuple[TodoItem, ...] = ()
    created: float = 0.0
    """Seconds since the epoch."""
    updated: float = 0.0
    """Seconds since the epoch."""


def is_subagent_id(name: str) -> bool:
    """Return whether `name` has the form of a sub-agent id."""
    return _ID.fullmatch(name) is not None


class SubagentStore:
    """Stores the sub-agents of one session. Its methods block."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def new(self, kind: str, description: str, *, model: str | None) -> SubagentRecord:
        """Return a new sub-agent, which isn't on disk yet."""
        return SubagentRecord(
            id=f"a{secrets.token_hex(4)}",
            kind=kind,
            description=description,
            status="running",
            model=model,
            created=time.time(),
        )

    def context_file(self, agent_id: str) -> Path:
        """Return the path of a sub-agent's conversation."""
        return self._folder / agent_id / "context.jsonl"

    def find(self, agent_id: str) -> SubagentRecord | None:
        """Return the sub-agent `agent_id`, or None if it doesn't exist or can't be read."""
        if not is_subagent_id(agent_id):
            return None
        try:
            data = (self._folder / agent_id / "state.json").read_bytes()
            return from_jsonable(SubagentRecord, json.loads(data))
        except (OSError, ValueError, RecursionError):
            return None

    def write(self, record: SubagentRecord) -> None:
        """Save `record`. Raises OSError."""
        record = replace(record, updated=time.time())
        text = json.dumps(to_jsonable(record), ensure_ascii=False, indent=2)
        write_private_atomic(self._folder / record.id / "state.json", f"{text}\n")

    def mark_interrupted(self) -> list[SubagentRecord]:
        """Mark the sub-agents that were running when kimi-tui last exited as interrupted, and return them."""
        interrupted = [
            replace(it, status="interrupted", problem="kimi-tui exited") for it in self._list_running()
        ]
        for record in interrupted:
            try:
                self.write(record)
            except OSError:
                logger.warning("can't save the state of sub-agent %s", record.id, exc_info=True)
        return interrupted

    def _list_running(self) -> Iterator[SubagentRecord]:
        for path in sorted(self._folder.iterdir()) if self._folder.is_dir() else ():
            record = self.find(path.name)
            if record is not None and record.status == "running":
                yield record
