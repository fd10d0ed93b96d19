"""Setup commands: connect a model and open the settings."""

from kimi_tui.config.compatible_services import COMPATIBLE_SERVICES
from kimi_tui.config.environment import KNOWN_PROVIDERS
from kimi_tui.frontend.parsed_command import LOGIN_NAMES
from kimi_tui.frontend.session_state import SessionViewState
from kimi_tui.i18n.translate import tr_lazy
from kimi_tui.tui.commands.command_host import CommandHost
from kimi_tui.tui.commands.ui_command import UiCommand

_SERVICES = tuple(it.name for it in (*KNOWN_PROVIDERS, *COMPATIBLE_SERVICES))


async def _login(host: CommandHost, service: str) -> None:
    # Text other than a service's name may be an API key. It isn't shown, and the dialog lists all services.
    await host.dialogs.connect_model(service)


def _service_names(_: SessionViewState) -> tuple[str, ...]:
    return _SERVICES


async def _settings(host: CommandHost, _: str) -> None:
    await host.dialogs.open_settings()


SETUP_COMMANDS = (
    UiCommand(
        name=LOGIN_NAMES[0],
        summary=tr_lazy("Connect a model with an API key or a local server"),
        run=_login,
        aliases=LOGIN_NAMES[1:],
        argument="[SERVICE]",
        choices=_service_names,
    ),
    UiCommand(
        name="settings",
        summary=tr_lazy("View and change settings"),
        run=_settings,
        aliases=("config",),
        binding_id="app.settings",
    ),
)
