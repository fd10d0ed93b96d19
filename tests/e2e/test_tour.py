"""The demo's tour in the real program, ending with a revert and its undo."""

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
    screen.wait_for("demo, no model")
    screen.type("tour\r")
    screen.wait_for("your turn")
    screen.wait_for("--help-all")
    screen.type("\x1bOR")  # f3
    screen.wait_for("choose checkpoint")
    screen.wait_until_idle()
    for _ in range(7):
        screen.type("\x1b[B")
    screen.wait_for("#0 you: tour")
    screen.type("f")
    screen.wait_for(lambda text: "delete" in text and "hello.py" in text)
    screen.wait_until_idle()
    written = file.read_text()
    screen.press("enter")
    screen.wait_for("Files reverted")
    screen.wait_until_idle()
    assert not file.exists()
    screen.type("u")
    screen.wait_for("recreate")
    screen.press("enter")
    screen.wait_for(lambda text: "recreate" not in text and file.exists())
    assert file.read_text() == written
