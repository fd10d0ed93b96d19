"""One hook: a command of the config's, or a subscription of the client's."""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Protocol

from kimi_tui.base.child_environment import Environment, whole_environment
from kimi_tui.base.hook_events import HookEventName
from kimi_tui.base.identity import new_id
from kimi_tui.base.value import value
from kimi_tui.hooks.events import HookEvent, name_of, shown_target, takes_plain_text, targets_of
from kimi_tui.hooks.outcome import HookOutcome, read_outcome
from kimi_tui.hooks.process import HookFailed, run_command
from kimi_tui.wire.channel import WireClosed
from kimi_tui.wire.requests import Answer, HookRequest, HookResponse, Request

LONGEST_STDERR = 500


@value
class Watched:
    """The events that a hook wants to hear of."""

    event: HookEventName
    matcher: str = ""
    """A regular expression that is searched for in what the event is about; empty for all."""

    def __str__(self) -> str:
        return f"{self.event} ({self.matcher})" if self.matcher else self.event

    def means(self, event: HookEvent) -> bool:
        """Whether `event` is one of them. An expression that is none matches nothing."""
        if name_of(event) != self.event:
            return False
        targets = targets_of(event)
        if not self.matcher or targets is None:
            return True
        try:
            return any(re.search(self.matcher, target) for target in targets)
        except re.error:
            return False


class Hook(Protocol):
    """Something that is told of events and may say no."""

    @property
    def watched(self) -> Watched:
        """The events that it is told of."""
        ...

    @property
    def label(self) -> str:
        """What the log and lists call it. Hooks of one label and event run once."""
        ...

    async def decide(self, event: HookEvent, told: dict[str, Any]) -> HookOutcome:
        """Tell it. Raises HookFailed."""
        ...


@value
class CommandHook:
    """A command of the user's."""

    watched: Watched
    command: str
    timeout_s: float
    work_dir: Path
    environment: Environment = whole_environment

    @property
    def label(self) -> str:
        """The command."""
        return self.command

    async def decide(self, event: HookEvent, told: dict[str, Any]) -> HookOutcome:
        """Run the command. Raises HookFailed."""
        text = json.dumps(told, ensure_ascii=False, default=str)
        ended = await run_command(
            self.command,
            text,
            work_dir=self.work_dir,
            timeout_s=self.timeout_s,
            environment=self.environment,
        )
        plain_text = takes_plain_text(event)
        outcome = read_outcome(ended.status, ended.output, ended.errors, plain_text=plain_text)
        if outcome is None:
            raise HookFailed(f"it ended with {ended.status}: {ended.errors.strip()[:LONGEST_STDERR]}")
        return outcome


@value
class ClientHook:
    """A subscription of the client's: it is asked over the Wire."""

    watched: Watched
    subscription_id: str
    timeout_s: float
    ask: Callable[[Request], Awaitable[Answer]]

    @property
    def label(self) -> str:
        """The client's own id."""
        return f"client hook {self.subscription_id}"

    async def decide(self, event: HookEvent, told: dict[str, Any]) -> HookOutcome:
        """Ask the client. Raises HookFailed."""
        request = HookRequest(new_id(), self.subscription_id, name_of(event), shown_target(event), told)
        try:
            async with asyncio.timeout(self.timeout_s):
                answer = await self.ask(request)
        except TimeoutError as error:
            raise HookFailed(f"the client gave no answer within {self.timeout_s:g} s") from error
        except WireClosed as error:
            raise HookFailed("the client has gone") from error
        if not isinstance(answer, HookResponse):
            raise HookFailed("the client gave another kind of answer")
        blocked = answer.action == "block"
        return HookOutcome(blocked, (answer.reason or "The client gave no reason.") if blocked else "")
