"""A tool call context that records its effects."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from kimi_tui.history.snapshots.attribution import ChangeAuthor
from kimi_tui.tools.change_tracker import PendingCommit
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
        self.tracked: list[PendingCommit | None] = []

    @property
    def output(self) -> str:
        return "".join(self.shown)

    def show_output(self, text: str) -> None:
        self.shown.append(text)

    async def set_interrupted_note(self, text: str) -> None:
        self.interrupted_notes.append(text)

    @asynccontextmanager
    async def exclusive(self, *, is_tracked: bool = True, is_trial: bool = False) -> AsyncIterator[None]:
        self.exclusive_count += 1
        self.is_exclusive = True
        try:
            yield
        finally:
            self.is_exclusive = False

    @asynccontextmanager
    async def tracking(self, commit: PendingCommit | None = None) -> AsyncIterator[None]:
        self.tracked.append(commit)
        yield

    @property
    def author(self) -> ChangeAuthor:
        return ChangeAuthor(who="call", call=self.id, tool=self.tool_name)


def build_context(log: CallLog | None = None, *, tool_name: str = "Tool") -> CallContext:
    log = log or CallLog()
    log.tool_name = tool_name
    return log
