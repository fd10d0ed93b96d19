"""The app for those who look elsewhere, listen, or want their terminal's own screen."""

import os
import signal
from collections.abc import Iterator

import pyte
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
    screen.type("\r\x1b[O")
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


def test_what_a_listener_was_typing_stands_in_the_line_again_after_a_crash(
    program: Program, opened: OpenScreen
) -> None:
    program.script(script("text: Here I am."))
    screen = opened("--screen-reader")
    screen.until("You:")
    screen.type("hello you")
    screen.until(
        lambda _: any("hello you" in it.read_text() for it in program.share_dir.glob("drafts/*.json"))
    )
    os.kill(screen.pid, signal.SIGKILL)
    screen.wait()
    screen = opened("--screen-reader")
    screen.until("You: hello you")
    screen.type(" there\r")
    screen.until("It took")
    assert "Your unsent draft of last time is back" in screen.text
    screen.until(lambda _: not list(program.share_dir.glob("drafts/*.json")))
    assert '"hello you there"' in program.context_files[-1].read_text()
    screen.type("/exit\r")
    assert screen.exit_code() == 0
    screen.assert_terminal_is_restored()


def scrolled_off(screen: Screen, *, columns: int, lines: int) -> str:
    """What a terminal of that size has in its scrollback after all that the program has sent."""
    terminal = pyte.HistoryScreen(columns, lines, history=10_000)
    pyte.Stream(terminal).feed(screen.sent)
    rows = ("".join(row[x].data for x in range(columns)).rstrip() for row in terminal.history.top)
    return "\n".join(rows)


def test_inline_turns_go_to_the_scrollback_and_stay_there(program: Program, opened: OpenScreen) -> None:
    long = "\\n".join(f"line {number}" for number in range(60))
    program.script(script(f'text: "{long}"'), script("text: Second answer."))
    screen = opened("--inline", columns=80, lines=24)
    screen.until("Ask anything")
    screen.type("first")
    screen.press("enter")
    screen.until("line 59")
    screen.rest()
    kept = scrolled_off(screen, columns=80, lines=24)
    assert "▌ first" in kept
    assert kept.index("line 0") < kept.index("line 59")
    assert "palette" not in kept  # nothing of the app itself
    screen.type("second")
    screen.press("enter")
    screen.until("Second answer.")
    screen.rest()
    screen.press("ctrl+d")
    assert screen.exit_code() == 0
    screen.assert_terminal_is_restored()
    kept = scrolled_off(screen, columns=80, lines=24)
    assert kept.index("line 59") < kept.index("Second answer.")
    assert kept.count("Second answer.") == 1
    assert "palette" not in kept + screen.text
    assert "\x1b[?1049h" not in screen.sent


def test_what_was_said_is_left_on_the_terminal_when_that_is_wished(
    program: Program, opened: OpenScreen
) -> None:
    screen = opened("--demo", "--config", "ui = {keep_transcript = true}", "hello")
    screen.until("I'm the demo")
    screen.rest()
    screen.press("ctrl+d")
    assert screen.exit_code() == 0
    left = screen.sent.rpartition("\x1b[?1049l")[2]
    assert "hello" in left
    assert "show you around" in left
