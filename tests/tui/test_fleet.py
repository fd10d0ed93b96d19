"""Fleet dialog: the live table, and tasks that open as sessions."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pytest_textual_snapshot import SVGImageExtension

from kimi_tui.base.errors import UsageError
from kimi_tui.fleet.attempt import AttemptResult
from kimi_tui.fleet.fleet_database import FleetDatabase
from kimi_tui.fleet.fleet_task import FleetTask
from kimi_tui.frontend.fleet.opened_task import OpenedTask
from kimi_tui.i18n.translate import set_language
from kimi_tui.tui.dialogs.fleet import FleetDialog
from kimi_tui.tui.session_request import FleetVisit, SessionRequest
from kimi_tui.wire.events import TurnBegin
from tests.tui.conftest import SESSION, AppHarness
from tests.tui.test_sessions import SessionServer
from tests.tui.timeline.test_dialogs import click_text

NAMES = ("write", "edit", "check", "rename", "later")


class Opener:
    """Opens every task but one."""

    def open_task(self, database: Path, task_id: str) -> OpenedTask:
        if task_id == "later":
            raise UsageError("Task later has no result yet.", hint="Wait.")
        if task_id == "rename":
            return OpenedTask(session_id="r1", work_dir=Path("/run/work"), data_dir=Path("/run/data"))
        return OpenedTask(session_id=f"s-{task_id}", work_dir=Path("/restored"))


def create_fleet(path: Path) -> FleetDatabase:
    """Create a fleet with two passed tasks, a failed, a running and a pending one."""
    database = FleetDatabase(path, creates=True)
    database.add_tasks(
        [FleetTask(id=name, prompt=f"{name} the file \x1b[31m", check="make") for name in NAMES]
    )
    for name in NAMES[:3]:
        database.claim([name])
        line = {"cost_usd": 0.25, "usage": {"output": 100}, "steps": 2}
        failure: Any = "check failed" if name == "check" else ""
        problem = "2 tests \x1b[31mfailed" if failure else ""
        database.record_result(
            AttemptResult(
                task_id=name, number=1, failure=failure, problem=problem, result=line, node="n1",
                started_at=1000.0, duration_s=12.0,
            )
        )  # fmt: skip
    database.claim(["rename"])
    return database


@pytest.fixture
def database(tmp_path: Path) -> Any:
    (tmp_path / "shop").mkdir(exist_ok=True)
    with closing(create_fleet(tmp_path / "shop" / "demo.fleet.db")) as database:
        yield database


@pytest.fixture
def open_shop(open_app: Any, database: FleetDatabase) -> Any:
    """Opens the app in the fleet's directory, with a server of other sessions."""

    def open_with(server: SessionServer | None = None, **changes: Any) -> Any:
        session = replace(SESSION, work_dir=str(database.path.parent))
        return open_app(
            session=session, serve_session=server or SessionServer(), task_opener=Opener(), **changes
        )

    return open_with


async def open_fleet(harness: AppHarness, argument: str = "") -> FleetDialog:
    await harness.type_text(f"/fleet {argument}")
    await harness.driver.press("enter")
    await harness.wait_until(lambda: isinstance(harness.app.screen, FleetDialog))
    dialog = harness.app.screen
    assert isinstance(dialog, FleetDialog)
    await harness.wait_until(lambda: dialog.is_mounted and dialog.highlighted_task)
    await harness.driver.pause()
    return dialog


def rows(harness: AppHarness) -> list[str]:
    return [line.strip(" │") for line in harness.screen_text().split("\n") if "the file" in line]


async def test_the_table_shows_state_failure_time_cost_and_progress(open_shop: Any) -> None:
    async with open_shop(size=(80, 24)) as harness:
        dialog = await open_fleet(harness)
        assert dialog.highlighted_task is not None
        assert dialog.highlighted_task.id == "rename"  # the running one
        text = harness.unwrapped_text()
        assert "Fleet demo ▓▓▓▓▓▓▓▓▓▓▓▓░░░░░░░░" in text
        assert "3 of 5 done: 2 passed, 1 failed · 1 running, 1 pending" in text
        assert "Failures: check failed 1" in text
        table = [" ".join(row.split()) for row in rows(harness)[:5]]
        assert table[0] == "✔ write passed 12 s $0.25 write the file"
        assert table[2] == "✗ check check failed 12 s $0.25 check the file"
        assert table[3].startswith("⟳ rename running")
        assert table[4] == "· later pending later the file"
        await harness.driver.press("up")
        assert "2 tests failed" in harness.unwrapped_text()


@pytest.mark.parametrize(("size", "language"), [((80, 24), "en"), ((120, 40), "zh"), ((60, 16), "en")])
async def test_the_dialog_matches_its_snapshot(
    size: tuple[int, int], language: str, open_shop: Any, database: FleetDatabase, snapshot: Any
) -> None:
    with closing(sqlite3.connect(database.path)) as file:  # so that the running task has no time yet
        file.execute("UPDATE tasks SET claimed_at = claimed_at + 100000")
        file.commit()
    set_language(language)
    try:
        async with open_shop(size=size, work_dir=Path("/work/shop")) as harness:
            await open_fleet(harness)
            await harness.driver.press("up")
            assert snapshot.use_extension(SVGImageExtension) == harness.app.export_screenshot()
    finally:
        set_language("en")


