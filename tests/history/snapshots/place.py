"""A work dir with a store beside it, where an agent and a user change files."""

from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path

from kimi_tui.history.disk import LOCAL_DISK, Disk
from kimi_tui.history.snapshots.blobs import PIECE
from kimi_tui.history.snapshots.caps import DEFAULT_CAPS, Caps
from kimi_tui.history.snapshots.file_history import FileHistory
from kimi_tui.history.snapshots.owner import Owner
from kimi_tui.history.snapshots.plan import Plan
from kimi_tui.history.snapshots.store import ProjectStore
from kimi_tui.history.snapshots.work_disk import LOCAL_WORK_DISK, WorkDisk


class Place:
    """One session's file history in `folder/work`."""

    def __init__(
        self,
        folder: Path,
        *,
        session: str = "one",
        caps: Caps = DEFAULT_CAPS,
        piece: int = PIECE,
        disk: Disk = LOCAL_DISK,
        work_disk: WorkDisk = LOCAL_WORK_DISK,
    ) -> None:
        self.work = folder / "work"
        self.work.mkdir(exist_ok=True)
        self.store = ProjectStore(folder / "share", self.work, session, disk=disk, piece=piece)
        self.history = FileHistory(self.store, caps=caps, work_disk=work_disk)

    def call(self, command: str = "") -> Owner:
        return Owner(who="call", session=self.history.session, call="c", tool="Bash", command=command)

    @contextmanager
    def agent(self, command: str = ""):
        """What is done in the block, a tool call does."""
        self.history.capture()
        yield self.work
        self.history.capture(self.call(command))

    def checkpoint(self) -> str:
        return self.history.capture().manifest

    def revert(self, to: str, *, also: Callable[[Plan], set[str]] = lambda _: set()) -> dict[str, str]:
        """Carry out what the plan to `to` suggests, and `also`; the actions of the plan."""
        plan = self.history.plan(to)
        ticked = {item.path for item in plan.items if item.is_ticked} | also(plan)
        outcome, _ = self.history.execute(plan, ticked)
        assert not outcome.failed
        return {item.path: item.action for item in plan.items}

    def files(self) -> dict[str, str]:
        """The texts of all files."""
        found = sorted(self.work.rglob("*"))
        return {str(path.relative_to(self.work)): path.read_text() for path in found if path.is_file()}
