"""The app in everyday use: prompts, permission requests, interruption, resuming."""

import os
import signal
from collections.abc import Callable, Iterator

import pytest

from kimi_tui.history.context import Context
from tests.e2e.program import Program, script, tool_call
from tests.e2e.screen import Screen

OpenScreen = Callable[..., Screen]


@pytest.fixture
def open_screen(program: Program) -> Iterator[OpenScreen]:
    screens: list[Screen] = []

    def start(*arguments: str, **size: int) -> Screen:
        screens.append(Screen(program, *arguments, **size))
        screens[-1].wait_for("Ask anything")
        return screens[-1]

    yield start
    for screen in screens:
        screen.close()


def approve(screen: Screen, title: str) -> None:
    """Answer Yes to the permission request with this title, once the panel accepts keys."""
    screen.wait_for(title)
    screen.wait_until_idle()  # the panel ignores keys for half a second
    screen.press("y")


@pytest.mark.parametrize(("columns", "lines"), [(100, 30), (80, 24), (60, 16)])
def test_an_edit_in_the_demo_changes_a_real_file_after_approval(
    program: Program, open_screen: OpenScreen, columns: int, lines: int
) -> None:
    (program.work_dir / "notes.txt").write_text("helo\n")
    screen = open_screen(columns=columns, lines=lines)
    screen.wait_for("demo")
    screen.type("edit notes.txt: helo -> hello")
    screen.press("enter")
    screen.wait_for("Allow EditFile")
    assert (program.work_dir / "notes.txt").read_text() == "helo\n"
    approve(screen, "Allow EditFile")
    screen.wait_for("I edited")
    assert (program.work_dir / "notes.txt").read_text() == "hello\n"


def test_a_rejected_change_leaves_the_file_alone(program: Program, open_screen: OpenScreen) -> None:
    (program.work_dir / "notes.txt").write_text("helo\n")
    screen = open_screen()
    screen.type("edit notes.txt: helo -> hello")
    screen.press("enter")
    screen.wait_for("Allow EditFile")
    screen.wait_until_idle()
    screen.press("n")
    screen.wait_for(lambda text: "Allow EditFile" not in text)
    assert (program.work_dir / "notes.txt").read_text() == "helo\n"


def test_a_prompt_sent_during_a_turn_is_answered_next(program: Program, open_screen: OpenScreen) -> None:
    program.script(
        script("chunk: 60", "text: the first response takes a while to stream"),
        script("text: the second response"),
    )
    screen = open_screen()
    screen.type("one")
    screen.press("enter")
    screen.wait_for("the first response")
    screen.type("two")
    screen.press("enter")
    screen.wait_for("the second response")


def test_escape_interrupts_the_model_and_keeps_its_partial_response(
    program: Program, open_screen: OpenScreen
) -> None:
    program.script(script("chunk: 40", "text: " + "word " * 400), script("text: back again"))
    screen = open_screen()
    screen.type("talk")
    screen.press("enter")
    screen.wait_for("word word word")
    screen.press("escape")
    screen.wait_for("nterrupted")
    screen.type("are you there")
    screen.press("enter")
    screen.wait_for("back again")


def test_a_killed_session_resumes_with_the_whole_conversation(
    program: Program, open_screen: OpenScreen
) -> None:
    program.script(
        script("text: remember the blue door", tool_call("c1", "LS", path=".")),
        script("text: nothing in here"),
        script("text: it was blue"),
    )
    screen = open_screen()
    screen.type("what is here")
    screen.press("enter")
    screen.wait_for("nothing in here")
    screen.wait_for(lambda text: "esc" not in text.lower() or "to interrupt" not in text)
    os.kill(screen.pid, signal.SIGKILL)
    screen.close()

    program.script("text: it was blue")
    resumed = open_screen("--continue")
    resumed.wait_for("remember the blue door")
    resumed.wait_for("nothing in here")
    resumed.type("which color")
    resumed.press("enter")
    resumed.wait_for("it was blue")


def test_chinese_prompts_and_responses_are_shown(program: Program, open_screen: OpenScreen) -> None:
    program.script(script("text: 你好，世界。这是一个测试。"))
    screen = open_screen(columns=80, lines=24)
    screen.type("请用中文回答")
    screen.press("enter")
    screen.wait_for(lambda text: "这是一个测试" in text.replace(" ", ""))
    assert "请用中文回答" in screen.text.replace(" ", "")


def test_escape_sequences_of_a_model_or_a_file_never_reach_the_terminal(
    program: Program, open_screen: OpenScreen
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
    screen = open_screen()
    screen.type("go")
    screen.press("enter")
    text = screen.wait_for("done reading")
    assert "said [bold]so[/bold]" in text
    assert "owned" not in screen.title


def test_ctrl_d_exits_and_leaves_a_complete_context_file(program: Program, open_screen: OpenScreen) -> None:
    program.script(script("text: fine"))
    screen = open_screen()
    screen.type("hi")
    screen.press("enter")
    screen.wait_for("fine")
    screen.press("ctrl+d")
    assert screen.exit_code() == 0
    (journal,) = program.context_files
    assert journal.read_bytes().endswith(b"\n")


async def test_a_prompt_after_a_model_error_works(program: Program, open_screen: OpenScreen) -> None:
    program.script(script("error: 401 no such key"), script("text: better now"))
    screen = open_screen()
    screen.type("hi")
    screen.press("enter")
    screen.wait_for("no such key")
    screen.type("again")
    screen.press("enter")
    screen.wait_for("better now")
    (journal,) = program.context_files
    context = Context(journal)
    await context.restore()
    assert [message.text for message in context.history if message.role == "user"] == ["hi", "again"]
