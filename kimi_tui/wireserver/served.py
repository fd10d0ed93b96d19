"""What is known of the session that is served, and what may be asked of it now."""

import asyncio

from kimi_tui.base.content import UserInput
from kimi_tui.base.errors import KimiTuiError, ModelNotSet
from kimi_tui.wire.events import SessionInfo, SlashCommandInfo
from kimi_tui.wireserver.jsonrpc import Call, ErrorCode, RpcError
from kimi_tui.wireserver.outcome import code_of

_NO_TURN = "No agent turn is in progress. Send a prompt first."
_BUSY = "An agent turn is already in progress. Wait for its result, or cancel it."


class Served:
    """One session, from before it is open to its end. The checks raise RpcError."""

    def __init__(self) -> None:
        self.info: SessionInfo | None = None
        self.opened = asyncio.Event()
        """Set when the session is open, or when it never will be."""
        self.prompt: Call | None = None
        """The prompt whose turn is to end."""
        self.in_turn = False
        self._failure: KimiTuiError | None = None

    def introduce(self, info: SessionInfo) -> None:
        """It is open, or something of it has changed."""
        self.info = info
        self.opened.set()

    def fail(self, error: KimiTuiError) -> None:
        """It can't be opened; whoever asks for a turn is told why."""
        self._failure = error
        self.opened.set()

    async def check_open(self) -> None:
        """Wait until it is open, or known to be without a model."""
        await self.opened.wait()
        if self._failure is not None and not isinstance(self._failure, ModelNotSet):
            raise RpcError(ErrorCode.INTERNAL, str(self._failure))

    def check_model(self) -> None:
        """A turn needs a model."""
        if self._failure is not None:
            raise RpcError(code_of(type(self._failure).__name__), str(self._failure))

    def check_at_rest(self) -> None:
        """Some things are for the time between turns."""
        if self.prompt is not None or self.in_turn:
            raise RpcError(ErrorCode.WRONG_STATE, _BUSY)

    def check_turn(self) -> None:
        """Others for the time of a turn."""
        if self.prompt is None and not self.in_turn:
            raise RpcError(ErrorCode.WRONG_STATE, _NO_TURN)

    def command_in(self, user_input: UserInput) -> SlashCommandInfo | None:
        """`SessionInfo.command_in`; nothing before the session is open."""
        return self.info.command_in(user_input) if self.info is not None else None
