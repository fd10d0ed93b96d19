"""A tool call context that records its effects."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from kimi_tui.tools.tool import CallContext


class CallLog:
    """A call that records its output, exclusive sections and interrupt notes."""

    def __init__(self, tool_name: str = "Tool") -> None:
        self.id = "call-1"
        self.tool_name = tool_name
        self.shown: list[str] = []
        self.interrupted_notes: list[str] = []
        self.exclusive_count = 0
        self.is_exclusive = False

    @property
    def output(self) -> str:
        return "".join(self.shown)

    def show_output(self, text: str) -> None:
        self.shown.append(text)

    async def set_interrupted_note(self, text: str) -> None:
        self.interrupted_notes.append(text)

    @asynccontextmanager
    async def exclusive(self) -> AsyncIterator[None]:
        self.exclusive_count += 1
        self.is_exclusive = True
        try:
            yield
        finally:
            self.is_exclusive = False


def build_context(log: CallLog | None = None, *, tool_name: str = "Tool") -> CallContext:
    log = log or CallLog()
    log.tool_name = tool_name
    return log
