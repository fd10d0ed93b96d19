"""SVG snapshots of the main screens in Chinese."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kimi_tui.i18n.translate import set_language
from tests.tui.test_snapshots import CHINESE, EDIT, build_app
from tests.tui.timeline.sample_hunks import HUNKS_PLAN
from tests.tui.timeline.test_timeline_snapshots import timeline_app


@pytest.fixture(autouse=True)
def chinese(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Set the language to Chinese and the time zone to UTC."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    set_language("zh")
    yield
    set_language("en")
    monkeypatch.undo()
    time.tzset()


def test_the_first_screen(snap_compare: Any, tmp_path: Path) -> None:
    app, act = build_app(tmp_path)
    assert snap_compare(app, terminal_size=(80, 24), run_before=act)


def test_an_edit_that_waits(snap_compare: Any, tmp_path: Path) -> None:
    app, act = build_app(tmp_path, *CHINESE[:-1], EDIT, theme="light", keys=("f2",))
    assert snap_compare(app, terminal_size=(80, 24), run_before=act)


def test_the_choices_for_a_conflict(snap_compare: Any, tmp_path: Path) -> None:
    app, act = timeline_app(tmp_path, ("f3", "down", "enter", "down", "right", "2"), "dark", HUNKS_PLAN)
    assert snap_compare(app, terminal_size=(80, 24), run_before=act)


def test_the_timeline(snap_compare: Any, tmp_path: Path) -> None:
    app, act = timeline_app(tmp_path, ("f3", "down", "down", "down"), "dark")
    assert snap_compare(app, terminal_size=(120, 40), run_before=act)


def test_the_review(snap_compare: Any, tmp_path: Path) -> None:
    app, act = timeline_app(tmp_path, ("f3", "end", "r", "n", "x"), "light")
    assert snap_compare(app, terminal_size=(80, 24), run_before=act)
