"""Shell mode: the user's own commands in the prompt."""

from typing import Any

import pytest

from kimi_tui.frontend.shell_line import needs_terminal, parse_shell_line
from kimi_tui.wire.commands import Interrupt, Prompt, RunShell, StopShell
from kimi_tui.wire.events import TextPart, ToolOutput, TurnBegin, TurnEnd
from kimi_tui.wire.user_shell import ShellCommandBegin, ShellCommandEnd
from tests.tui.conftest import AppHarness


async def run_shell_command(harness: AppHarness, text: str) -> RunShell:
    await harness.type_text(text)
    await harness.driver.press("enter")
    await harness.wait_until(lambda: harness.commands_of(RunShell))
    command = harness.commands_of(RunShell)[-1]
    assert isinstance(command, RunShell)
    return command


async def test_ctrl_x_toggles_shell_mode(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.driver.press("ctrl+x")
        assert "ctrl+x to exit shell mode" in harness.screen_text()
        assert (await run_shell_command(harness, "ls -l /")).command == "ls -l /"
        await harness.driver.press("ctrl+x")
        await harness.type_text("hi")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: harness.commands_of(Prompt) == [Prompt("hi")])


async def test_an_exclamation_mark_runs_one_command(open_app: Any) -> None:
    async with open_app() as harness:
        assert (await run_shell_command(harness, "!make")).command == "make"
        assert harness.screen.prompt.mode == "agent"
        await harness.driver.press("up")
        assert harness.prompt_text == "!make"


async def test_output_is_streamed_and_the_directory_is_shown(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.driver.press("ctrl+x")
        await harness.send(ShellCommandBegin("s1", "make", "/work/shop"), ToolOutput("s1", "compiling\n"))
        assert "$ make" in harness.screen_text()
        assert "compiling" in harness.screen_text()
        await harness.send(ShellCommandEnd("s1", 2, "compiling\nbroken\n", "/work/other"))
        assert "exit code 2" in harness.screen_text()
        assert "broken" in harness.screen_text()
        assert "/work/other" in harness.screen_text()


async def test_a_command_continues_after_a_turn_ends(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.send(TurnBegin("hi"), ShellCommandBegin("s1", "sleep 9", "/"), TurnEnd())
        await harness.send(ShellCommandEnd("s1", 0, "late\n", "/"))
        assert "late" in harness.screen_text()
        assert "✔ $ sleep 9" in harness.screen_text()


@pytest.mark.parametrize("typed", ["!make", "/plan view"])
async def test_what_a_command_prints_is_visible_after_scrolling_up(open_app: Any, typed: str) -> None:
    async with open_app() as harness:
        lines = "\n\n".join(f"line {number}" for number in range(100))
        await harness.send(TurnBegin("x"), TextPart(lines))
        await harness.send(TurnEnd())
        await harness.driver.press("pageup", "pageup")
        transcript = harness.screen.controllers.session_view.transcript
        await harness.wait_until(lambda: transcript.scroll_offset.y < transcript.max_scroll_y)
        await harness.type_text(typed)
        await harness.driver.press("enter")
        await harness.wait_until(lambda: transcript.scroll_offset.y == transcript.max_scroll_y)


async def test_escape_in_shell_mode_stops_the_command_instead_of_the_turn(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.send(ShellCommandBegin("s1", "sleep 9", "/"))
        await harness.driver.press("escape")
        await harness.wait_until(lambda: harness.commands_of(StopShell))
        await harness.send(TurnBegin("hi"))
        await harness.driver.press("ctrl+x", "escape")
        await harness.wait_until(lambda: len(harness.commands_of(StopShell)) == 2)
        assert harness.commands_of(Interrupt) == []


async def test_a_full_screen_program_gets_the_terminal(open_app: Any) -> None:
    async with open_app() as harness:
        assert (await run_shell_command(harness, "!vim notes.txt")).on_terminal
        await harness.wait_until(lambda: harness.app.screen.is_current)


async def test_hostile_output_is_shown_as_text(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.send(
            ShellCommandBegin("s1", "x\x1b]0;owned\x07", "/"),
            ToolOutput("s1", "\x1b[31m[bold]red[/bold]\x9b2J"),
        )
        assert "[bold]red[/bold]" in harness.screen_text()
        assert "\x1b" not in harness.screen_text()


@pytest.mark.parametrize(
    "command",
    [
        "vim a",
        "EDITOR=vi git commit",
        "git rebase -i HEAD~3",
        "git add -p",
        "python",
        "cd x && less y",
        "sudo ls",
        "ls | less",
        "man bash",
    ],
)
def test_interactive_programs_need_the_terminal(command: str) -> None:
    assert needs_terminal(command)


@pytest.mark.parametrize(
    "command",
    [
        "ls",
        "git commit -m x",
        "git log",
        "python x.py",
        "less x > y",
        "vim &",
        "man ls | cat",
        "echo vim",
        "",
        "git commit --amend --no-edit",
    ],
)
def test_other_commands_do_not_need_the_terminal(command: str) -> None:
    assert not needs_terminal(command)


def test_history_entries_run_the_same_command_again() -> None:
    for text in ("!ls", "!!ls", "!vim x"):
        line = parse_shell_line(text, "agent")
        assert line is not None
        assert parse_shell_line(line.history_entry, "agent") == line
        assert parse_shell_line(line.history_entry, "shell") == line
    assert parse_shell_line("!", "agent") is None
    assert parse_shell_line("hi!", "agent") is None
