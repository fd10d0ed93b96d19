"""The commands that set the program up: connecting a model, and the settings."""

from kimi_tui.language.saying import later
from kimi_tui.tui.commands.registry import Host, SlashCommand

KEY_TAKING = "login"
"""The command that people may type a key behind, though it is asked for in a field of its own."""


async def _login(host: Host, _: str) -> None:
    await host.connect_model()


async def _settings(host: Host, _: str) -> None:
    await host.change_settings()


SETUP_COMMANDS = (
    SlashCommand(
        name=KEY_TAKING,
        summary=later("Connect a model: a provider's key, or a server of this machine"),
        run=_login,
        aliases=("setup", "connect"),
    ),
    SlashCommand(
        name="settings",
        summary=later("Look at the settings and change them"),
        run=_settings,
        aliases=("config",),
        binding_id="app.settings",
    ),
)
