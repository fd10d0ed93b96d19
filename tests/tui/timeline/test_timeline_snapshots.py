"""Snapshots of the timeline pane and its dialogs."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kimi_tui.tui.app import KimiTuiApp
from kimi_tui.tui.options import TuiOptions
from kimi_tui.tui.review.review_screen import ReviewScreen
from kimi_tui.tui.screen.main_screen import MainScreen
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.commands import Compare, PlanRevert, ShowTimeline
from kimi_tui.wire.events import StatusUpdate
from kimi_tui.wire.review import ListComments, ReadPlannedFile, ReviewChanges
from kimi_tui.wire.timeline import RevertPlan, Timeline
from tests.tui.app_driver import AppDriver
from tests.tui.conftest import SESSION, FakeClipboard, FakeClock
from tests.tui.test_snapshots import STATUS, Act, CompareSnapshot, press_key, wait_until_settled
from tests.tui.timeline.sample_hunks import HUNKS_PLAN
from tests.tui.timeline.sample_review import COMMENTS, REVIEW, content
from tests.tui.timeline.sample_timeline import (
    CHECKED_TIMELINE,
    COMPARISON,
    MESSAGES,
    NOW,
    PLAN,
    RENAMES_PLAN,
    TIMELINE,
)


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Set the time zone to UTC."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def timeline_app(
    data_dir: Path,
    keys: tuple[str, ...],
    theme: str,
    plan: RevertPlan = PLAN,
    timeline: Timeline = TIMELINE,
) -> tuple[KimiTuiApp, Act]:
    """Return an app whose engine sends the sample timeline, and a function that presses the keys."""
    wire = Wire()

    async def engine() -> None:
        for message in (
            SESSION,
            StatusUpdate(context_tokens=0, max_context_tokens=200_000),
            *MESSAGES,
            *STATUS,
        ):
            wire.send(message)
        async for command in wire.commands():
            match command:
                case ShowTimeline():
                    wire.send(timeline)
                case PlanRevert():
                    wire.send(plan)
                case Compare():
                    wire.send(COMPARISON)
                case ReviewChanges():
                    wire.send(REVIEW)
                case ReadPlannedFile(path=path):
                    wire.send(content(path))
                case ListComments():
                    wire.send(COMMENTS)
                case _:
                    pass

    app = KimiTuiApp(
        wire=wire,
        start=engine,
        options=TuiOptions(
            work_dir=Path("/work/shop"),
            data_dir=data_dir,
            theme=theme,
            reduced_motion=True,
            version="1.0",
            clipboard=FakeClipboard(),
            clock=FakeClock(),
            wall_clock=lambda: NOW,
            letter_pause_s=0,
        ),
    )

    async def act(_: Any) -> None:
        pilot = AppDriver(app)
        screen = app.screen_stack[0]
        assert isinstance(screen, MainScreen)
        while screen.state.session is None:
            await pilot.pause()
        await wait_until_settled(pilot, wire)
        screen.controllers.session_view.transcript.flush()
        for key in keys:
            await press_key(pilot, wire, key)
            await wait_for_review(pilot, is_opening=key == "r")
        await wait_until_settled(pilot, wire)

    return app, act


async def wait_for_review(pilot: AppDriver, *, is_opening: bool) -> None:
    """Wait until a review is open if it `is_opening`, and until an open one shows its file."""
    while is_opening and not isinstance(pilot.app.screen, ReviewScreen):
        await pilot.pause(0.005)
    while isinstance(screen := pilot.app.screen, ReviewScreen) and screen.is_loading:
        await pilot.pause(0.005)


@pytest.fixture
def compare_timeline(snap_compare: Any, tmp_path: Path) -> CompareSnapshot:
    """Return a function that compares the app with the snapshot."""

    def compare(
        *keys: str,
        size: tuple[int, int] = (120, 40),
        theme: str = "dark",
        plan: RevertPlan = PLAN,
        timeline: Timeline = TIMELINE,
    ) -> bool:
        app, act = timeline_app(tmp_path, keys, theme, plan, timeline)
        return bool(snap_compare(app, terminal_size=size, run_before=act))

    return compare


SIZES = pytest.mark.parametrize(
    ("size", "theme"),
    [((80, 24), "light"), ((120, 40), "dark")],
    ids=lambda value: f"{value[0]}x{value[1]}" if isinstance(value, tuple) else value,
)


@SIZES
def test_the_pane(compare_timeline: CompareSnapshot, size: tuple[int, int], theme: str) -> None:
    assert compare_timeline("f3", "down", "down", "down", "down", size=size, theme=theme)


@SIZES
def test_the_ribbon_of_checks(compare_timeline: CompareSnapshot, size: tuple[int, int], theme: str) -> None:
    keys = ("f3", "down", "right", "down", "down")
    assert compare_timeline(*keys, size=size, theme=theme, timeline=CHECKED_TIMELINE)


def test_the_pane_on_a_small_terminal(compare_timeline: CompareSnapshot) -> None:
    assert compare_timeline("f3", "down", size=(60, 16))


def test_an_open_branch(compare_timeline: CompareSnapshot) -> None:
    assert compare_timeline("f3", "end", "up", "right", "down", "right", "down", theme="light")


@SIZES
def test_the_plan(compare_timeline: CompareSnapshot, size: tuple[int, int], theme: str) -> None:
    assert compare_timeline(
        "f3", "down", "down", "down", "enter", "down", "down", "down", "down", size=size, theme=theme
    )


@SIZES
def test_the_hunks_of_a_file(compare_timeline: CompareSnapshot, size: tuple[int, int], theme: str) -> None:
    assert compare_timeline(
        "f3", "down", "enter", "end", "right", "down", "space", size=size, theme=theme, plan=HUNKS_PLAN
    )


@SIZES
def test_the_choices_for_a_conflict(
    compare_timeline: CompareSnapshot, size: tuple[int, int], theme: str
) -> None:
    assert compare_timeline("f3", "down", "enter", "down", "2", size=size, theme=theme, plan=HUNKS_PLAN)


@SIZES
def test_the_renames_of_a_plan(compare_timeline: CompareSnapshot, size: tuple[int, int], theme: str) -> None:
    assert compare_timeline("f3", "down", "enter", "down", size=size, theme=theme, plan=RENAMES_PLAN)


def test_the_plan_of_a_dmail_on_a_small_terminal(compare_timeline: CompareSnapshot) -> None:
    assert compare_timeline("f3", "end", "m", *"again", size=(60, 16))


def test_a_comparison(compare_timeline: CompareSnapshot) -> None:
    assert compare_timeline("f3", "end", "space", "down", size=(100, 30), theme="high-contrast")


@pytest.mark.parametrize(
    ("size", "theme"),
    [((60, 16), "dark"), ((80, 24), "light"), ((120, 40), "dark"), ((160, 45), "dark")],
    ids=lambda value: f"{value[0]}x{value[1]}" if isinstance(value, tuple) else value,
)
def test_the_review(compare_timeline: CompareSnapshot, size: tuple[int, int], theme: str) -> None:
    assert compare_timeline("f3", "end", "r", "down", "down", "down", size=size, theme=theme)


def test_a_comment_and_a_marked_hunk_of_the_review(compare_timeline: CompareSnapshot) -> None:
    assert compare_timeline(
        "f3", "end", "r", "n", "x", "up", "c", *"Why this level?", size=(120, 35), theme="high-contrast"
    )
