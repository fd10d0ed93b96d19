"""The turns of a session: one at a time, in the order of their prompts."""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable

from kimi_tui.base.content import UserInput
from kimi_tui.base.errors import KimiTuiError, MaxStepsReached
from kimi_tui.base.secrets import blacked_out
from kimi_tui.base.value import value
from kimi_tui.soul.limits import LimitReached
from kimi_tui.soul.send import Send
from kimi_tui.soul.soul import Soul, TurnRejected
from kimi_tui.wire.events import TurnBegin, TurnEnd, TurnFailure, TurnOutcome

logger = logging.getLogger(__name__)


@value
class _Turn:
    user_input: UserInput
    work: Callable[[], Awaitable[None]] | None
    """What it does instead of having the soul answer `user_input`."""
    steerable: bool


class Turns:
    """Runs a soul's turns and tells of their begin and end."""

    def __init__(
        self, soul: Soul, *, send: Send, max_time_s: float | None, files: Callable[[], tuple[str, ...]]
    ) -> None:
        """`files` names those that tools changed since it was last asked."""
        self._soul = soul
        self._send = send
        self._files = files
        self._max_time_s = max_time_s
        self._waiting: deque[_Turn] = deque()
        self._running: asyncio.Task[None] | None = None
        self._turn: _Turn | None = None

    @property
    def is_running(self) -> bool:
        """Whether a turn runs."""
        return self._running is not None

    @property
    def can_be_steered(self) -> bool:
        """Whether what the user says now reaches the turn that runs."""
        return self._turn is not None and self._turn.steerable

    def add(
        self,
        user_input: UserInput,
        group: asyncio.TaskGroup,
        work: Callable[[], Awaitable[None]] | None = None,
        *,
        steerable: bool = True,
    ) -> None:
        """Run a turn for `user_input` in `group` as soon as those before it have ended.

        `work` is what it does instead of having the soul answer; what the user says meanwhile reaches it
        when it is `steerable`.
        """
        self._waiting.append(_Turn(user_input, work, steerable))
        self._start(group)

    def interrupt(self) -> None:
        """Cancel the turn that runs, if one does."""
        if self._running is not None:
            # Not at once: a task that is cancelled before its first step runs nothing of its own, not even
            # what tells that it has ended.
            asyncio.get_running_loop().call_soon(self._running.cancel)

    async def stop(self) -> None:
        """Cancel the turn that runs and those that wait; what the user said in them is kept."""
        while (running := self._running) is not None:
            self.interrupt()
            await asyncio.wait([running])

    def _start(self, group: asyncio.TaskGroup) -> None:
        if self._running is None and self._waiting:
            self._turn = self._waiting.popleft()
            self._running = group.create_task(self._run(self._turn, group))

    async def _run(self, turn: _Turn, group: asyncio.TaskGroup) -> None:
        self._send(TurnBegin(turn.user_input))
        outcome: TurnOutcome = "cancelled"
        failure: TurnFailure | None = None
        limit = asyncio.timeout(self._max_time_s)
        try:
            async with limit:
                await (turn.work() if turn.work is not None else self._soul.run(turn.user_input))
            outcome = "finished"
        except asyncio.CancelledError:
            logger.info("turn cancelled")
        except TurnRejected:
            outcome = "rejected"
        except MaxStepsReached as error:
            outcome, failure = "max_steps", _failure(error)
        except LimitReached as error:
            outcome, failure = "limit", _failure(error)
        except KimiTuiError as error:
            outcome, failure = "failed", _failure(error)
        except Exception as error:
            if isinstance(error, TimeoutError) and limit.expired():
                outcome, failure = "limit", _too_long(self._max_time_s)
            else:
                logger.exception("turn failed")
                outcome, failure = "failed", _defect(error)
        finally:
            self._running = self._turn = None
            self._send(TurnEnd(outcome, self._soul.steps, failure, self._files()))
        self._start(group)


def _failure(error: KimiTuiError) -> TurnFailure:
    return TurnFailure(
        error.what,
        error.hint,
        type(error).__name__,
        getattr(error, "status_code", None),
        bool(getattr(error, "retryable", False)),
    )


def _too_long(max_time_s: float | None) -> TurnFailure:
    what = f"The turn took longer than its limit of {max_time_s:g} s."
    return TurnFailure(what, "Raise --max-time to go on.", LimitReached.__name__)


def _defect(error: Exception) -> TurnFailure:
    what = blacked_out(f"An internal error ended the turn: {type(error).__name__}: {error}.")
    return TurnFailure(what, "The log has the details.", type(error).__name__)
