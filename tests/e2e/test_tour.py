"""The demo's tour in the real program: what it does, and what it suggests at its end."""

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


def test_the_tour_shows_bisect_and_attempts(screen: Screen, program: Program) -> None:
    screen.wait_for("demo, no model")
    screen.type("tour\r")
    screen.wait_for("--help-all")
    screen.wait_until_idle()
    screen.type("/bisect ! grep -q again hello.py\r")
    screen.wait_for("Step: SetTodoList, EditFile hello.py")
    screen.type('/attempts --prompt "write a.txt: one" --prompt "write a.txt: two"\r')
    screen.wait_for("2 attempts")
    screen.type("/attempts\r")
    screen.wait_for("adopt, with a preview")
    screen.press("right")
    screen.wait_for("1 + two")
    screen.press("enter")
    screen.wait_for("Adopt attempt 2")
    screen.wait_for("a.txt  +1")
    screen.press("enter")
    screen.wait_for("adopted")
    assert (program.work_dir / "a.txt").read_text().strip() == "two"
