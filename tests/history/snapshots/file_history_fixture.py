"""Working directory with a snapshot store, in which an agent and a user change files."""

import time
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from kimi_tui.history.filesystem import LOCAL_FILE_SYSTEM, FileSystem
from kimi_tui.history.snapshots.attribution import ChangeAuthor
from kimi_tui.history.snapshots.blob_store import PIECE
from kimi_tui.history.snapshots.file_history import FileHistory
from kimi_tui.history.snapshots.limits import DEFAULT_LIMITS, SnapshotLimits
from kimi_tui.history.snapshots.plan import Plan
from kimi_tui.history.snapshots.project_store import ProjectStore
from kimi_tui.history.snapshots.work_filesystem import LOCAL_WORK_FILE_SYSTEM, WorkFileSystem


class FileHistoryFixture:
    """The file history of one session in `folder/work`."""

    def __init__(
        self,
        folder: Path,
        *,
        session: str = "one",
        limits: SnapshotLimits = DEFAULT_LIMITS,
        piece: int = PIECE,
        fs: FileSystem = LOCAL_FILE_SYSTEM,
        work_fs: WorkFileSystem = LOCAL_WORK_FILE_SYSTEM,
    ) -> None:
        self.work = folder / "work"
        self.work.mkdir(exist_ok=True)
        self.store = ProjectStore(folder / "share", self.work, session, fs=fs, piece=piece)
        self.history = FileHistory(self.store, limits=limits, work_fs=work_fs)

    def call(self, command: str = "") -> ChangeAuthor:
        return ChangeAuthor(who="call", session=self.history.session, call="c", tool="Bash", command=command)

    @contextmanager
    def agent(self, command: str = ""):
        """Attribute the changes made in the block to a tool call."""
        self.history.capture()
        yield self.work
        self.history.capture(self.call(command))

    @contextmanager
    def running(self, command: str):
        """Run a command whose changes a scan finds afterwards, so that others may have made them."""
        began = time.time()
        self.history.capture()
        author = replace(self.call(command), began=began)
        file = self.history.begin_call(author)
        yield self.work
        self.history.capture(author)
        file.unlink()

    def checkpoint(self) -> str:
        return self.history.capture().manifest

    def revert(self, to: str, *, also: Callable[[Plan], set[str]] = lambda _: set()) -> dict[str, str]:
        """Execute the plan's default items and those that `also` returns. Return the actions of the plan."""
        plan = self.history.plan(to)
        selected = {item.path for item in plan.items if item.is_selected} | also(plan)
        result, _ = self.history.execute(plan, selected)
        assert not result.failed
        return {item.path: item.action for item in plan.items}

    def files(self) -> dict[str, str]:
        """Return the texts of all files."""
        paths = sorted(self.work.rglob("*"))
        return {str(path.relative_to(self.work)): path.read_text() for path in paths if path.is_file()}
