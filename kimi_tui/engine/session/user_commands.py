"""Commands of the user that don't involve the model: shell, sessions, models, settings, export and import."""

from typing import assert_never

from kimi_tui.engine.build.core import SessionCore
from kimi_tui.engine.files.session_files import SessionFiles
from kimi_tui.engine.models.model_setup import ModelSetup
from kimi_tui.engine.session.browser import SessionBrowser
from kimi_tui.engine.session.pending_notes import PendingNotes
from kimi_tui.engine.session.publisher import SessionPublisher
from kimi_tui.engine.session.settings_service import SettingsService
from kimi_tui.engine.session.title import SessionTitle
from kimi_tui.engine.session.user_shell import UserShell
from kimi_tui.engine.slash.registry import SlashCommand
from kimi_tui.engine.transfer.commands import ExportImportCommands
from kimi_tui.history.session import SessionStore
from kimi_tui.tools.shell.captured_output import OutputFolder
from kimi_tui.wire.commands import (
    DeleteSession,
    ListSessions,
    PreviewSession,
    RenameSession,
    RunShell,
    StopShell,
    UserCommand,
)
from kimi_tui.wire.model_setup import ConnectModel, FindModels
from kimi_tui.wire.settings import ChangeSetting, ListSettings


class UserCommandHandler:
    """Handles commands that don't involve the model and don't wait for turns."""

    def __init__(
        self,
        *,
        shell: UserShell,
        session_browser: SessionBrowser,
        model_setup: ModelSetup,
        settings_service: SettingsService,
        commands: tuple[SlashCommand, ...],
    ) -> None:
        """`commands` are slash commands that don't involve the model."""
        self._shell = shell
        self._session_browser = session_browser
        self._model_setup = model_setup
        self._settings_service = settings_service
        self.commands = commands

    async def handle(self, command: UserCommand) -> None:
        """Handle `command`. Raises KimiTuiError."""
        match command:
            case RunShell():
                await self._shell.run(command)
            case StopShell():
                self._shell.stop()
            case ListSessions(text=text):
                await self._session_browser.send_list(text)
            case PreviewSession(id=session_id):
                await self._session_browser.preview(session_id)
            case RenameSession(id=session_id, title=title):
                await self._session_browser.rename(session_id, title)
            case DeleteSession(id=session_id):
                await self._session_browser.delete(session_id)
            case FindModels() | ConnectModel():
                await self._model_setup.handle(command)
            case ListSettings() | ChangeSetting():
                await self._settings_service.handle(command)
            case _:
                assert_never(command)

    async def close(self) -> None:
        """Close the user's shell."""
        await self._shell.close()


def build_user_commands(
    core: SessionCore,
    *,
    publisher: SessionPublisher,
    pending_notes: PendingNotes,
    files: SessionFiles,
    output_folder: OutputFolder,
) -> UserCommandHandler:
    """Return the handler of a session's user commands. Starts nothing."""
    session, options, models, context = core.session, core.options, core.models, core.context
    runtime_settings, sender = core.runtime_settings, core.wire
    store = SessionStore(options.data_dir)
    return UserCommandHandler(
        shell=UserShell(
            work_dir=session.work_dir,
            output_folder=output_folder,
            sender=sender,
            track_changes=files.tracking_user_command,
            add_note=pending_notes.add if options.settings.shell.tell_model else _discard_note,
        ),
        session_browser=SessionBrowser(
            store=store,
            session=session,
            title=SessionTitle(session),
            sender=sender,
            send_info=publisher.send_info,
        ),
        model_setup=ModelSetup(options=options, models=models, sender=sender, send_command=core.wire.command),
        settings_service=SettingsService(options=options, models=models, sender=sender),
        commands=ExportImportCommands(
            session=session,
            store=store,
            pending_notes=pending_notes,
            publisher=publisher,
            history=lambda: context.history,
            model=lambda: runtime_settings.llm.name if runtime_settings.llm is not None else "",
        ).commands,
    )


def _discard_note(_: str) -> None:
    """Discard a note, so that the model doesn't get it."""
