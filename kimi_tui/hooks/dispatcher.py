"""Dispatcher that runs the hooks matching an event and combines their decisions."""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from kimi_tui.hooks.command_runner import HookError
from kimi_tui.hooks.decision import HookDecision, combine_decisions
from kimi_tui.hooks.events import (
    HookEvent,
    Stop,
    UserPromptSubmit,
    can_be_blocked,
    display_target,
    hook_payload,
    name_of,
)
from kimi_tui.hooks.hook import Hook
from kimi_tui.wire.event_sender import EventSender
from kimi_tui.wire.events import HookResolved, HookTriggered

logger = logging.getLogger(__name__)

_NO_DECISION = HookDecision()


class HookDispatcher(Protocol):
    """Runs the hooks for events."""

    async def fire(self, event: HookEvent) -> HookDecision:
        """Run the hooks for `event` and return their combined decision. A hook that fails decides nothing."""
        ...


class NoHooks:
    """Dispatcher without hooks."""

    async def fire(self, event: HookEvent) -> HookDecision:
        """Return an empty decision."""
        return _NO_DECISION


NO_HOOKS = NoHooks()


class SessionHookDispatcher:
    """Runs all hooks of an event concurrently, and sends front ends an event before and after."""

    def __init__(self, hooks: Sequence[Hook], *, session_id: str, work_dir: str, sender: EventSender) -> None:
        self._config_hooks = tuple(hooks)
        self._client_hooks: tuple[Hook, ...] = ()
        self._session_id = session_id
        self._work_dir = work_dir
        self._sender = sender

    @property
    def all(self) -> tuple[Hook, ...]:
        """Hooks from the config, then the client's."""
        return (*self._config_hooks, *self._client_hooks)

    @property
    def counts(self) -> dict[str, int]:
        """Number of hooks by event, for events with hooks."""
        return dict(Counter(hook.event_filter.event for hook in self.all))

    def set_client_hooks(self, hooks: Sequence[Hook]) -> None:
        """Replace the client's hooks."""
        self._client_hooks = tuple(hooks)

    async def fire(self, event: HookEvent) -> HookDecision:
        """Run the hooks for `event` and return their combined decision. A hook that fails decides nothing."""
        hooks = {hook.label: hook for hook in self.all if hook.event_filter.matches(event)}
        if not hooks:
            return _NO_DECISION
        name, target = name_of(event), display_target(event)
        payload = {
            "session_id": self._session_id,
            "cwd": self._work_dir,
            "hook_event_name": name,
            **hook_payload(event),
        }
        self._sender.send(HookTriggered(name, target, len(hooks)))
        started_at = time.monotonic()
        decision = _NO_DECISION
        try:
            decision = combine_decisions(await _collect_decisions(hooks.values(), event, payload))
            if decision.blocked and not can_be_blocked(event):
                logger.warning("a hook blocked %s, which can't be blocked: %s", name, decision.reason)
                decision = HookDecision(context=decision.context)
        finally:
            self._sender.send(
                HookResolved(
                    name,
                    target,
                    "block" if decision.blocked else "allow",
                    decision.reason,
                    round((time.monotonic() - started_at) * 1000),
                )
            )
        return decision


class SubagentHookDispatcher:
    """Dispatcher for a sub-agent. Its task isn't a user prompt and its end isn't a Stop."""

    def __init__(self, dispatcher: HookDispatcher) -> None:
        self._dispatcher = dispatcher

    async def fire(self, event: HookEvent) -> HookDecision:
        """Run the hooks for `event` and return their combined decision."""
        return (
            _NO_DECISION if isinstance(event, UserPromptSubmit | Stop) else await self._dispatcher.fire(event)
        )


async def _collect_decisions(
    hooks: Iterable[Hook], event: HookEvent, payload: dict[str, Any]
) -> list[HookDecision]:
    """Run `hooks` concurrently; return their decisions in order."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_run_hook(hook, event, payload)) for hook in hooks]
    return [task.result() for task in tasks]


async def _run_hook(hook: Hook, event: HookEvent, payload: dict[str, Any]) -> HookDecision:
    try:
        return await hook.decide(event, payload)
    except HookError as error:
        logger.warning("hook %r for %s failed: %s", hook.label, name_of(event), error)
    except Exception:  # a hook must never crash the session
        logger.exception("hook %r for %s crashed", hook.label, name_of(event))
    return _NO_DECISION
