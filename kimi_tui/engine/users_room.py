"""What the user does beside the conversation: their shell, the other sessions, files to keep or to bring."""

import asyncio
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import assert_never

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.message import Message
from kimi_tui.base.secrets import fit_to_share
from kimi_tui.engine.exporting import as_json, as_markdown, write_new
from kimi_tui.engine.ground import Ground
from kimi_tui.engine.importing import imported
from kimi_tui.engine.remarks import Remarks
from kimi_tui.engine.session_files import SessionFiles
from kimi_tui.engine.session_shelf import SessionShelf
from kimi_tui.engine.settings_desk import SettingsDesk
from kimi_tui.engine.setup import Setup
from kimi_tui.engine.slash_book import SlashCommand
from kimi_tui.engine.telling import Telling
from kimi_tui.engine.title import Title
from kimi_tui.engine.user_shell import UserShell
from kimi_tui.history.session import Session, SessionStore
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
        session: Session,
        store: SessionStore,
        shell: UserShell,
        shelf: SessionShelf,
        setup: Setup,
        settings: SettingsDesk,
        remarks: Remarks,
        telling: Telling,
        history: Callable[[], Sequence[Message]],
        model: Callable[[], str],
    ) -> None:
        self._session = session
        self._store = store
        self._shell = shell
        self._shelf = shelf
        self._setup = setup
        self._settings = settings
        self._remarks = remarks
        self._telling = telling
        self._history = history
        self._model = model
        self.commands = (
            SlashCommand("export", "Write the conversation to a file: /export [md|json] [PATH]", self.export),
            SlashCommand(
                "import", "Tell the model what a file or session holds: /import PATH|ID", self.bring
            ),
        )

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

    async def export(self, argument: str) -> None:
        """Write the conversation to a file of the work dir. Raises KimiTuiError."""
        first, _, rest = argument.partition(" ")
        kind, named = (first, rest.strip()) if first in ("md", "json") else ("", argument)
        if not kind:
            kind = "json" if named.endswith(".json") else "md"
        history = list(self._history())
        if not history:
            raise KimiTuiError("There is nothing to export yet.", hint="Say something first.")
        known = self._session
        path = Path(named).expanduser() if named else Path(_file_name(known.id, kind))
        path = path if path.is_absolute() else known.work_dir / path
        title = known.state.title
        if kind == "json":
            text = as_json(history, title=title, session_id=known.id, model=self._model())
        else:
            text = as_markdown(history, title=title, session_id=known.id)
        await asyncio.to_thread(write_new, path, fit_to_share(text))
        self._telling.notice("Exported", str(path), severity="info")

    async def bring(self, argument: str) -> None:
        """Let the model know what a file or another session holds. Raises KimiTuiError."""
        if not argument:
            raise KimiTuiError("/import needs to know what.", hint="Type /import PATH, or /import SESSION.")
        name, text = await asyncio.to_thread(
            imported, argument, work_dir=self._session.work_dir, store=self._store
        )
        self._remarks.add(f"The user imported {name} into the conversation:\n\n{text}")
        self._telling.notice(
            "Imported",
            f"{name}: {len(text):,} characters, which the model gets with your next prompt.",
            severity="info",
        )

    async def close(self) -> None:
        """End the user's shell."""
        await self._shell.close()


def _file_name(session_id: str, kind: str) -> str:
    return f"kimi-tui-{time.strftime('%Y%m%d-%H%M%S')}-{session_id[:8]}.{kind}"


def open_users_room(
    ground: Ground, *, telling: Telling, remarks: Remarks, files: SessionFiles, output_folder: OutputFolder
) -> UsersRoom:
    """The user's room in a session. Nothing runs yet."""
    session, options, models, context = ground.session, ground.options, ground.models, ground.context
    behaviour, send = ground.behaviour, ground.wire.send
    store = SessionStore(options.share_dir)
    return UsersRoom(
        session=session,
        store=store,
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
        remarks=remarks,
        telling=telling,
        history=lambda: context.history,
        model=lambda: behaviour.llm.name if behaviour.llm is not None else "",
    )


def _unsaid(_: str) -> None:
    """The model learns nothing of it."""
