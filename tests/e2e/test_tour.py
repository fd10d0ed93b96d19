"""The demo's tour in the real program: at its end the visitor takes the change back, and that back."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.program import Program
from tests.e2e.screen import Screen


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)


@pytest.fixture
def screen(program: Program) -> Iterator[Screen]:
    screen = Screen(program, "--demo", "--yolo", lines=40)
    yield screen
    screen.close()


def test_the_tour_ends_with_a_revert_and_its_undo(screen: Screen, program: Program) -> None:
    file = program.work_dir / "hello.py"
    screen.until("demo, not a model")
    screen.type("tour\r")
    screen.until("your turn")
    screen.until("--help-all")
    screen.type("\x1bOR")  # f3
    screen.until("choose a moment")
    screen.rest()
    for _ in range(7):
        screen.type("\x1b[B")
    screen.until("#0 you: tour")
    screen.type("f")
    screen.until(lambda text: "delete" in text and "hello.py" in text)
    screen.rest()
    written = file.read_text()
    screen.press("enter")
    screen.until("went back")
    screen.rest()
    assert not file.exists()
    screen.type("/undo")
    screen.until("❯ /undo")
    screen.press("enter")
    screen.until("recreate")
    screen.press("enter")
    screen.until(lambda text: "recreate" not in text and file.exists())
    assert file.read_text() == written
