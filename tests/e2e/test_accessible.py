"""The app for those who look elsewhere, listen, or want their terminal's own screen."""

from collections.abc import Iterator

import pytest

from tests.e2e.program import Program, script
from tests.e2e.screen import OpenScreen, Screen


@pytest.fixture
def opened(program: Program) -> Iterator[OpenScreen]:
    screens: list[Screen] = []

    def open_screen(*arguments: str, **size: int) -> Screen:
        screens.append(Screen(program, *arguments, **size))
        return screens[-1]

    yield open_screen
    for screen in screens:
        screen.close()


def test_a_turn_that_ends_while_the_terminal_lacks_the_focus_calls(
    program: Program, opened: OpenScreen
) -> None:
    program.env["TERM_PROGRAM"] = "iTerm.app"
    program.script(script("text: One moment."), script("text: All done."))
    screen = opened()
    screen.until("Ask anything")
    screen.type("first")
    screen.press("enter")
    screen.until("One moment.")
    screen.rest()
    assert "\x1b]9;" not in screen.sent
    screen.type("second")
    screen.press("enter")
    screen.type("\x1b[O")
    screen.until("All done.")
    screen.rest()
    assert screen.sent.count("\x1b]9;kimi-tui") == 1
    assert "The turn is done." in screen.sent


def test_a_listener_on_a_dumb_terminal_works_line_by_line(program: Program, opened: OpenScreen) -> None:
    program.env["TERM"] = "dumb"
    (program.work_dir / "notes.txt").write_text("helo\n")
    screen = opened("--demo", "--screen-reader", "edit notes.txt: helo -> hello")
    screen.until("Allow it?")
    assert (program.work_dir / "notes.txt").read_text() == "helo\n"
    screen.type("y\r")
    screen.until("It took")
    assert (program.work_dir / "notes.txt").read_text() == "hello\n"
    assert "line 1 added: hello" in screen.sent
    assert "\x1b" not in screen.sent
    screen.type("/exit\r")
    assert screen.exit_code() == 0
    screen.assert_terminal_is_restored()
