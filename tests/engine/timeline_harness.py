"""Harness for timeline tests: a working directory, a session with its timeline, an agent and a user."""

from pathlib import Path

from kimi_tui.base.content_parts import TextPart
from kimi_tui.base.message import FunctionCall, Message, ToolCall, user_message
from kimi_tui.config.settings import CheckpointSettings as CheckpointSettings
from kimi_tui.engine.session.todos import SessionTodos
from kimi_tui.engine.timeline.service import TimelineService
from kimi_tui.history.context import Context
from kimi_tui.history.filesystem import LOCAL_FILE_SYSTEM, FileSystem
from kimi_tui.history.records import Checkpoint
from kimi_tui.history.session import Session
from kimi_tui.history.snapshots.file_history import FileHistory
from kimi_tui.history.snapshots.project_store import ProjectStore
from kimi_tui.history.snapshots.work_filesystem import LOCAL_WORK_FILE_SYSTEM, WorkFileSystem
from kimi_tui.tools.change_tracker import PendingChange
from kimi_tui.tools.path_scope import PathScope
from kimi_tui.wire.commands import Redo, Revert, SwitchBranch, Undo
from kimi_tui.wire.event_sender import EventList
from kimi_tui.wire.timeline import CheckpointKind
from kimi_tui.workspaces.workspaces import Workspaces


class TimelineHarness:
    """A session in `folder`. After a simulated crash, a new harness opens the same folder."""

    def __init__(
        self,
        folder: Path,
        *,
        fs: FileSystem = LOCAL_FILE_SYSTEM,
        work_fs: WorkFileSystem = LOCAL_WORK_FILE_SYSTEM,
        workspaces: Workspaces | None = None,
    ) -> None:
        self._workspaces = workspaces
        self.folder = folder
        self.work = folder / "work"
        self.work.mkdir(exist_ok=True)
        self.events = EventList()
        self.session = Session(folder / "data" / "sessions" / "key" / "s1", self.work, fs=fs)
        self.context = Context(self.session.context_file, fs=fs)
        self._store = ProjectStore(folder / "data", self.work, "s1", fs=fs)
        self._work_fs = work_fs
        self.timeline: TimelineService
        self._calls = 0

    async def open(self) -> None:
        await self.context.restore()
        self.timeline = TimelineService(
            session=self.session,
            context=self.context,
            workspace=PathScope(self.work),
            data_dir=self.folder / "data",
            settings=CheckpointSettings(),
            todos=SessionTodos(self.session, self.context, self.events),
            sender=self.events,
            history_factory=self,
            workspaces=self._workspaces,
        )
        await self.timeline.recover()
        await self.timeline.files.capture_initial()

    def build(self) -> FileHistory:
        """Implement HistoryFactory."""
        return FileHistory(self._store, work_fs=self._work_fs)

    async def close(self) -> None:
        await self.timeline.close()
        if self._workspaces is not None:
            await self._workspaces.close()
        await self.context.close()

    def kill(self) -> None:
        """Simulate a killed process: nothing is saved, and the system releases the locks."""
        self._store.close()

    async def checkpoint(self, kind: CheckpointKind, label: str) -> Checkpoint:
        """Create a checkpoint as the soul does, and capture its file state."""
        files = self.timeline.files.at_checkpoint(fresh=True)
        checkpoint = await self.context.checkpoint(False, kind=kind, label=label, files=files.state)
        self.timeline.files.request_state(checkpoint.id)
        await self.timeline.files.capture_now()
        return checkpoint

    async def turn(self, edits: dict[str, str | None]) -> list[int]:
        """Run a turn whose tool call writes or deletes files. Return the ids of its checkpoints."""
        prompt = f"turn {self._calls}"
        first = await self.checkpoint("user", prompt)
        await self.context.append_message(user_message(prompt))
        second = await self.checkpoint("step", "step 1")
        self._calls += 1
        call = ToolCall(f"c{self._calls}", FunctionCall("Bash", '{"command": "edit"}'))
        async with self.timeline.files.tracking(call, PendingChange(None, "edit")):
            for name, text in edits.items():
                self.edit(name, text)
        result = Message("tool", (TextPart("done"),), tool_call_id=call.id)
        await self.context.append_step([Message("assistant", (), (call,)), result], token_count=None)
        return [first.id, second.id]

    def edit(self, name: str, text: str | None) -> None:
        """Write a file, or delete it if `text` is None."""
        path = self.work / name
        if text is None:
            path.unlink(missing_ok=True)
        else:
            path.write_text(text)

    async def handle(self, command: Revert | Undo | Redo | SwitchBranch) -> None:
        reverts = self.timeline.reverts
        match command:
            case Revert():
                await reverts.revert(command)
            case Undo():
                await reverts.undo(command)
            case Redo():
                await reverts.redo(command)
            case SwitchBranch():
                await reverts.switch_branch(command)

    def files(self) -> dict[str, str]:
        """Return the text of each file by name."""
        return {path.name: path.read_text() for path in sorted(self.work.iterdir())}
