"""Hooks of a session: start and end of the session, notifications, and context for the first prompt."""

import asyncio
from collections.abc import Coroutine, Iterable
from dataclasses import replace
from typing import Any, Literal

from kimi_tui.base.child_environment import ChildEnvironment
from kimi_tui.base.message_text import msg
from kimi_tui.config.settings import HookSettings as HookSettings
from kimi_tui.history.session import Session
from kimi_tui.hooks.decision import HookDecision
from kimi_tui.hooks.dispatcher import SessionHookDispatcher
from kimi_tui.hooks.events import (
    HookEvent,
    SessionEnd,
    SessionStart,
    StopFailure,
    UserNotification,
    UserPromptSubmit,
)
from kimi_tui.hooks.hook import ClientHook, CommandHook, HookFilter
from kimi_tui.wire.channel import Outgoing, Subscription, Wire
from kimi_tui.wire.commands import HookSubscription
from kimi_tui.wire.events import Notification, TurnEnd
from kimi_tui.wire.requests import ApprovalRequest, QuestionRequest

CLOSE_TIMEOUT_S = 5.0
"""Seconds that hooks may take when the session ends."""
_SINK = "wire"


class SessionHooks:
    """Fires a session's hook events. The output of SessionStart hooks is added to the first prompt."""

    def __init__(
        self,
        hooks: SessionHookDispatcher,
        wire: Wire,
        *,
        source: Literal["startup", "resume"],
        close_timeout_s: float = CLOSE_TIMEOUT_S,
    ) -> None:
        self._close_timeout_s = close_timeout_s
        self._hooks = hooks
        self._wire = wire
        self._source: Literal["startup", "resume"] = source
        self._start_context: tuple[str, ...] = ()
        self._start_finished = asyncio.Event()
        self._group: asyncio.TaskGroup | None = None
        self._running: set[asyncio.Task[None]] = set()
        self._subscription: Subscription | None = None

    @property
    def counts(self) -> dict[str, int]:
        """Number of hooks by event."""
        return self._hooks.counts

    @property
    def summary(self) -> str:
        """One line per hook; empty without hooks."""
        return "\n".join(f"{hook.event_filter}: {hook.label}" for hook in self._hooks.all)

    def subscribe(self, subscriptions: Iterable[HookSubscription]) -> None:
        """Replace the client's hooks."""
        self._hooks.set_client_hooks(
            [
                ClientHook(HookFilter(each.event, each.matcher), each.id, each.timeout, self._wire)
                for each in subscriptions
            ]
        )
        self._watch_if_needed()

    async def fire(self, event: HookEvent) -> HookDecision:
        """Run the hooks of `event` and return their decision.

        A prompt first waits until the SessionStart hooks have finished.
        """
        if not isinstance(event, UserPromptSubmit):
            return await self._hooks.fire(event)
        if self._group is not None:
            await self._start_finished.wait()
        decision = await self._hooks.fire(event)
        if decision.blocked:
            return decision
        start_context, self._start_context = self._start_context, ()
        return replace(decision, context=(*start_context, *decision.context))

    def start(self, group: asyncio.TaskGroup) -> None:
        """Run the SessionStart hooks in `group`, which later hooks also use."""
        self._group = group
        self._spawn(self._run_start_hooks())
        self._watch_if_needed()

    async def close(self) -> None:
        """Run the SessionEnd hooks, and cancel hooks that exceed the timeout."""
        if self._group is None:
            return
        if self._subscription is not None:
            for message in self._subscription.pop_pending():
                self._handle_message(message)
            self._subscription.close()
        self._spawn(self._fire_and_forget(SessionEnd()))
        _, late = await asyncio.wait(self._running, timeout=self._close_timeout_s)
        for task in late:
            task.cancel()

    async def _run_start_hooks(self) -> None:
        try:
            self._start_context = (await self._hooks.fire(SessionStart(source=self._source))).context
        finally:
            self._start_finished.set()

    def _watch_if_needed(self) -> None:
        """Subscribe to the Wire once a hook listens to notifications or failures."""
        has_listeners = bool(self._hooks.counts.keys() & {"Notification", "StopFailure"})
        if has_listeners and self._subscription is None and self._group is not None:
            self._subscription = self._wire.subscribe(fragments=False)
            self._spawn(self._watch_messages(self._subscription))

    async def _watch_messages(self, subscription: Subscription) -> None:
        async for message in subscription:
            self._handle_message(message)

    def _handle_message(self, message: Outgoing) -> None:
        event = _to_hook_event(message)
        if event is not None:
            self._spawn(self._fire_and_forget(event))

    async def _fire_and_forget(self, event: HookEvent) -> None:
        await self._hooks.fire(event)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        assert self._group is not None
        task = self._group.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)


def build_session_hooks(
    settings: Iterable[HookSettings], session: Session, wire: Wire, *, environment: ChildEnvironment
) -> SessionHooks:
    """Return the configured hooks of `session`. Call this before the conversation is opened."""
    work_dir = session.work_dir
    configured = [
        CommandHook(HookFilter(hook.event, hook.matcher), hook.command, hook.timeout, work_dir, environment)
        for hook in settings
    ]
    hooks = SessionHookDispatcher(configured, session_id=session.id, work_dir=str(work_dir), sender=wire)
    return SessionHooks(hooks, wire, source="resume" if session.context_file.exists() else "startup")


def _to_hook_event(message: Outgoing) -> UserNotification | StopFailure | None:
    """Return the hook event for `message`, or None if `message` triggers no hooks."""
    match message:
        case Notification(type=kind, title=title, body=body, severity=severity):
            return UserNotification(
                sink=_SINK, notification_type=kind, title=title, body=body, severity=severity
            )
        case ApprovalRequest(sender=sender, description=description):
            return UserNotification(
                sink=_SINK,
                notification_type="permission_prompt",
                title=msg("{name} needs your approval", name=sender),
                body=description,
                severity="info",
            )
        case QuestionRequest(questions=questions):
            return UserNotification(
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
