"""Sub-agents on disk: `subagents/ID/` in the session's folder, a conversation and a `state.json` each."""

import json
import logging
import re
import secrets
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Literal

from kimi_tui.base.encoding import from_jsonable, to_jsonable
from kimi_tui.base.private_file import replace_private_file
from kimi_tui.base.value import value
from kimi_tui.wire.display import TodoItem

logger = logging.getLogger(__name__)

_ID = re.compile(r"a[0-9a-f]{8}")

SubagentStatus = Literal["running", "finished", "failed", "interrupted"]


@value(kw_only=True)
class SubagentRecord:
    """One sub-agent, as it stands."""

    id: str
    kind: str
    description: str
    """Of its latest task."""
    status: SubagentStatus
    problem: str = ""
    """Why it did not finish."""
    model: str | None = None
    """The configured model that was asked for; None for that of its parent."""
    calls: tuple[str, ...] = ()
    """The tool calls that gave it work, the latest last."""
    steps: int = 0
    """Of all its tasks."""
    todos: tuple[TodoItem, ...] = ()
    created: float = 0.0
    updated: float = 0.0
    """Both in seconds since the epoch."""


def is_subagent_id(name: str) -> bool:
    """Whether a sub-agent can be called so."""
    return _ID.fullmatch(name) is not None


class SubagentRecords:
    """The sub-agents of one session. Its methods block."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def new(self, kind: str, description: str, *, model: str | None) -> SubagentRecord:
        """A sub-agent that has not begun; nothing is on disk yet."""
        return SubagentRecord(
            id=f"a{secrets.token_hex(4)}",
            kind=kind,
            description=description,
            status="running",
            model=model,
            created=time.time(),
        )

    def context_file(self, agent_id: str) -> Path:
        """Its conversation."""
        return self._folder / agent_id / "context.jsonl"

    def find(self, agent_id: str) -> SubagentRecord | None:
        """The sub-agent of that id; None when there is none that can be read."""
        if not is_subagent_id(agent_id):
            return None
        try:
            data = (self._folder / agent_id / "state.json").read_bytes()
            return from_jsonable(SubagentRecord, json.loads(data))
        except (OSError, ValueError, RecursionError):
            return None

    def write(self, record: SubagentRecord) -> None:
        """Keep `record`, in the place of an earlier one. Raises OSError."""
        record = replace(record, updated=time.time())
        text = json.dumps(to_jsonable(record), ensure_ascii=False, indent=2)
        replace_private_file(self._folder / record.id / "state.json", f"{text}\n")

    def take_stock(self) -> list[SubagentRecord]:
        """Those that an earlier run of the program left at work, which count as interrupted from now on."""
        left = [replace(it, status="interrupted", problem="kimi-tui ended") for it in self._running()]
        for record in left:
            try:
                self.write(record)
            except OSError:
                logger.warning("the state of sub-agent %s can't be kept", record.id, exc_info=True)
        return left

    def _running(self) -> Iterator[SubagentRecord]:
        for path in sorted(self._folder.iterdir()) if self._folder.is_dir() else ():
            record = self.find(path.name)
            if record is not None and record.status == "running":
                yield record
