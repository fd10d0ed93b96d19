"""The slash command /context."""

from kimi_tui.compaction.trigger import CompactionTrigger
from kimi_tui.engine.slash.registry import SlashCommand
from kimi_tui.history.context import Context
from kimi_tui.soul.agent import Agent
from kimi_tui.soul.context_usage import context_breakdown
from kimi_tui.soul.runtime_settings import RuntimeSettings
from kimi_tui.wire.context_usage import WindowFilling
from kimi_tui.wire.event_sender import EventSender


def context_command(
    *,
    agent: Agent,
    context: Context,
    runtime_settings: RuntimeSettings,
    trigger: CompactionTrigger,
    sender: EventSender,
) -> SlashCommand:
    """Return the command that shows the use of the context window by part."""

    async def run(_: str) -> None:
        token_count = context.token_count_with_pending if context.token_count else 0
        parts = context_breakdown(agent, context.history, token_count)
        llm = runtime_settings.llm
        sender.send(
            WindowFilling(
                parts,
                tokens=token_count or sum(part.tokens for part in parts),
                max_tokens=llm.max_context_size if llm is not None else None,
                compacts_at=trigger.threshold(llm) if llm is not None else None,
                is_measured=token_count > 0,
            )
        )

    return SlashCommand("context", "Show what uses the context window", run)
