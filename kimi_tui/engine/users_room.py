"""What the user does beside the conversation: their shell, the other sessions, files to keep or to bring."""

from typing import assert_never

from kimi_tui.engine.ground import Ground
from kimi_tui.engine.luggage import Luggage
from kimi_tui.engine.remarks import Remarks
from kimi_tui.engine.session_files import SessionFiles
from kimi_tui.engine.session_shelf import SessionShelf
from kimi_tui.engine.settings_desk import SettingsDesk
from kimi_tui.engine.setup import Setup
from kimi_tui.engine.slash_book import SlashCommand
from kimi_tui.engine.telling import Telling
from kimi_tui.engine.title import Title
from kimi_tui.engine.user_shell import UserShell
from kimi_tui.history.session import SessionStore
from kimi_tui.tools.shell.output import OutputFolder
from kimi_tui.wire.commands import (
    DeleteSession,
    ListSessions,
    PersonalCommand,
    PreviewSession,
    RenameSession,
    RunShell,
    StopShell,
)
from kimi_tui.wire.settings import ChangeSetting, ListSettings
from kimi_tui.wire.setup import ConnectModel, LookForModels


class UsersRoom:
    """Carries out what concerns the user alone; none of it waits for a turn."""

    def __init__(
        self,
        *,
        shell: UserShell,
        shelf: SessionShelf,
        setup: Setup,
        settings: SettingsDesk,
        commands: tuple[SlashCommand, ...],
    ) -> None:
        """`commands` are those that concern the user alone."""
        self._shell = shell
        self._shelf = shelf
        self._setup = setup
        self._settings = settings
        self.commands = commands

    async def follow(self, command: PersonalCommand) -> None:
        """Carry out `command`. Raises KimiTuiError."""
        match command:
            case RunShell():
                await self._shell.run(command)
            case StopShell():
                self._shell.stop()
            case ListSessions(text=text):
                await self._shelf.tell(text)
            case PreviewSession(id=session_id):
                await self._shelf.preview(session_id)
            case RenameSession(id=session_id, title=title):
                await self._shelf.rename(session_id, title)
            case DeleteSession(id=session_id):
                await self._shelf.delete(session_id)
            case LookForModels() | ConnectModel():
                await self._setup.follow(command)
            case ListSettings() | ChangeSetting():
                await self._settings.follow(command)
            case _:
                assert_never(command)

    async def close(self) -> None:
        """End the user's shell."""
        await self._shell.close()


def open_users_room(
    ground: Ground, *, telling: Telling, remarks: Remarks, files: SessionFiles, output_folder: OutputFolder
) -> UsersRoom:
    """The user's room in a session. Nothing runs yet."""
    session, options, models, context = ground.session, ground.options, ground.models, ground.context
    behaviour, send = ground.behaviour, ground.wire.send
    store = SessionStore(options.share_dir)
    return UsersRoom(
        shell=UserShell(
            work_dir=session.work_dir,
            output_folder=output_folder,
            send=send,
            theirs=files.users_command,
            remark=remarks.add if options.settings.shell.tell_model else _unsaid,
        ),
        shelf=SessionShelf(store=store, session=session, title=Title(session), send=send, info=telling.info),
        setup=Setup(options=options, models=models, send=send, command=ground.wire.command),
        settings=SettingsDesk(options=options, models=models, send=send),
        commands=Luggage(
            session=session,
            store=store,
            remarks=remarks,
            telling=telling,
            history=lambda: context.history,
            model=lambda: behaviour.llm.name if behaviour.llm is not None else "",
        ).commands,
    )


def _unsaid(_: str) -> None:
    """The model learns nothing of it."""