async def test_the_table_follows_the_database_and_the_highlight_stays_on_its_task(
    open_shop: Any, database: FleetDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kimi_tui.tui.dialogs.fleet._POLL_S", 0.02)
    async with open_shop() as harness:
        dialog = await open_fleet(harness)
        await harness.driver.press("f")  # only running tasks
        assert [task.id for task in dialog._shown] == ["rename"]
        database.claim(["later"])
        await harness.wait_until(lambda: len(rows(harness)) >= 2)
        database.record_result(AttemptResult(task_id="rename", number=1, duration_s=3.0))
        await harness.wait_until(lambda: "4 of 5 done" in harness.screen_text())
        await harness.driver.press("f", "f")
        assert [task.id for task in dialog._shown] == ["write", "edit", "rename"]
        await harness.driver.press("end")
        assert dialog.highlighted_task is not None
        assert dialog.highlighted_task.id == "rename"


async def test_a_finished_task_opens_as_a_session_and_the_way_back_is_kept(
    open_shop: Any, database: FleetDatabase
) -> None:
    server = SessionServer()
    async with open_shop(server) as harness:
        await open_fleet(harness)
        await harness.driver.press("home", "enter")
        await harness.wait_until(lambda: server.requests)
        back = SessionRequest(session_id="s1", work_dir=database.path.parent)
        visit = FleetVisit(database=database.path, task_id="write", is_running=False, back=back)
        assert server.requests == [
            SessionRequest(session_id="s-write", work_dir=Path("/restored"), fleet_visit=visit)
        ]
        await harness.wait_until(lambda: harness.screen.state.session is not None)
        await open_fleet(harness)  # the same fleet, although the working directory has changed
        await harness.driver.press("r")
        await harness.wait_until(lambda: len(server.requests) == 2)
        assert server.requests[1] == back


async def test_a_running_task_opens_read_only_and_can_not_be_reloaded(open_shop: Any) -> None:
    server = SessionServer()
    async with open_shop(server) as harness:
        await open_fleet(harness)
        await harness.driver.press("enter")
        await harness.wait_until(lambda: server.requests)
        request = server.requests[0]
        assert (request.session_id, request.read_only, request.data_dir) == ("r1", True, Path("/run/data"))
        await harness.wait_until(lambda: harness.screen.state.session is not None)
        await harness.type_text("/reload")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: "open it again with /fleet" in harness.toast_text())
        assert len(server.requests) == 1


async def test_a_click_on_the_highlighted_row_opens_it_and_a_problem_is_shown(open_shop: Any) -> None:
    server = SessionServer()
    async with open_shop(server) as harness:
        dialog = await open_fleet(harness)
        await click_text(harness, "· later")
        assert dialog.highlighted_task is not None
        assert (dialog.highlighted_task.id, server.requests) == ("later", [])
        await click_text(harness, "· later")
        await harness.wait_until(lambda: "Task later has no result yet. Wait." in harness.toast_text())
        await click_text(harness, "✔ write")
        await click_text(harness, "open as a session")
        await harness.wait_until(lambda: server.requests)


async def test_a_task_does_not_open_while_a_turn_runs(open_shop: Any) -> None:
    server = SessionServer()
    async with open_shop(server) as harness:
        await harness.send(TurnBegin("go"))
        await open_fleet(harness)
        await harness.driver.press("enter")
        await harness.wait_until(lambda: "A turn is running" in harness.toast_text())
        assert not server.requests


async def test_the_fleet_is_chosen_if_there_are_several(open_shop: Any, database: FleetDatabase) -> None:
    with closing(create_fleet(database.path.with_name("other.fleet.db"))):
        async with open_shop() as harness:
            await harness.type_text("/fleet")
            await harness.driver.press("enter")
            await harness.wait_until(lambda: "other.fleet.db" in harness.screen_text())
            await harness.type_text("demo")
            await harness.driver.press("enter")
            await harness.wait_until(lambda: "Fleet demo" in harness.screen_text())


@pytest.mark.parametrize(
    ("argument", "problem"), [("missing.jsonl", "No fleet found"), ("broken.db", "Can't read the fleet")]
)
async def test_a_fleet_that_can_not_be_read_is_reported(
    argument: str, problem: str, open_shop: Any, database: FleetDatabase
) -> None:
    database.path.with_name("broken.db").write_text("not a database, but a text that is long enough" * 99)
    async with open_shop() as harness:
        await harness.type_text(f"/fleet {argument}")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: problem in harness.toast_text())
        assert not isinstance(harness.app.screen, FleetDialog)


async def test_the_dialog_is_usable_on_a_small_screen(open_shop: Any) -> None:
    async with open_shop(size=(60, 16)) as harness:
        dialog = await open_fleet(harness)
        assert "⟳ rename" in harness.screen_text()
        assert "esc close" in harness.screen_text()
        await harness.driver.press("escape")
        await harness.wait_until(lambda: harness.app.screen is not dialog)
