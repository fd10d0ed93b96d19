"""The slash command /hooks."""

from kimi_tui.engine.session.hooks import SessionHooks
from kimi_tui.engine.session.publisher import SessionPublisher
from kimi_tui.engine.slash.registry import SlashCommand

_NO_HOOKS = "No hooks configured. Add [[hooks]] tables with an event and a command to a config file."


def hooks_command(hooks: SessionHooks, publisher: SessionPublisher) -> SlashCommand:
    """Return the command that lists the active hooks."""

    async def run(_: str) -> None:
        publisher.send_notice("Hooks", hooks.summary or _NO_HOOKS, severity="info")

    return SlashCommand("hooks", "List hooks", run)
