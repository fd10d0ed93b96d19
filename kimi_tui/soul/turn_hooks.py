"""Hooks at the beginning and end of a turn, and around a compaction."""

from kimi_tui.base.content_parts import text_of
from kimi_tui.base.errors import HookBlocked
from kimi_tui.base.message import Message
from kimi_tui.base.message_text import msg
from kimi_tui.hooks.dispatcher import HookDispatcher
from kimi_tui.hooks.events import PostCompact, PreCompact, Stop, UserPromptSubmit

_HINT = "/hooks lists the hooks. They are configured under [[hooks]]."


class TurnHooks:
    """Fires the hook events of one agent's turns."""

    def __init__(self, hooks: HookDispatcher) -> None:
        self._hooks = hooks
        self._was_continued = False
        """Whether a hook has already continued this turn."""

    async def before_turn(self, request: Message) -> tuple[str, ...]:
        """Fire the event for a new prompt. Return the notes that hooks add to the prompt.

        Raises: HookBlocked.
        """
        self._was_continued = False
        outcome = await self._hooks.fire(UserPromptSubmit(prompt=text_of(request.content)))
        if outcome.blocked:
            raise HookBlocked(msg("A hook blocked the prompt: {reason}", reason=outcome.reason), hint=_HINT)
        return outcome.context

    async def before_stop(self) -> str:
        """Fire the event for the end of a turn. Return a note for the model if a hook continues the turn.

        A turn can be continued only once. Otherwise, return an empty string.
        """
        outcome = await self._hooks.fire(Stop(stop_hook_active=self._was_continued))
        if not outcome.blocked or self._was_continued:
            return ""
        self._was_continued = True
        return f"One of the user's hooks asks you to continue: {outcome.reason}"

    async def before_compaction(self, tokens: int, *, automatic: bool) -> None:
        """Fire the event before the compaction of a conversation with `tokens` tokens.

        Raises: HookBlocked.
        """
        outcome = await self._hooks.fire(
            PreCompact(trigger="auto" if automatic else "manual", token_count=tokens)
        )
        if outcome.blocked:
            raise HookBlocked(
                msg("A hook blocked the compaction: {reason}", reason=outcome.reason), hint=_HINT
            )

    async def after_compaction(self, tokens: int, *, automatic: bool) -> None:
        """Fire the event after a compaction. `tokens` is the estimated size of the compacted conversation."""
        event = PostCompact(trigger="auto" if automatic else "manual", estimated_token_count=tokens)
        await self._hooks.fire(event)
