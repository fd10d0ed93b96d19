"""A tool call context that records its effects."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from kimi_tui.tools.tool import CallContext


class CallLog:
    """Output, exclusive sections and interrupt notes of a call."""

    def __init__(self) -> None:
        self.shown: list[str] = []
        self.interrupted_notes: list[str] = []
        self.exclusive_count = 0
        self.is_exclusive = False

    @property
    def output(self) -> str:
        return "".join(self.shown)

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
    return CallContext("call-1", tool_name, log.shown.append, log.exclusive, log.set_interrupted_note)
