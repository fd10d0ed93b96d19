"""The slash command /cost."""

from kimi_tui.engine.slash.registry import SlashCommand
from kimi_tui.soul.usage_totals import UsageTotals
from kimi_tui.wire.event_sender import EventSender
from kimi_tui.wire.usage import UsageReport


def cost_command(totals: UsageTotals, sender: EventSender) -> SlashCommand:
    """Return the command that shows tokens and cost by model."""

    async def run(_: str) -> None:
        sender.send(UsageReport(totals.models, totals.usage, totals.cost_usd))

    return SlashCommand("cost", "Show token usage and cost by model", run, aliases=("usage", "status"))
