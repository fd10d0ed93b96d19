"""What the user edits while a command runs in a workspace survives its commit, in any order."""

import asyncio
import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import HealthCheck, example, given, note, settings
from hypothesis import strategies as st

from kimi_tui.history.snapshots.attribution import ChangeAuthor
from kimi_tui.workspaces.open_record import WorkspaceOwner
from kimi_tui.workspaces.workspaces import Workspaces
from tests.workspaces.stepped_command import SteppedCommand

ORDERS = int(os.environ.get("KIMI_TUI_EDIT_ORDERS", "40"))
"""How many random orders of edits and steps; `make faults` draws 5,000."""
OWNER = WorkspaceOwner(author=ChangeAuthor(who="call", session="s", call="c", command="steps"))
PATHS = ("a", "b", "d/a", "d/b", "d/e/f", "x")
FOLDERS = ("d", "d/e", "n")
FILES = (*PATHS, "n/new")

AGENT_STEPS = {
    "write": "mkdir -p $(dirname {path}); printf '{line}\\n' > {path}",
    "append": "printf '{line}\\n' >> {path}",
    "save": "printf '{line}\\n' > {path}.t && mv -fT {path}.t {path} || rm -f {path}.t",
    "edit": "sed -i '1d' {path}",
    "mode": "chmod 600 {path}",
    "read": "cat {path}",
    "delete": "rm -f {path}",
    "rename": "mv -fT {path} {other}",
    "list": "ls {folder}",
    "remove folder": "rm -rf {folder}",
    "replace folder": "rm -rf {folder}; mkdir -p {folder}",
    "folder to file": "rm -rf {folder}; printf '{line}\\n' > {folder}",
    "rename folder": "mv -T {folder} m",
}
USER_EDITS = ("append", "prepend", "save", "create", "delete", "remove folder")

Phase = Literal["running", "ended", "planned"]


@dataclass(frozen=True)
class Step:
    """A step of the command, or an edit of the user's."""

    who: Literal["agent", "user"]
    action: str
    path: str
    other: str = "x"
    folder: str = "d"


@dataclass(frozen=True)
class Order:
    """Steps while the command runs, and edits between its end, the plan and the commit."""

    running: list[Step]
    ended: list[Step]
    planned: list[Step]


def _steps(who: Literal["agent", "user"], actions: tuple[str, ...]) -> st.SearchStrategy[Step]:
    return st.builds(
        Step,
        who=st.just(who),
        action=st.sampled_from(actions),
        path=st.sampled_from(FILES),
        other=st.sampled_from(FILES),
        folder=st.sampled_from(FOLDERS),
    )


_AGENT = _steps("agent", tuple(AGENT_STEPS))
_USER = _steps("user", USER_EDITS)
ORDER = st.builds(
    Order,
    running=st.lists(st.one_of(_AGENT, _USER), min_size=1, max_size=8),
    ended=st.lists(_USER, max_size=1),
    planned=st.lists(_USER, max_size=1),
)


@pytest.fixture(scope="module")
def runner() -> Iterator[asyncio.Runner]:
    """Return an event loop for all examples."""
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="module")
def session(runner: asyncio.Runner, tmp_path_factory: pytest.TempPathFactory) -> Iterator["EditedSession"]:
    """Return a session with a private backend."""
    folder = tmp_path_factory.mktemp("session")
    session = EditedSession(folder)
    status = runner.run(session.workspaces.status(folder))
    if status.backend == "none":
        pytest.skip(f"No workspaces here: {status.problem}")
    yield session
    runner.run(session.workspaces.close())


@settings(
    max_examples=ORDERS,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    deadline=None,
)
@example(
    order=Order(
        running=[Step("agent", "rename folder", "a"), Step("user", "save", "d/b")],
        ended=[],
        planned=[Step("user", "append", "d/a")],
    )
)
@given(order=ORDER)
def test_no_edit_is_lost_in_any_order(order: Order, runner: asyncio.Runner, session: "EditedSession") -> None:
    runner.run(session.check(order))


