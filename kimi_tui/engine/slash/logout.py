"""The slash command /logout."""

import asyncio
from pathlib import Path

from kimi_tui.base.message_text import msg
from kimi_tui.config.credentials import Credentials
from kimi_tui.engine.session.publisher import SessionPublisher
from kimi_tui.engine.slash.registry import SlashCommand


def logout_command(data_dir: Path, publisher: SessionPublisher) -> SlashCommand:
    """Return the command that removes a stored API key."""

    async def run(provider: str) -> None:
        """Raises UsageError, ConfigError."""
        credentials = Credentials(data_dir)
        names = await asyncio.to_thread(credentials.choose_stored, provider or None)
        if not names:
            publisher.send_notice("No API keys stored.", "", severity="info")
        for name in names:
            await asyncio.to_thread(credentials.delete, name)
            publisher.send_notice(
                msg("API key for {name} removed.", name=name),
                "Open sessions use the key until they end.",
                severity="info",
            )

    return SlashCommand("logout", "Remove a stored API key: /logout [PROVIDER]", run, argument="[provider]")
