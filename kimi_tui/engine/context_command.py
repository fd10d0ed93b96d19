"""The slash command /context."""

from collections.abc import Callable

from kimi_tui.compaction.trigger import Trigger
from kimi_tui.engine.slash_book import SlashCommand
from kimi_tui.history.context import Context
from kimi_tui.soul.agent import Agent
from kimi_tui.soul.behaviour import Behaviour
from kimi_tui.soul.window import window_parts
from kimi_tui.wire.events import Event
from kimi_tui.wire.window import WindowFilling


def context_command(
    *,
    agent: Agent,
    context: Context,
    behaviour: Behaviour,
    trigger: Trigger,
    send: Callable[[Event], None],
) -> SlashCommand:
    """Tells what fills the model's window."""

    async def run(_: str) -> None:
        measured = context.token_count_with_pending if context.token_count else 0
        parts = window_parts(agent, context.history, measured)
        llm = behaviour.llm
        send(
            WindowFilling(
                parts,
                tokens=measured or sum(part.tokens for part in parts),
                max_tokens=llm.max_context_size if llm is not None else None,
                compacts_at=trigger.threshold(llm.max_context_size) if llm is not None else None,
                is_measured=measured > 0,
            )
        )

    return SlashCommand("context", "What fills the model's window, and how much is free", run)
