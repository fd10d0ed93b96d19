"""How the main screens look in Chinese, in pictures that were looked at before they were committed."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kimi_tui.language.saying import speak
from tests.tui.test_looks import CHINESE, EDIT, app_showing
from tests.tui.timeline.test_timeline_looks import timeline_app


@pytest.fixture(autouse=True)
def chinese(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The app speaks Chinese; clock times are those of Greenwich."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    speak("zh")
    yield
    speak("en")
    monkeypatch.undo()
    time.tzset()


def test_the_first_screen(snap_compare: Any, tmp_path: Path) -> None:
    app, act = app_showing(tmp_path)
    assert snap_compare(app, terminal_size=(80, 24), run_before=act)


def test_an_edit_that_waits(snap_compare: Any, tmp_path: Path) -> None:
    app, act = app_showing(tmp_path, *CHINESE[:-1], EDIT, theme="light", keys=("f2",))
    assert snap_compare(app, terminal_size=(80, 24), run_before=act)


def test_the_timeline(snap_compare: Any, tmp_path: Path) -> None:
    app, act = timeline_app(tmp_path, ("f3", "down", "down", "down"), "dark")
    assert snap_compare(app, terminal_size=(120, 40), run_before=act)
