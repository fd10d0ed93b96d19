"""Opens the dialogs of commands on the screen. Each is imported when it is opened, to start faster."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from kimi_tui.i18n.translate import tr
from kimi_tui.tui.chosen_message import ChosenMessage, MessageSearchText
from kimi_tui.tui.commands.command_host import CommandHost
from kimi_tui.tui.commands.registry import CommandRegistry
from kimi_tui.tui.conversation_pane import ConversationPane
from kimi_tui.tui.dialogs.models import ModelChoice, ModelPicker
from kimi_tui.tui.dialogs.pager import Pager
from kimi_tui.tui.dialogs.state_dialog import StateSource
from kimi_tui.tui.keys.keymap import KeyLabels
from kimi_tui.tui.options import TuiOptions
from kimi_tui.tui.screen.session_screen import SessionScreen
from kimi_tui.tui.session_request import SessionRequest
from kimi_tui.tui.themes import theme_names
from kimi_tui.tui.widgets.choice_list import Choice
from kimi_tui.wire.session import SessionInfo


class ScreenDialogs:
    """Implements `CommandDialogs` for a screen."""

    def __init__(
        self,
        screen: SessionScreen,
        *,
        host: CommandHost,
        registry: CommandRegistry,
        options: TuiOptions,
        key_labels: KeyLabels,
    ) -> None:
        self._screen = screen
        self._host = host
        self._registry = registry
        self._options = options
        self._key_labels = key_labels

    @property
    def _source(self) -> StateSource:
        return StateSource(owner=self._screen, host=self._host, key_labels=self._key_labels)

    async def choose(self, title: str, choices: Sequence[Choice], *, hint: str = "") -> str | None:
        """Let the user choose; return None if they cancel."""
        from kimi_tui.tui.dialogs.picker import Picker

        return await self._screen.app.push_screen_wait(
            Picker(title, choices, key_labels=self._key_labels, hint=hint)
        )

    async def choose_model(self, session: SessionInfo) -> ModelChoice | None:
        """Let the user choose a model and its thinking level; return None if they cancel."""
        return await self._screen.app.push_screen_wait(ModelPicker(session, key_labels=self._key_labels))

    async def choose_theme(self) -> str | None:
        """Let the user choose a theme with a preview; return None if they cancel."""
        from kimi_tui.tui.dialogs.themes import ThemePicker

        picker = ThemePicker(
            theme_names(self._options.data_dir),
            self._host.theme_name,
            data_dir=self._options.data_dir,
            key_labels=self._key_labels,
            background=self._options.background,
        )
        return await self._screen.app.push_screen_wait(picker)

    async def choose_command(self) -> str | None:
        """Let the user choose a command; return None if they cancel."""
        from kimi_tui.tui.dialogs.command_palette import CommandPalette

        palette = CommandPalette(self._registry, key_labels=self._key_labels)
        return await self._screen.app.push_screen_wait(palette)

    def show_help(self, content: Literal["all", "keys"], query: str = "") -> None:
        """Open the help, with `query` in its search."""
        from kimi_tui.tui.dialogs.help import Help

        self._screen.app.push_screen(
            Help(
                content=content,
                query=query,
                commands=self._registry.all,
                key_labels=self._key_labels,
                version=self._options.version,
            )
        )

    def show_mcp(self) -> None:
        """Open the list of MCP servers."""
        from kimi_tui.tui.dialogs.mcp import McpDialog

        self._screen.app.push_screen(McpDialog(**self._source))

    def show_tasks(self) -> None:
        """Open the list of background tasks."""
        from kimi_tui.tui.dialogs.tasks import TasksDialog

        self._screen.app.push_screen(TasksDialog(**self._source))

    def show_permissions(self, *, only_unconfirmed: bool = False) -> None:
        """Open the list of permissions, or only the grants that need confirmation."""
        from kimi_tui.tui.dialogs.permissions import PermissionsDialog

        dialog = PermissionsDialog(only_unconfirmed=only_unconfirmed, **self._source)
        self._screen.app.push_screen(dialog)

    def search_conversation(self, text: str) -> None:
        """Search `text` in the conversation. If `text` is empty, let the user type it."""
        self._screen.call_later(self._screen.query_one(ConversationPane).open_search, text)

    def show_text(self, title: str, text: str) -> None:
        """Open a text in the pager."""
        self._screen.app.push_screen(
            Pager(title=title, text=text, copier=self._host, key_labels=self._key_labels)
        )

    async def connect_model(self, service: str) -> None:
        """Let the user connect a model. With `service`, open the form of that service."""
        from kimi_tui.tui.dialogs.model_setup import ModelSetupDialog

        if message := await self._screen.app.push_screen_wait(
            ModelSetupDialog(service=service, **self._source)
        ):
            self._host.notify(message)

    async def open_settings(self) -> None:
        """Let the user view and change settings."""
        from kimi_tui.tui.commands.settings import open_settings

        await open_settings(
            self._host, screen=self._screen, key_labels=self._key_labels, options=self._options
        )

    async def choose_session(self, *, at_start: bool = False) -> SessionRequest | ChosenMessage | None:
        """Let the user choose a session, or a message in the search that the dialog opens.

        Return None if they cancel. `at_start`: the app has just opened.
        """
        from kimi_tui.tui.dialogs.sessions import SessionsDialog

        while True:
            chosen = await self._screen.app.push_screen_wait(
                SessionsDialog(wall_clock=self._options.wall_clock, at_start=at_start, **self._source)
            )
            if not isinstance(chosen, MessageSearchText):
                return chosen
            if (message := await self.choose_message(chosen.text)) is not None:
                return message

    async def choose_message(self, text: str) -> ChosenMessage | None:
        """Let the user search the messages of all sessions and choose one; return None if they cancel."""
        from kimi_tui.tui.dialogs.message_search import MessageSearchDialog

        return await self._screen.app.push_screen_wait(
            MessageSearchDialog(text, wall_clock=self._options.wall_clock, **self._source)
        )

    async def choose_running_session(self) -> SessionRequest | None:
        """Show the open sessions of this user; return a request for the one that the user opens, or None."""
        from kimi_tui.tui.dialogs.running_sessions import RunningSessionsDialog

        service = self._options.running_sessions
        if service is None:
            self._host.notify(tr("Can't open another session here."), severity="warning")
            return None
        return await self._screen.app.push_screen_wait(RunningSessionsDialog(service, **self._source))

    async def choose_fleet_task(self, database: Path) -> SessionRequest | None:
        """Show a fleet; return a request for the session of the task that the user opens, or None."""
        from kimi_tui.tui.dialogs.fleet import FleetDialog

        opener = self._options.task_opener
        if opener is None:
            self._host.notify(tr("Can't open another session here."), severity="warning")
            return None
        return await self._screen.app.push_screen_wait(FleetDialog(database, opener=opener, **self._source))

    async def choose_agent(self, name: str) -> SessionRequest | None:
        """Let the user choose an agent. Highlight the agent `name` if it exists."""
        from kimi_tui.tui.dialogs.agents import AgentsDialog

        agent = await self._screen.app.push_screen_wait(AgentsDialog(initial_agent=name, **self._source))
        return SessionRequest(agent=agent) if agent is not None else None
