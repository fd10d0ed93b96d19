"""Setup commands: connect a model and open the settings."""

from kimi_tui.i18n.translate import tr_lazy
from kimi_tui.tui.commands.command_host import CommandHost
from kimi_tui.tui.commands.registry import UiCommand

LOGIN_COMMAND = "login"
"""The command after which users may type an API key, although it is entered in its own field."""


async def _login(host: CommandHost, _: str) -> None:
    await host.connect_model()


async def _settings(host: CommandHost, _: str) -> None:
    await host.open_settings()


SETUP_COMMANDS = (
    UiCommand(
        name=LOGIN_COMMAND,
        summary=tr_lazy("Connect a model with an API key or a local server"),
        run=_login,
        aliases=("setup", "connect"),
    ),
    UiCommand(
        name="settings",
        summary=tr_lazy("View and change settings"),
        run=_settings,
        aliases=("config",),
        binding_id="app.settings",
    ),
)
