"""Sessions as files on disk, written as the engine writes them."""

from pathlib import Path

from kimi_tui.base.content_parts import TextPart
from kimi_tui.base.message import FunctionCall, Message, ToolCall, user_message
from kimi_tui.base.paths import sessions_dir, work_dir_key
from kimi_tui.history.record_codec import encode
from kimi_tui.history.records import Checkpoint, RevertRecord

WORK_DIR = Path("/project")


class SessionFiles:
    """Writes the conversation of one session."""

    def __init__(self, data_dir: Path, session_id: str = "s1", *, subagent: str = "") -> None:
        self.dir = sessions_dir(data_dir) / work_dir_key(WORK_DIR) / session_id
        if subagent:
            self.dir = self.dir / "subagents" / subagent
        self.dir.mkdir(parents=True, exist_ok=True)
        self.journal = self.dir / "context.jsonl"
        self._next_id = 0

    def add(self, *records: Message) -> None:
        """Append a checkpoint and messages."""
        mark = Checkpoint(id=self._next_id, uid=f"u{self._next_id}", time=1_000.0 + self._next_id)
        self._next_id += 1
        with self.journal.open("ab") as file:
            file.write(b"".join(encode(record) for record in (mark, *records)))

    def add_prompt(self, text: str) -> None:
        """Append a message of the user."""
        self.add(user_message((TextPart(text),)))

    def revert(self, to: int) -> None:
        """Keep the lines before checkpoint `to` in a new file; the old one becomes a rotation."""
        lines = self.journal.read_bytes().splitlines(keepends=True)
        index = next(
            i for i, line in enumerate(lines) if b'"_checkpoint"' in line and f'"id":{to},'.encode() in line
        )
        rotation = self.dir / f"context.jsonl.{len(list(self.dir.glob('context.jsonl.*'))) + 1}"
        self.journal.rename(rotation)
        kept = [*lines[:index], encode(RevertRecord(to=to, next_id=self._next_id))]
        self.journal.write_bytes(b"".join(kept))


def call(name: str, arguments: str) -> Message:
    """Return a message of the agent that calls a tool."""
    return Message("assistant", (), tool_calls=(ToolCall(id="c1", function=FunctionCall(name, arguments)),))


def result(text: str) -> Message:
    """Return the output of a tool."""
    return Message("tool", (TextPart(text),), tool_call_id="c1")
