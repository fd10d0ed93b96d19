"""Queue of a session's turns, which run one at a time in the order of their prompts."""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable

from kimi_tui.base.content_parts import UserInput
from kimi_tui.base.errors import KimiTuiError, LimitReached, MaxStepsReached
from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg
from kimi_tui.base.redaction import redact
from kimi_tui.engine.files.session_files import SessionFiles
from kimi_tui.soul.soul import Soul, TurnRejected
from kimi_tui.wire.event_sender import EventSender
from kimi_tui.wire.events import TurnBegin, TurnEnd, TurnFailure, TurnOutcome

logger = logging.getLogger(__name__)


@frozen
class _Turn:
    user_input: UserInput
    work: Callable[[], Awaitable[None]] | None
    """Work to run instead of sending `user_input` to the soul."""
    is_steerable: bool
    prompt_id: str | None


class TurnQueue:
    """Runs the turns of a soul and sends TurnBegin and TurnEnd."""

    def __init__(
        self,
        soul: Soul,
        *,
        sender: EventSender,
        max_time_s: float | None,
        files: SessionFiles,
    ) -> None:
        self._soul = soul
        self._sender = sender
        self._files = files
        self._max_time_s = max_time_s
        self._queue: deque[_Turn] = deque()
        self._running: asyncio.Task[None] | None = None
        self.first_turn_began = asyncio.Event()
        self._turn: _Turn | None = None
        self._canceled_prompts: set[str] = set()
        """Prompts whose turns are canceled as soon as they begin."""

    @property
    def is_running(self) -> bool:
        """Whether a turn is running."""
        return self._running is not None

    @property
    def is_steerable(self) -> bool:
        """Whether steering input reaches the running turn."""
        return self._turn is not None and self._turn.is_steerable

    def require_idle(self) -> None:
        """Raise KimiTuiError if a turn is running."""
        if self.is_running:
            raise KimiTuiError("A turn is running.", hint="Interrupt it first.")

    def add(
        self,
        user_input: UserInput,
        group: asyncio.TaskGroup,
        work: Callable[[], Awaitable[None]] | None = None,
        *,
        steerable: bool = True,
        prompt_id: str | None = None,
    ) -> None:
        """Queue a turn for `user_input`. The turn runs in `group` after all earlier turns.

        `work` runs instead of sending the input to the soul. `steerable`: whether the turn gets steering
        input.
        """
        self._queue.append(_Turn(user_input, work, steerable, prompt_id))
        self._start_next(group)

    def interrupt(self) -> None:
        """Cancel the running turn, if any."""
        if self._running is not None:
            # Not immediately: a task that is canceled before its first step doesn't run at all, so it
            # wouldn't send TurnEnd.
            asyncio.get_running_loop().call_soon(self._running.cancel)

    def interrupt_prompt(self, prompt_id: str) -> None:
        """Cancel the turn of a prompt, now or when it begins."""
        if self._turn is not None and self._turn.prompt_id == prompt_id:
            self.interrupt()
        else:
            self._canceled_prompts.add(prompt_id)

    async def stop(self) -> None:
        """Cancel the running turn and the queued turns.

        Each queued turn begins first, so that its prompt is kept.
        """
        while (running := self._running) is not None:
            self.interrupt()
            await asyncio.wait([running])

    def _start_next(self, group: asyncio.TaskGroup) -> None:
        if self._running is None and self._queue:
            self._turn = self._queue.popleft()
            self._running = group.create_task(self._run(self._turn, group))
            self.first_turn_began.set()

    async def _run(self, turn: _Turn, group: asyncio.TaskGroup) -> None:
        self._sender.send(TurnBegin(turn.user_input, turn.prompt_id))
        outcome: TurnOutcome = "cancelled"
        failure: TurnFailure | None = None
        limit = asyncio.timeout(self._max_time_s)
        try:
            if turn.prompt_id in self._canceled_prompts:
                raise asyncio.CancelledError
            async with limit:
                await (turn.work() if turn.work is not None else self._soul.run(turn.user_input))
            outcome = "finished"
        except asyncio.CancelledError:
            logger.info("turn cancelled")
        except TurnRejected:
            outcome = "rejected"
        except MaxStepsReached as error:
            outcome, failure = "max_steps", _build_failure(error)
        except LimitReached as error:
            outcome, failure = "limit", _build_failure(error)
        except KimiTuiError as error:
            outcome, failure = "failed", _build_failure(error)
        except Exception as error:
            if isinstance(error, TimeoutError) and limit.expired():
                outcome, failure = "limit", _timeout_failure(self._max_time_s)
            else:
                logger.exception("turn failed")
                outcome, failure = "failed", _internal_failure(error)
        finally:
            self._running = self._turn = None
            self._sender.send(TurnEnd(outcome, self._soul.steps, failure, self._files.pop_tool_paths()))
        self._start_next(group)


def _build_failure(error: KimiTuiError) -> TurnFailure:
    return TurnFailure(
        error.what,
        error.hint,
        type(error).__name__,
        getattr(error, "status_code", None),
        bool(getattr(error, "retryable", False)),
    )


def _timeout_failure(max_time_s: float | None) -> TurnFailure:
    what = msg("Time limit reached: {seconds:g} s.", seconds=max_time_s)
    return TurnFailure(what, "Increase --max-time to continue.", LimitReached.__name__)


def _internal_failure(error: Exception) -> TurnFailure:
    what = msg(
        "Internal error: {error}: {problem}.",
        error=type(error).__name__,
        problem=redact(str(error)),
    )
    return TurnFailure(what, "See the log for details.", type(error).__name__)
