"""Shell mode: commands of the user's own, typed where prompts are typed."""

from typing import Any

import pytest

from kimi_tui.tui.prompt.shell_line import needs_terminal, shell_line
from kimi_tui.wire.commands import Interrupt, Prompt, RunShell, StopShell
from kimi_tui.wire.events import ToolOutput, TurnBegin, TurnEnd
from kimi_tui.wire.shell import ShellCommandBegin, ShellCommandEnd
from tests.tui.conftest import Desk


async def ran(desk: Desk, text: str) -> RunShell:
    await desk.write(text)
    await desk.pilot.press("enter")
    await desk.until(lambda: desk.told(RunShell))
    command = desk.told(RunShell)[-1]
    assert isinstance(command, RunShell)
    return command


async def test_ctrl_x_runs_what_is_typed_in_the_shell_and_talks_to_the_agent_again(open_desk: Any) -> None:
    async with open_desk() as desk:
        await desk.pilot.press("ctrl+x")
        assert "ctrl+x talks to the agent" in desk.shown()
        assert (await ran(desk, "ls -l /")).command == "ls -l /"
        await desk.pilot.press("ctrl+x")
        await desk.write("hi")
        await desk.pilot.press("enter")
        await desk.until(lambda: desk.told(Prompt) == [Prompt("hi")])


async def test_an_exclamation_mark_runs_one_command(open_desk: Any) -> None:
    async with open_desk() as desk:
        assert (await ran(desk, "!make")).command == "make"
        assert desk.screen.prompt.mode == "agent"
        await desk.pilot.press("up")
        assert desk.prompt_text == "!make"


async def test_output_streams_into_the_conversation_and_the_folder_is_shown(open_desk: Any) -> None:
    async with open_desk() as desk:
        await desk.pilot.press("ctrl+x")
        await desk.say(ShellCommandBegin("s1", "make", "/work/shop"), ToolOutput("s1", "compiling\n"))
        assert "$ make" in desk.shown()
        assert "compiling" in desk.shown()
        await desk.say(ShellCommandEnd("s1", 2, "compiling\nbroken\n", "/work/other"))
        assert "exit code 2" in desk.shown()
        assert "broken" in desk.shown()
        assert "/work/other" in desk.shown()


async def test_the_end_of_a_turn_is_not_the_end_of_a_command(open_desk: Any) -> None:
    async with open_desk() as desk:
        await desk.say(TurnBegin("hi"), ShellCommandBegin("s1", "sleep 9", "/"), TurnEnd())
        await desk.say(ShellCommandEnd("s1", 0, "late\n", "/"))
        assert "late" in desk.shown()
        assert "✔ $ sleep 9" in desk.shown()


async def test_escape_stops_a_command_and_in_shell_mode_it_leaves_the_turn_alone(open_desk: Any) -> None:
    async with open_desk() as desk:
        await desk.say(ShellCommandBegin("s1", "sleep 9", "/"))
        await desk.pilot.press("escape")
        await desk.until(lambda: desk.told(StopShell))
        await desk.say(TurnBegin("hi"))
        await desk.pilot.press("ctrl+x", "escape")
        await desk.until(lambda: len(desk.told(StopShell)) == 2)
        assert desk.told(Interrupt) == []


async def test_what_draws_on_a_screen_gets_the_terminal(open_desk: Any) -> None:
    async with open_desk() as desk:
        assert (await ran(desk, "!vim notes.txt")).on_terminal
        await desk.until(lambda: desk.app.screen.is_current)


async def test_hostile_output_is_shown_as_text(open_desk: Any) -> None:
    async with open_desk() as desk:
        await desk.say(
            ShellCommandBegin("s1", "x\x1b]0;owned\x07", "/"),
            ToolOutput("s1", "\x1b[31m[bold]red[/bold]\x9b2J"),
        )
        assert "[bold]red[/bold]" in desk.shown()
        assert "\x1b" not in desk.shown()


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
def test_programs_that_ask_or_draw_are_known(command: str) -> None:
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
def test_what_only_prints_stays_in_the_conversation(command: str) -> None:
    assert not needs_terminal(command)


def test_what_stands_in_the_history_does_the_same_again() -> None:
    for text in ("!ls", "!!ls", "!vim x"):
        line = shell_line(text, "agent")
        assert line is not None
        assert shell_line(line.remembered, "agent") == line
        assert shell_line(line.remembered, "shell") == line
    assert shell_line("!", "agent") is None
    assert shell_line("hi!", "agent") is None
