"""A small world for travelling in time: a work dir, a session with its timeline, an agent and a user."""

from pathlib import Path

from kimi_tui.base.content import TextPart
from kimi_tui.base.message import FunctionCall, Message, ToolCall, user_message
from kimi_tui.config.settings import Checkpoints as CheckpointSettings
from kimi_tui.engine.time_machine import TimeMachine
from kimi_tui.engine.todos import SessionTodos
from kimi_tui.history.context import Context
from kimi_tui.history.disk import LOCAL_DISK, Disk
from kimi_tui.history.records import Checkpoint
from kimi_tui.history.session import Session
from kimi_tui.history.snapshots.file_history import FileHistory
from kimi_tui.history.snapshots.store import ProjectStore
from kimi_tui.history.snapshots.work_disk import LOCAL_WORK_DISK, WorkDisk
from kimi_tui.tools.step_calls import Change
from kimi_tui.tools.workspace import Workspace
from kimi_tui.wire.commands import TravelCommand
from kimi_tui.wire.events import Event
from kimi_tui.wire.timeline import CheckpointKind


class World:
    """Opened anew after each crash."""

    def __init__(
        self, folder: Path, *, disk: Disk = LOCAL_DISK, work_disk: WorkDisk = LOCAL_WORK_DISK
    ) -> None:
        self.folder = folder
        self.work = folder / "work"
        self.work.mkdir(exist_ok=True)
        self.heard: list[Event] = []
        self.session = Session(folder / "share" / "sessions" / "key" / "s1", self.work, disk=disk)
        self.context = Context(self.session.context_file, disk=disk)
        self._store = ProjectStore(folder / "share", self.work, "s1", disk=disk)
        self._work_disk = work_disk
        self.machine: TimeMachine
        self._calls = 0

    async def open(self) -> None:
        await self.context.restore()
        self.machine = TimeMachine(
            session=self.session,
            context=self.context,
            workspace=Workspace(self.work),
            share_dir=self.folder / "share",
            settings=CheckpointSettings(),
            todos=SessionTodos(self.session, self.context, self.heard.append),
            send=self.heard.append,
            make_history=lambda: FileHistory(self._store, work_disk=self._work_disk),
        )
        await self.machine.settle()
        await self.machine.files.start()

    async def close(self) -> None:
        await self.machine.close()
        await self.context.close()

    def vanish(self) -> None:
        """End as a killed process does: nothing is saved, the system lets go of the locks."""
        self._store.close()

    async def checkpoint(self, kind: CheckpointKind, label: str) -> Checkpoint:
        """Make one as the soul does, and find its files' state out."""
        files = self.machine.files.at_checkpoint(afresh=True)
        checkpoint = await self.context.checkpoint(False, kind=kind, label=label, files=files.state)
        self.machine.files.find_out(checkpoint.id)
        await self.machine.files.now()
        return checkpoint

    async def turn(self, edits: dict[str, str | None]) -> list[int]:
        """A turn in which the agent's tool writes files, or deletes them; its checkpoints."""
        said = f"turn {self._calls}"
        first = await self.checkpoint("user", said)
        await self.context.append_message(user_message(said))
        second = await self.checkpoint("step", "step 1")
        self._calls += 1
        call = ToolCall(f"c{self._calls}", FunctionCall("Bash", '{"command": "edit"}'))
        async with self.machine.files.around(call, Change(None, "edit")):
            for name, text in edits.items():
                self.edit(name, text)
        result = Message("tool", (TextPart("done"),), tool_call_id=call.id)
        await self.context.append_step([Message("assistant", (), (call,)), result], token_count=None)
        return [first.id, second.id]

    def edit(self, name: str, text: str | None) -> None:
        """Write a file, or delete it."""
        path = self.work / name
        if text is None:
            path.unlink(missing_ok=True)
        else:
            path.write_text(text)

    async def travel(self, command: TravelCommand) -> None:
        await self.machine.travels.do(command)

    def files(self) -> dict[str, str]:
        """The texts of all files."""
        return {path.name: path.read_text() for path in sorted(self.work.iterdir())}
