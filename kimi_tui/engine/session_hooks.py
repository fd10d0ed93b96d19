"""The hooks of a session: its begin and end, what the user is told, and what they add to the first prompt."""

import asyncio
from collections.abc import Coroutine, Iterable
from dataclasses import replace
from typing import Any, Literal

from kimi_tui.base.child_environment import Environment
from kimi_tui.config.settings import Hook as HookSettings
from kimi_tui.history.session import Session
from kimi_tui.hooks.events import (
    HookEvent,
    Notification,
    SessionEnd,
    SessionStart,
    StopFailure,
    UserPromptSubmit,
)
from kimi_tui.hooks.hook import ClientHook, CommandHook, Watched
from kimi_tui.hooks.hooks import Hooks
from kimi_tui.hooks.outcome import HookOutcome
from kimi_tui.wire.channel import Outgoing, Subscription, Wire
from kimi_tui.wire.commands import HookSubscription
from kimi_tui.wire.events import Notification as Notice
from kimi_tui.wire.events import TurnEnd
from kimi_tui.wire.requests import ApprovalRequest, QuestionRequest

CLOSING_S = 5.0
"""How long hooks may take when the session ends."""
_SINK = "wire"


class SessionHooks:
    """Fires the events of one session. What the hooks of its start say is added to the first prompt."""

    def __init__(
        self,
        hooks: Hooks,
        wire: Wire,
        *,
        source: Literal["startup", "resume"],
        closing_s: float = CLOSING_S,
    ) -> None:
        self._closing_s = closing_s
        self._hooks = hooks
        self._wire = wire
        self._source: Literal["startup", "resume"] = source
        self._opening: tuple[str, ...] = ()
        self._opened = asyncio.Event()
        self._group: asyncio.TaskGroup | None = None
        self._running: set[asyncio.Task[None]] = set()
        self._subscription: Subscription | None = None

    @property
    def counts(self) -> dict[str, int]:
        """How many hooks each event has that has any."""
        return self._hooks.counts

    @property
    def listed(self) -> str:
        """Every hook on a line of its own; empty without any."""
        return "\n".join(f"{hook.watched}: {hook.label}" for hook in self._hooks.all)

    def subscribe(self, subscriptions: Iterable[HookSubscription]) -> None:
        """Have these hooks of the client's, in place of those that it had before."""
        self._hooks.lend(
            [
                ClientHook(Watched(each.event, each.matcher), each.id, each.timeout, self._wire.ask)
                for each in subscriptions
            ]
        )
        self._watch_when_needed()

    async def fire(self, event: HookEvent) -> HookOutcome:
        """What the hooks of `event` decide; a prompt waits for those of the session's start."""
        if not isinstance(event, UserPromptSubmit):
            return await self._hooks.fire(event)
        if self._group is not None:
            await self._opened.wait()
        outcome = await self._hooks.fire(event)
        if outcome.blocked:
            return outcome
        opening, self._opening = self._opening, ()
        return replace(outcome, context=(*opening, *outcome.context))

    def begin(self, group: asyncio.TaskGroup) -> None:
        """The session is open; hooks run in `group` from here on."""
        self._group = group
        self._start(self._open())
        self._watch_when_needed()

    async def end(self) -> None:
        """The session ends: the hooks that run and those of its end may take a while."""
        if self._group is None:
            return
        if self._subscription is not None:
            for message in self._subscription.take():
                self._hear(message)
            self._subscription.close()
        self._start(self._tell(SessionEnd()))
        _, late = await asyncio.wait(self._running, timeout=self._closing_s)
        for task in late:
            task.cancel()

    async def _open(self) -> None:
        try:
            self._opening = (await self._hooks.fire(SessionStart(source=self._source))).context
        finally:
            self._opened.set()

    def _watch_when_needed(self) -> None:
        """Listen to what the user is told, once a hook wants to hear of it."""
        wanted = self._hooks.counts.keys() & {"Notification", "StopFailure"}
        if wanted and self._subscription is None and self._group is not None:
            self._subscription = self._wire.subscribe()
            self._start(self._watch(self._subscription))

    async def _watch(self, subscription: Subscription) -> None:
        async for message in subscription:
            self._hear(message)

    def _hear(self, message: Outgoing) -> None:
        event = _event_in(message)
        if event is not None:
            self._start(self._tell(event))

    async def _tell(self, event: HookEvent) -> None:
        await self._hooks.fire(event)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        assert self._group is not None
        task = self._group.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)


def session_hooks(
    settings: Iterable[HookSettings], session: Session, wire: Wire, *, environment: Environment
) -> SessionHooks:
    """The hooks of the config for `session`, whose conversation has not been opened yet."""
    work_dir = session.work_dir
    configured = [
        CommandHook(Watched(hook.event, hook.matcher), hook.command, hook.timeout, work_dir, environment)
        for hook in settings
    ]
    hooks = Hooks(configured, session_id=session.id, work_dir=str(work_dir), send=wire.send)
    return SessionHooks(hooks, wire, source="resume" if session.context_file.exists() else "startup")


def _event_in(message: Outgoing) -> Notification | StopFailure | None:
    """What hooks are told of `message`, when it is for the user to know."""
    match message:
        case Notice(type=kind, title=title, body=body, severity=severity):
            return Notification(sink=_SINK, notification_type=kind, title=title, body=body, severity=severity)
        case ApprovalRequest(sender=sender, description=description):
            return Notification(
                sink=_SINK,
                notification_type="permission_prompt",
                title=f"{sender} needs your approval",
                body=description,
                severity="info",
            )
        case QuestionRequest(questions=questions):
            return Notification(
                sink=_SINK,
                notification_type="question_prompt",
                title="The model has a question",
                body="\n".join(question.question for question in questions),
                severity="info",
            )
        case TurnEnd(failure=failure) if failure is not None:
            return StopFailure(
                error_type=failure.kind, error_message=f"{failure.what} {failure.hint}".strip()
            )
        case _:
            return None
