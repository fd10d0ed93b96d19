"""How the timeline and its dialogs look, in pictures that were looked at before they were committed."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kimi_tui.tui.app import KimiTuiApp
from kimi_tui.tui.options import ThemeChoice, TuiOptions
from kimi_tui.tui.screen import MainScreen
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.commands import Compare, PlanRevert, ShowTimeline
from kimi_tui.wire.events import StatusUpdate
from tests.tui.conftest import SESSION, FakeClipboard, FakeClock
from tests.tui.hand import Hand
from tests.tui.test_looks import STATUS, Act, Looks, pressed, settled
from tests.tui.timeline.story import COMPARISON, NOW, PLAN, TALK, TIMELINE


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Clock times are those of Greenwich."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def timeline_app(share_dir: Path, keys: tuple[str, ...], theme: ThemeChoice) -> tuple[KimiTuiApp, Act]:
    """An app whose engine knows a timeline, and what brings it to where its picture is taken."""
    wire = Wire()

    async def engine() -> None:
        for message in (SESSION, StatusUpdate(context_tokens=0, max_context_tokens=200_000), *TALK, *STATUS):
            wire.send(message)
        async for command in wire.commands():
            match command:
                case ShowTimeline():
                    wire.send(TIMELINE)
                case PlanRevert():
                    wire.send(PLAN)
                case Compare():
                    wire.send(COMPARISON)
                case _:
                    pass

    app = KimiTuiApp(
        wire=wire,
        start=engine,
        options=TuiOptions(
            work_dir=Path("/work/shop"),
            share_dir=share_dir,
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
        pilot = Hand(app)
        screen = app.screen_stack[0]
        assert isinstance(screen, MainScreen)
        while screen.state.session is None:
            await pilot.pause()
        await settled(pilot, wire)
        screen.furnished.workbench.transcript.flush()
        for key in keys:
            await pressed(pilot, wire, key)
        await settled(pilot, wire)

    return app, act


@pytest.fixture
def timeline_looks(snap_compare: Any, tmp_path: Path) -> Looks:
    """Compares with the picture that was accepted."""

    def compare(*keys: str, size: tuple[int, int] = (120, 40), theme: ThemeChoice = "dark") -> bool:
        app, act = timeline_app(tmp_path, keys, theme)
        return bool(snap_compare(app, terminal_size=size, run_before=act))

    return compare


SIZES = pytest.mark.parametrize(
    ("size", "theme"),
    [((80, 24), "light"), ((120, 40), "dark")],
    ids=lambda value: f"{value[0]}x{value[1]}" if isinstance(value, tuple) else value,
)


@SIZES
def test_the_pane(timeline_looks: Looks, size: tuple[int, int], theme: ThemeChoice) -> None:
    assert timeline_looks("f3", "down", "down", "down", "down", size=size, theme=theme)


def test_the_pane_on_a_small_terminal(timeline_looks: Looks) -> None:
    assert timeline_looks("f3", "down", size=(60, 16))


def test_an_open_branch(timeline_looks: Looks) -> None:
    assert timeline_looks("f3", "end", "up", "right", "down", "right", "down", theme="light")


@SIZES
def test_the_plan(timeline_looks: Looks, size: tuple[int, int], theme: ThemeChoice) -> None:
    assert timeline_looks(
        "f3", "down", "down", "down", "enter", "down", "down", "down", "down", size=size, theme=theme
    )


def test_the_plan_of_a_dmail_on_a_small_terminal(timeline_looks: Looks) -> None:
    assert timeline_looks("f3", "end", "m", *"again", size=(60, 16))


def test_a_comparison(timeline_looks: Looks) -> None:
    assert timeline_looks("f3", "end", "space", "down", size=(100, 30), theme="high-contrast")