class EditedSession:
    """A work dir that a command and the user change at the same time, and an oracle with its own copies."""

    def __init__(self, folder: Path) -> None:
        self.workspaces = Workspaces(folder / "data")
        self._folder = folder
        self._work = folder / "work"
        self._user = folder / "user"
        """What the user's edits alone would have made of the files."""
        self._view = folder / "view"
        """Copy of what the command saw at its end."""
        self._edited: set[str] = set()
        """Files that the user changed, also those that they restored afterwards."""
        self._counter = 0

    async def check(self, order: Order) -> None:
        """Run one order, and compare the outcome with the copies."""
        self._start_over()
        before = _files(self._work)
        async with self.workspaces.open(self._work, owner=OWNER) as workspace:
            command = SteppedCommand(self._folder, workspace, self._work)
            try:
                await command.start()
                for step in order.running:
                    if step.who == "agent":
                        await command.step(self._script(step))
                    else:
                        self._edit(step)
                await command.step(f"cp -a . {self._view}")
                await command.end()
            finally:
                await command.close()
            assert not await workspace.finish()
            for step in order.ended:
                self._edit(step)
            plan = await workspace.plan()
            for step in order.planned:
                self._edit(step)
            result = await workspace.commit(plan)
        left = {str(Path(it.effect.path).relative_to(self._work)): it.conflict for it in plan.conflicts}
        left |= {str(Path(path).relative_to(self._work)): why for path, why in result.failed.items()}
        note(f"not committed: {left}")
        self._compare(before, left)

    def _compare(self, before: dict[str, str], left: dict[str, str]) -> None:
        user, view, now = _files(self._user), _files(self._view), _files(self._work)
        for path in before.keys() | user.keys() | view.keys() | now.keys():
            old, edited, seen, is_now = (files.get(path) for files in (before, user, view, now))
            lost = _lines_of("yours", edited) - _lines_of("yours", is_now)
            if lost and _is_left(path, left):  # the file went along with a folder that the agent renamed
                lost -= _lines_of("yours", "".join(now.values()))
            assert not lost, f"{path}: lost {lost}, now {is_now!r}"
            went_along = _is_left(path, left) and is_now in user.values()
            assert is_now in (edited, seen) or went_along, f"{path}: {is_now!r} is not {edited!r} or {seen!r}"
            is_kept_source = bool(left) and seen is None and is_now == old  # its new name is in conflict
            if path not in self._edited and not _is_left(path, left) and not is_kept_source:
                assert is_now == seen, f"{path}: {is_now!r} instead of {seen!r}, without a conflict"
            if _lines_of("agent", seen) - _lines_of("agent", is_now):
                assert _is_left(path, left), f"{path}: {seen!r} was dropped without a conflict"

    def _start_over(self) -> None:
        self._edited.clear()
        for folder in (self._work, self._user, self._view):
            shutil.rmtree(folder, ignore_errors=True)
        for folder in (self._work, self._user):
            for path in PATHS:
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_text(f"first of {path}\nsecond of {path}\n")
                os.utime(folder / path, (1_700_000_000, 1_700_000_000))

    def _script(self, step: Step) -> str:
        self._counter += 1
        script = AGENT_STEPS[step.action].format(
            path=step.path, other=step.other, folder=step.folder, line=f"agent {self._counter}"
        )
        return f"{{ {script}; }} > /dev/null 2>&1 < /dev/null"

    def _edit(self, step: Step) -> None:
        self._counter += 1
        before = _files(self._user)
        for root in (self._work, self._user):
            with suppress(OSError):
                _apply(root, step, f"yours {self._counter}\n")
        self._edited |= {path for path, _ in before.items() ^ _files(self._user).items()}


def _apply(root: Path, step: Step, line: str) -> None:
    """Make an edit as the user. Raises OSError if the files don't allow it."""
    file = root / step.path
    match step.action:
        case "append":
            if file.exists():
                with file.open("a") as opened:
                    opened.write(line)
        case "prepend":
            file.write_text(line + file.read_text())
        case "save":
            temporary = file.with_name(f"{file.name}~")
            temporary.write_text(line + (file.read_text() if file.exists() else ""))
            temporary.replace(file)
        case "create":
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(line)
        case "delete":
            file.unlink()
        case "remove folder":
            shutil.rmtree(root / step.folder)
        case _:
            raise ValueError(step.action)


def _files(root: Path) -> dict[str, str]:
    return {str(it.relative_to(root)): it.read_text() for it in root.rglob("*") if it.is_file()}


def _lines_of(author: str, text: str | None) -> set[str]:
    return {line for line in (text or "").splitlines() if line.startswith(author)}


def _is_left(path: str, left: dict[str, str]) -> bool:
    """Return whether a conflict covers `path`: at itself, in a folder above, or below."""
    return any(path == it or path.startswith(f"{it}/") or it.startswith(f"{path}/") for it in left)
