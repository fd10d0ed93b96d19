"""The hooks of a session: which of them an event concerns, and what they decide together."""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from kimi_tui.hooks.events import (
    HookEvent,
    Stop,
    UserPromptSubmit,
    can_be_blocked,
    name_of,
    shown_target,
    told,
)
from kimi_tui.hooks.hook import Hook
from kimi_tui.hooks.outcome import HookOutcome, together
from kimi_tui.hooks.process import HookFailed
from kimi_tui.wire.events import Event, HookResolved, HookTriggered

logger = logging.getLogger(__name__)

_NOTHING = HookOutcome()


class Firing(Protocol):
    """Tells hooks of events."""

    async def fire(self, event: HookEvent) -> HookOutcome:
        """What the hooks of `event` decide; without any, at once. A hook that fails decides nothing."""
        ...


class NoHooks:
    """Where there are none."""

    async def fire(self, event: HookEvent) -> HookOutcome:
        """Nothing is decided."""
        return _NOTHING


NO_HOOKS = NoHooks()


class Hooks:
    """Runs the hooks of an event together and tells front ends of it."""

    def __init__(
        self, hooks: Sequence[Hook], *, session_id: str, work_dir: str, send: Callable[[Event], None]
    ) -> None:
        self._own = tuple(hooks)
        self._lent: tuple[Hook, ...] = ()
        self._session_id = session_id
        self._work_dir = work_dir
        self._send = send

    @property
    def all(self) -> tuple[Hook, ...]:
        """The config's, then the client's."""
        return (*self._own, *self._lent)

    @property
    def counts(self) -> dict[str, int]:
        """How many hooks each event has that has any."""
        return dict(Counter(hook.watched.event for hook in self.all))

    def lend(self, hooks: Sequence[Hook]) -> None:
        """Have these of the client's as well, in place of those lent before."""
        self._lent = tuple(hooks)

    async def fire(self, event: HookEvent) -> HookOutcome:
        """What the hooks of `event` decide; without any, at once. A hook that fails decides nothing."""
        concerned = {hook.label: hook for hook in self.all if hook.watched.means(event)}
        if not concerned:
            return _NOTHING
        name, target = name_of(event), shown_target(event)
        said = {
            "session_id": self._session_id,
            "cwd": self._work_dir,
            "hook_event_name": name,
            **told(event),
        }
        self._send(HookTriggered(name, target, len(concerned)))
        started = time.monotonic()
        outcome = _NOTHING
        try:
            outcome = together(await _decisions(concerned.values(), event, said))
            if outcome.blocked and not can_be_blocked(event):
                logger.warning("a hook said no to %s, which can't be prevented: %s", name, outcome.reason)
                outcome = HookOutcome(context=outcome.context)
        finally:
            self._send(
                HookResolved(
                    name,
                    target,
                    "block" if outcome.blocked else "allow",
                    outcome.reason,
                    round((time.monotonic() - started) * 1000),
                )
            )
        return outcome


class SubagentHooks:
    """The hooks as a sub-agent fires them: its task is no prompt of the user's, and its end no Stop."""

    def __init__(self, hooks: Firing) -> None:
        self._hooks = hooks

    async def fire(self, event: HookEvent) -> HookOutcome:
        """What the hooks of `event` decide."""
        return _NOTHING if isinstance(event, UserPromptSubmit | Stop) else await self._hooks.fire(event)


async def _decisions(hooks: Iterable[Hook], event: HookEvent, said: dict[str, Any]) -> list[HookOutcome]:
    """Run `hooks` beside each other; their decisions in order."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_decision(hook, event, said)) for hook in hooks]
    return [task.result() for task in tasks]


async def _decision(hook: Hook, event: HookEvent, said: dict[str, Any]) -> HookOutcome:
    try:
        return await hook.decide(event, said)
    except HookFailed as error:
        logger.warning("the hook %r of %s decided nothing: %s", hook.label, name_of(event), error)
    except Exception:  # hooks must never cost the session
        logger.exception("the hook %r of %s failed", hook.label, name_of(event))
    return _NOTHING
