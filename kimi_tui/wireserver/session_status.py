"""State of the served session, and checks of that state before calls."""

import asyncio

from kimi_tui.base.content_parts import UserInput
from kimi_tui.base.errors import KimiTuiError, ModelNotSet
from kimi_tui.base.ids import new_id
from kimi_tui.wire.events import SessionInfo, SlashCommandInfo, TurnBegin
from kimi_tui.wireserver.jsonrpc import ErrorCode, RpcCall, RpcError
from kimi_tui.wireserver.turn_result import error_code

_NO_TURN = "No agent turn is in progress. Send a prompt first."
_BUSY = "An agent turn is already in progress. Wait until it ends, or cancel it."


class SessionStatus:
    """State of one session, from before it opens until it ends. The checks raise RpcError."""

    def __init__(self) -> None:
        self.info: SessionInfo | None = None
        self.opened = asyncio.Event()
        """Set when the session is open or has failed to open."""
        self.prompt: RpcCall | None = None
        """The prompt call of the running turn."""
        self.prompt_id: str | None = None
        """ID of the last prompt's turn. None: no other client can use the session."""
        self.in_turn = False
        self._is_own_turn = False
        """Whether the running turn belongs to the prompt call."""
        self._failure: KimiTuiError | None = None

    def start_turn(self) -> str | None:
        """Set and return the `prompt_id` of a prompt call that takes a turn."""
        self.prompt_id = new_id() if self._is_shared else None
        return self.prompt_id

    def begin_turn(self, begin: TurnBegin) -> None:
        """Record that a turn has begun, by this client or another one."""
        self.in_turn = True
        is_own = begin.prompt_id is not None and begin.prompt_id == self.prompt_id
        self._is_own_turn = not self._is_shared or is_own

    def end_turn(self) -> RpcCall | None:
        """Record that the turn has ended. Return the turn's prompt call, or None."""
        self.in_turn = False
        if not self._is_own_turn:
            return None
        call, self.prompt = self.prompt, None
        return call

    @property
    def _is_shared(self) -> bool:
        return self.info is not None and self.info.resident

    def update_info(self, info: SessionInfo) -> None:
        """Store the description of a session that was opened or has changed."""
        self.info = info
        self.opened.set()

    def fail(self, error: KimiTuiError) -> None:
        """Record that the session can't be opened. Calls that need a session get `error`."""
        self._failure = error
        self.opened.set()

    async def check_open(self) -> None:
        """Wait until the session is open.

        Raise if it failed to open for a reason other than a missing model.
        """
        await self.opened.wait()
        if self._failure is not None and not isinstance(self._failure, ModelNotSet):
            raise RpcError(ErrorCode.INTERNAL, str(self._failure))

    def check_model(self) -> None:
        """Raise if the session has no model."""
        if self._failure is not None:
            raise RpcError(error_code(type(self._failure).__name__), str(self._failure))

    def check_idle(self) -> None:
        """Raise if a turn is running."""
        if self.prompt is not None or self.in_turn:
            raise RpcError(ErrorCode.WRONG_STATE, _BUSY)

    def check_turn(self) -> None:
        """Raise if no turn is running."""
        if self.prompt is None and not self.in_turn:
            raise RpcError(ErrorCode.WRONG_STATE, _NO_TURN)

    def parse_command(self, user_input: UserInput) -> SlashCommandInfo | None:
        """Return `SessionInfo.parse_command(user_input)`; None before the session is open."""
        return self.info.parse_command(user_input) if self.info is not None else None
