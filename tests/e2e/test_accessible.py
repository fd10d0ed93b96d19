"""Notifications, screen reader mode, inline mode and the transcript left in the terminal."""

import os
import signal
from collections.abc import Iterator

import pyte
import pytest

from tests.e2e.program import Program, script
from tests.e2e.screen import OpenScreen, Screen


@pytest.fixture
def open_screen(program: Program) -> Iterator[OpenScreen]:
    screens: list[Screen] = []

    def start(*arguments: str, **size: int) -> Screen:
        screens.append(Screen(program, *arguments, **size))
        return screens[-1]

    yield start
    for screen in screens:
        screen.close()


def test_the_end_of_a_turn_sends_a_notification_while_the_terminal_is_not_focused(
    program: Program, open_screen: OpenScreen
) -> None:
    program.env["TERM_PROGRAM"] = "iTerm.app"
    program.script(script("text: One moment."), script("text: All done."))
    screen = open_screen()
    screen.wait_for("Ask anything")
    screen.type("first")
    screen.press("enter")
    screen.wait_for("One moment.")
    screen.wait_until_idle()
    assert "\x1b]9;" not in screen.sent
    screen.type("second")
    screen.type("\r\x1b[O")
    screen.wait_for("All done.")
    screen.wait_until_idle()
    assert screen.sent.count("\x1b]9;kimi-tui") == 1
    assert "Turn finished." in screen.sent


def test_screen_reader_mode_prints_plain_lines_on_a_dumb_terminal(
    program: Program, open_screen: OpenScreen
) -> None:
    program.env["TERM"] = "dumb"
    (program.work_dir / "notes.txt").write_text("helo\n")
    screen = open_screen("--demo", "--screen-reader", "edit notes.txt: helo -> hello")
    screen.wait_for("s: Show all.")
    assert (program.work_dir / "notes.txt").read_text() == "helo\n"
    screen.type("y\r")
    screen.wait_for("Took")
    assert (program.work_dir / "notes.txt").read_text() == "hello\n"
    assert "line 1 added: hello" in screen.sent
    assert "\x1b" not in screen.sent
    screen.type("/exit\r")
    assert screen.exit_code() == 0
    screen.assert_terminal_is_restored()


def test_screen_reader_mode_restores_an_unsent_line_after_a_crash(
    program: Program, open_screen: OpenScreen
) -> None:
    program.script(script("text: Here I am."))
    screen = open_screen("--screen-reader")
    screen.wait_for("You:")
    screen.type("hello you")
    screen.wait_for(
        lambda _: any("hello you" in it.read_text() for it in program.data_dir.glob("drafts/*.json"))
    )
    os.kill(screen.pid, signal.SIGKILL)
    screen.wait()
    screen = open_screen("--screen-reader")
    screen.wait_for("You: hello you")
    screen.type(" there\r")
    screen.wait_for("Took")
    assert "Your unsent draft was restored." in screen.text
    screen.wait_for(lambda _: not list(program.data_dir.glob("drafts/*.json")))
    assert '"hello you there"' in program.context_files[-1].read_text()
    screen.type("/exit\r")
    assert screen.exit_code() == 0
    screen.assert_terminal_is_restored()


def scrollback_text(screen: Screen, *, columns: int, lines: int) -> str:
    """Return the scrollback of a terminal of this size after everything that the program has sent."""
    terminal = pyte.HistoryScreen(columns, lines, history=10_000)
    pyte.Stream(terminal).feed(screen.sent)
    rows = ("".join(row[x].data for x in range(columns)).rstrip() for row in terminal.history.top)
    return "\n".join(rows)


def test_inline_mode_prints_turns_into_the_scrollback(program: Program, open_screen: OpenScreen) -> None:
    long = "\\n".join(f"line {number}" for number in range(60))
    program.script(script(f'text: "{long}"'), script("text: Second answer."))
    screen = open_screen("--inline", columns=80, lines=24)
    screen.wait_for("Ask anything")
    screen.type("first")
    screen.press("enter")
    screen.wait_for("line 59")
    screen.wait_until_idle()
    scrollback = scrollback_text(screen, columns=80, lines=24)
    assert "▌ first" in scrollback
    assert scrollback.index("line 0") < scrollback.index("line 59")
    assert "palette" not in scrollback  # no part of the app's own interface
    screen.type("second")
    screen.press("enter")
    screen.wait_for("Second answer.")
    screen.wait_until_idle()
    screen.press("ctrl+d")
    assert screen.exit_code() == 0
    screen.assert_terminal_is_restored()
    scrollback = scrollback_text(screen, columns=80, lines=24)
    assert scrollback.index("line 59") < scrollback.index("Second answer.")
    assert scrollback.count("Second answer.") == 1
    assert "palette" not in scrollback + screen.text
    assert "\x1b[?1049h" not in screen.sent


def test_keep_transcript_leaves_the_conversation_on_the_terminal(
    program: Program, open_screen: OpenScreen
) -> None:
    screen = open_screen("--demo", "--config", "ui = {keep_transcript = true}", "hello")
    screen.wait_for("I'm the demo")
    screen.wait_until_idle()
    screen.press("ctrl+d")
    assert screen.exit_code() == 0
    transcript = screen.sent.rpartition("\x1b[?1049l")[2]
    assert "hello" in transcript
    assert "for a two-minute tour" in transcript
