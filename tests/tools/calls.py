"""A running call that keeps what it showed and how it took its turn."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from kimi_tui.tools.tool import RunningCall


class CallLog:
    """What a call showed, and when it had its turn."""

    def __init__(self) -> None:
        self.shown: list[str] = []
        self.words: list[str] = []
        self.turns = 0
        self.has_turn = False

    @property
    def output(self) -> str:
        return "".join(self.shown)

    async def leave_word(self, text: str) -> None:
        self.words.append(text)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        self.turns += 1
        self.has_turn = True
        try:
            yield
        finally:
            self.has_turn = False


def running_call(log: CallLog | None = None, *, tool_name: str = "Tool") -> RunningCall:
    log = log or CallLog()
    return RunningCall("call-1", tool_name, log.shown.append, log.turn, log.leave_word)
