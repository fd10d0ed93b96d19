"""The time machine: all of one session that has to do with its timeline, put together and kept going."""

import asyncio
import logging
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.config.settings import Checkpoints
from kimi_tui.engine.coverage import covered_dirs, left_out_dirs, shown_path
from kimi_tui.engine.file_looks import FileLooks
from kimi_tui.engine.interrupted_jump import settle_jump
from kimi_tui.engine.session_files import SessionFiles
from kimi_tui.engine.time_travel import TimeTravel
from kimi_tui.engine.timeline import TimelineTeller
from kimi_tui.engine.todos import SessionTodos
from kimi_tui.engine.travels import Travels
from kimi_tui.history.context import Context
from kimi_tui.history.session import Session, SessionStore
from kimi_tui.history.snapshots.caps import MB, Caps
from kimi_tui.history.snapshots.manifest import is_manifest
from kimi_tui.tools.workspace import Workspace
from kimi_tui.wire.events import Event

if TYPE_CHECKING:
    from kimi_tui.history.snapshots.execution import Outcome
    from kimi_tui.history.snapshots.file_history import FileHistory

logger = logging.getLogger(__name__)

Severity = Literal["info", "warning", "error"]


class Listener(Protocol):
    """Whom the time machine tells of what it does by itself."""

    def notice(self, title: str, body: str, *, severity: Severity) -> None:
        """Something that the user should know."""
        ...

    async def past(self, *, anew: bool = False) -> None:
        """What stands on the live line, in place of what was told before."""
        ...


class TimeMachine:
    """The timeline of one session whose conversation has been restored."""

    def __init__(
        self,
        *,
        session: Session,
        context: Context,
        workspace: Workspace,
        share_dir: Path,
        settings: Checkpoints,
        todos: SessionTodos,
        send: Callable[[Event], None],
        make_history: "Callable[[], FileHistory] | None" = None,
    ) -> None:
        self._session = session
        self._context = context
        self._todos = todos
        self._caps = caps_of(settings)
        earlier = [known.files for known in context.checkpoints]
        looks = FileLooks(
            make_history or (lambda: _history(share_dir, session, workspace, self._caps)),
            earlier=[files for files in earlier if files is not None and is_manifest(files)],
            send=send,
        )
        self.files = SessionFiles(looks, workspace=workspace, enabled=settings.files, note=context.note_files)
        self._teller = TimelineTeller(
            session=session, context=context, files=self.files.since_checkpoint, send=send
        )
        self._listener: Listener | None = None
        self.travels = Travels(
            session=session,
            store=SessionStore(share_dir),
            context=context,
            files=self.files,
            teller=self._teller,
            time_travel=TimeTravel(
                session=session,
                context=context,
                files=self.files,
                todos=todos,
                send=send,
                retell=self._retell,
            ),
            todos=todos,
            send=send,
        )

    def listen(self, listener: Listener) -> None:
        """Tell `listener` from now on."""
        self._listener = listener

    async def settle(self) -> None:
        """Complete or drop a jump that a crash cut off; before anything else is said or done."""
        try:
            done = await settle_jump(self._session, self._context, self.files, self._todos)
        except KimiTuiError as error:
            self._tell("A jump that was interrupted can't be completed", str(error), "error")
        else:
            if done:
                self._tell(done, "", "warning")

    async def run(self) -> None:
        """Look at the files, then keep checkpoints and front ends up to date, until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._teller.run())
            completed = await self.files.start()
            if completed is not None:
                self._tell_of(completed)
            group.create_task(self.files.watch())

    async def close(self) -> None:
        """Keep what is known of the files for the next session."""
        await self.files.close()

    async def _retell(self) -> None:
        if self._listener is not None:
            await self._listener.past(anew=True)

    def _tell_of(self, completed: "Outcome") -> None:
        self._tell("A revert that had been interrupted was completed", _told(completed), "warning")

    def _tell(self, title: str, body: str, severity: Severity) -> None:
        if self._listener is not None:
            self._listener.notice(title, body, severity=severity)


def _told(completed: "Outcome") -> str:
    count = len(completed.done)
    done = "1 file is as it wanted it." if count == 1 else f"{count} files are as it wanted them."
    failed = "; ".join(f"{shown_path(path)}: {why}" for path, why in completed.failed)
    return f"{done} Left as they are: {failed}." if failed else done


def caps_of(settings: Checkpoints) -> Caps:
    """What the config allows the file history to take."""
    return Caps(
        file=settings.max_file_mb * MB,
        total=settings.max_total_mb * MB,
        files=settings.max_files,
        first_look_s=settings.max_first_look_s,
        look_s=settings.max_look_s,
        exclude=tuple(settings.exclude),
        age_days=settings.max_age_days,
    )


def _history(share_dir: Path, session: Session, workspace: Workspace, caps: Caps) -> "FileHistory":
    from kimi_tui.history.snapshots.file_history import FileHistory
    from kimi_tui.history.snapshots.store import ProjectStore

    store = ProjectStore(share_dir, session.work_dir, session.id)
    store.collect_when_due(caps)
    caps = replace(caps, own=os.path.realpath(share_dir))
    return FileHistory(store, caps=caps, added=covered_dirs(workspace), left_out=left_out_dirs(workspace))
