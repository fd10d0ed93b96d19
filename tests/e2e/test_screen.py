"""The app as a person uses it: typed at, read off the screen, left and come back to."""

import os
import signal
from collections.abc import Callable, Iterator

import pytest

from kimi_tui.history.context import Context
from tests.e2e.program import Program, script, tool_call
from tests.e2e.screen import Screen

OpenScreen = Callable[..., Screen]


@pytest.fixture
def opened(program: Program) -> Iterator[OpenScreen]:
    screens: list[Screen] = []

    def open_screen(*arguments: str, **size: int) -> Screen:
        screens.append(Screen(program, *arguments, **size))
        screens[-1].until("Ask anything")
        return screens[-1]

    yield open_screen
    for screen in screens:
        screen.close()


def approve(screen: Screen, question: str) -> None:
    """Say yes to what the panel asks, once it takes keys."""
    screen.until(question)
    screen.rest()  # the panel takes the keyboard after half a second
    screen.press("y")


@pytest.mark.parametrize(("columns", "lines"), [(100, 30), (80, 24), (60, 16)])
def test_a_first_message_in_the_demo_changes_a_real_file_after_an_approval(
    program: Program, opened: OpenScreen, columns: int, lines: int
) -> None:
    (program.work_dir / "notes.txt").write_text("helo\n")
    screen = opened(columns=columns, lines=lines)
    screen.until("demo")
    screen.type("edit notes.txt: helo -> hello")
    screen.press("enter")
    screen.until("once")
    assert (program.work_dir / "notes.txt").read_text() == "helo\n"
    approve(screen, "once")
    screen.until("is edited")
    assert (program.work_dir / "notes.txt").read_text() == "hello\n"


def test_a_rejected_change_leaves_the_file_alone(program: Program, opened: OpenScreen) -> None:
    (program.work_dir / "notes.txt").write_text("helo\n")
    screen = opened()
    screen.type("edit notes.txt: helo -> hello")
    screen.press("enter")
    screen.until("once")
    screen.rest()
    screen.press("n")
    screen.until(lambda text: "once" not in text)
    assert (program.work_dir / "notes.txt").read_text() == "helo\n"


def test_what_is_typed_while_the_model_works_is_answered_next(program: Program, opened: OpenScreen) -> None:
    program.script(
        script("chunk: 60", "text: the first answer takes a while to come out of the model"),
        script("text: the second answer"),
    )
    screen = opened()
    screen.type("one")
    screen.press("enter")
    screen.until("the first answer")
    screen.type("two")
    screen.press("enter")
    screen.until("the second answer")


def test_escape_stops_the_model_and_keeps_what_it_said(program: Program, opened: OpenScreen) -> None:
    program.script(script("chunk: 40", "text: " + "word " * 400), script("text: back again"))
    screen = opened()
    screen.type("talk")
    screen.press("enter")
    screen.until("word word word")
    screen.press("escape")
    screen.until("nterrupted")
    screen.type("are you there")
    screen.press("enter")
    screen.until("back again")


def test_a_killed_session_comes_back_with_all_that_was_said(program: Program, opened: OpenScreen) -> None:
    program.script(
        script("text: remember the blue door", tool_call("c1", "LS", path=".")),
        script("text: nothing in here"),
        script("text: it was blue"),
    )
    screen = opened()
    screen.type("what is here")
    screen.press("enter")
    screen.until("nothing in here")
    screen.until(lambda text: "esc" not in text.lower() or "interrupts" not in text)
    os.kill(screen.pid, signal.SIGKILL)
    screen.close()

    program.script("text: it was blue")
    again = opened("--continue")
    again.until("remember the blue door")
    again.until("nothing in here")
    again.type("which colour")
    again.press("enter")
    again.until("it was blue")


def test_chinese_is_typed_shown_and_kept(program: Program, opened: OpenScreen) -> None:
    program.script(script("text: 你好，世界。这是一个测试。"))
    screen = opened(columns=80, lines=24)
    screen.type("请用中文回答")
    screen.press("enter")
    screen.until(lambda text: "这是一个测试" in text.replace(" ", ""))
    assert "请用中文回答" in screen.text.replace(" ", "")


def test_escape_sequences_of_a_model_or_a_file_never_reach_the_terminal(
    program: Program, opened: OpenScreen
) -> None:
    evil = "\x1b]0;owned\x07\x1b[31mred\x1b[0m [bold]markup[/bold] [@click=app.quit]x[/]"
    (program.work_dir / "evil.txt").write_text(evil)
    program.script(
        script(
            "text: " + '"\\u001b]0;owned\\u0007 said [bold]so[/bold]"',
            tool_call("c1", "ReadFile", path="evil.txt"),
        ),
        script("text: done reading"),
    )
    screen = opened()
    screen.type("go")
    screen.press("enter")
    text = screen.until("done reading")
    assert "said [bold]so[/bold]" in text
    assert "owned" not in screen.title


def test_ctrl_d_leaves_and_the_journal_is_whole(program: Program, opened: OpenScreen) -> None:
    program.script(script("text: fine"))
    screen = opened()
    screen.type("hi")
    screen.press("enter")
    screen.until("fine")
    screen.press("ctrl+d")
    assert screen.exit_code() == 0
    (journal,) = program.context_files
    assert journal.read_bytes().endswith(b"\n")


async def test_a_model_that_fails_says_what_happened_and_what_to_do(
    program: Program, opened: OpenScreen
) -> None:
    program.script(script("error: 401 no such key"), script("text: better now"))
    screen = opened()
    screen.type("hi")
    screen.press("enter")
    screen.until("no such key")
    screen.type("again")
    screen.press("enter")
    screen.until("better now")
    (journal,) = program.context_files
    context = Context(journal)
    await context.restore()
    assert [message.text for message in context.history if message.role == "user"] == ["hi", "again"]
