"""The slash command /hooks."""

from kimi_tui.engine.session_hooks import SessionHooks
from kimi_tui.engine.slash_book import SlashCommand
from kimi_tui.engine.telling import Telling

_NONE = "There are none. A config file names them under [[hooks]], each with an event and a command."


def hooks_command(hooks: SessionHooks, telling: Telling) -> SlashCommand:
    """Lists the hooks that are in force."""

    async def run(_: str) -> None:
        telling.notice("Hooks", hooks.listed or _NONE, severity="info")

    return SlashCommand("hooks", "List the hooks, the commands that run at moments of a session", run)
