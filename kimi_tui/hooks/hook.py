"""A hook: a command from the config, or a client's subscription."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any, Protocol

from kimi_tui.base.child_environment import ChildEnvironment
from kimi_tui.base.frozen import frozen
from kimi_tui.base.hook_events import HookEventName
from kimi_tui.base.ids import new_id
from kimi_tui.hooks.command_runner import HookError, run_command
from kimi_tui.hooks.decision import HookDecision, parse_decision
from kimi_tui.hooks.events import HookEvent, accepts_plain_text, display_target, matcher_targets, name_of
from kimi_tui.wire.channel import Wire, WireClosed
from kimi_tui.wire.requests import HookRequest, HookResponse

MAX_STDERR_CHARS = 500


@frozen
class HookFilter:
    """Selects the events that a hook runs on."""

    event: HookEventName
    matcher: str = ""
    """Regular expression searched in the event's targets; empty matches all events."""

    def __str__(self) -> str:
        return f"{self.event} ({self.matcher})" if self.matcher else self.event

    def matches(self, event: HookEvent) -> bool:
        """Return whether `event` is selected. An invalid expression matches nothing."""
        if name_of(event) != self.event:
            return False
        targets = matcher_targets(event)
        if not self.matcher or targets is None:
            return True
        try:
            return any(re.search(self.matcher, target) for target in targets)
        except re.error:
            return False


class Hook(Protocol):
    """Receives events and may block them."""

    @property
    def event_filter(self) -> HookFilter:
        """Events it runs on."""
        ...

    @property
    def label(self) -> str:
        """Name in logs and lists. Hooks with the same label run once per event."""
        ...

    async def decide(self, event: HookEvent, payload: dict[str, Any]) -> HookDecision:
        """Run the hook and return its decision. Raises HookError."""
        ...


@frozen
class CommandHook:
    """A command from the config."""

    event_filter: HookFilter
    command: str
    timeout_s: float
    work_dir: Path
    environment: ChildEnvironment = ChildEnvironment()

    @property
    def label(self) -> str:
        """The command."""
        return self.command

    async def decide(self, event: HookEvent, payload: dict[str, Any]) -> HookDecision:
        """Run the command and return its decision. Raises HookError."""
        text = json.dumps(payload, ensure_ascii=False, default=str)
        command_exit = await run_command(
            self.command,
            text,
            work_dir=self.work_dir,
            timeout_s=self.timeout_s,
            environment=self.environment,
        )
        plain_text = accepts_plain_text(event)
        decision = parse_decision(
            command_exit.status, command_exit.output, command_exit.errors, plain_text=plain_text
        )
        if decision is None:
            errors = command_exit.errors.strip()[:MAX_STDERR_CHARS]
            raise HookError(f"exited with status {command_exit.status}: {errors}")
        return decision


@frozen
class ClientHook:
    """A client's subscription, called over the Wire."""

    event_filter: HookFilter
    subscription_id: str
    timeout_s: float
    wire: Wire

    @property
    def label(self) -> str:
        """The client's id for the subscription."""
        return f"client hook {self.subscription_id}"

    async def decide(self, event: HookEvent, payload: dict[str, Any]) -> HookDecision:
        """Send the client a request and return its decision. Raises HookError."""
        request = HookRequest(new_id(), self.subscription_id, name_of(event), display_target(event), payload)
        try:
            async with asyncio.timeout(self.timeout_s):
                answer = await self.wire.ask(request)
        except TimeoutError as error:
            raise HookError(f"the client didn't respond within {self.timeout_s:g} s") from error
        except WireClosed as error:
            raise HookError("the client disconnected") from error
        if not isinstance(answer, HookResponse):
            raise HookError("the client sent an unexpected response")
        blocked = answer.action == "block"
        return HookDecision(blocked, (answer.reason or "The client gave no reason.") if blocked else "")
