"""The hooks of a turn: what becomes of their word at its begin, its end and a compaction."""

from kimi_tui.base.content import text_of
from kimi_tui.base.errors import HookBlocked
from kimi_tui.base.message import Message
from kimi_tui.hooks.events import PostCompact, PreCompact, Stop, UserPromptSubmit
from kimi_tui.hooks.hooks import Firing

_HINT = "/hooks lists the hooks; your config has them under [[hooks]]."


class TurnHooks:
    """Fires what happens in the turns of one agent."""

    def __init__(self, hooks: Firing) -> None:
        self._hooks = hooks
        self._went_on = False
        """Whether a hook has made this turn go on."""

    async def prompt(self, request: Message) -> tuple[str, ...]:
        """A turn begins with `request`: what hooks add to it. Raises HookBlocked."""
        self._went_on = False
        outcome = await self._hooks.fire(UserPromptSubmit(prompt=text_of(request.content)))
        if outcome.blocked:
            raise HookBlocked(f"A hook keeps this from the model: {outcome.reason}", hint=_HINT)
        return outcome.context

    async def stop(self) -> str:
        """The turn is about to end: why it should go on nevertheless, which it does once; else empty."""
        outcome = await self._hooks.fire(Stop(stop_hook_active=self._went_on))
        if not outcome.blocked or self._went_on:
            return ""
        self._went_on = True
        return f"A hook of the user's wants you to go on: {outcome.reason}"

    async def before_compaction(self, tokens: int, *, by_itself: bool) -> None:
        """The conversation of `tokens` is about to be compacted. Raises HookBlocked."""
        outcome = await self._hooks.fire(
            PreCompact(trigger="auto" if by_itself else "manual", token_count=tokens)
        )
        if outcome.blocked:
            raise HookBlocked(
                f"A hook keeps the conversation from being compacted: {outcome.reason}", hint=_HINT
            )

    async def after_compaction(self, tokens: int, *, by_itself: bool) -> None:
        """It was compacted, to `tokens`."""
        trigger = PostCompact(trigger="auto" if by_itself else "manual", estimated_token_count=tokens)
        await self._hooks.fire(trigger)
