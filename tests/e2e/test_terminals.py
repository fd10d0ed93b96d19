"""Terminals with few colours or none, small ones, slow ones, and those that change their size often."""

import random
import re
import shutil
from contextlib import suppress
from pathlib import Path

import pytest

from tests.e2e.program import KIMI_TUI, Program, script
from tests.e2e.screen import Screen

ANSWER = "text: **Bold** and `code`:\\n\\n```python\\nreturn 1\\n```\\n\\nthat is all"
PROMPT = "Ask anything"


def converse(screen: Screen) -> str:
    """Say hello and wait for the answer; what the screen shows then."""
    screen.until(PROMPT)
    screen.type("hello")
    screen.until("hello")
    screen.press("enter")
    screen.until(lambda text: "that is all" in text and "interrupts" not in text)
    return screen.rest()


COLOUR = r"(?:^|;)(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])(?:;|$)"
MANY_COLOURS = r"(?:^|;)[34]8(?:;|$)"
GREY = r"[34]8;2;(\d+);\1;\1(?=;|$)"


@pytest.mark.parametrize(
    ("env", "allowed", "forbidden"),
    [
        ({"TERM": "linux", "COLORTERM": ""}, "$", MANY_COLOURS),
        ({"NO_COLOR": "1"}, GREY, COLOUR),
    ],
    ids=["the sixteen of linux", "greys for NO_COLOR"],
)
def test_a_terminal_gets_no_more_colours_than_it_has(
    program: Program, env: dict[str, str], allowed: str, forbidden: str
) -> None:
    program.env.update(env)
    program.script(script(ANSWER))
    screen = Screen(program, columns=60, lines=16)
    try:
        assert "return 1" in converse(screen)
        looks = re.findall(r"\x1b\[([0-9;]*)m", screen.sent)
        assert looks
        assert not [look for look in looks if re.search(forbidden, re.sub(allowed, "", look))]
    finally:
        screen.close()


def test_what_is_typed_while_the_terminal_is_asked_for_its_colours_is_kept(program: Program) -> None:
    program.script(script(ANSWER))
    screen = Screen(program, columns=80, lines=24)
    try:
        screen.until(lambda _: "\x1b]11;?" in screen.sent)
        screen.type("fix it")
        screen.until("❯ fix it")
    finally:
        screen.close()


def test_a_key_costs_its_own_cells_and_two_hundred_sizes_leave_the_screen_whole(program: Program) -> None:
    program.script(script(ANSWER))
    screen = Screen(program, columns=80, lines=24)
    try:
        converse(screen)
        screen.type("next")
        screen.until("next")
        screen.rest()
        before = len(screen.sent)
        screen.type("!")
        screen.until("next!")
        shown = screen.rest()
        assert len(screen.sent) - before < 120

        chance = random.Random(7)
        for _ in range(200):
            screen.resize(chance.randint(1, 100), chance.randint(1, 30))
            while screen.draws(within_s=0.002):
                pass
        screen.resize(80, 24)
        screen.until(lambda text: any(len(line) == 80 and line.endswith("╮") for line in text.split("\n")))
        assert screen.rest() == shown
    finally:
        screen.close()


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="only Linux tells how often a thread woke")
def test_a_program_that_waits_does_nothing_at_all(program: Program) -> None:
    program.script(script(ANSWER))
    screen = Screen(program, columns=80, lines=24)
    try:
        converse(screen)
        for _ in range(20):
            woken = wakings(screen.pid)
            screen.rest(quiet_s=0.5)
            if wakings(screen.pid) == woken:
                return
        raise AssertionError("its threads wake though nothing happens")
    finally:
        screen.close()


def wakings(pid: int) -> int:
    """How often the threads of a process went to sleep and woke again."""
    told = []
    for thread in Path(f"/proc/{pid}/task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
            told.append((thread / "status").read_text())
    return sum(int(count) for text in told for count in re.findall(r"ctxt_switches:\s*(\d+)", text))


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no shell with job control")
def test_the_shell_has_the_terminal_until_fg_and_the_draft_is_still_there(program: Program) -> None:
    program.script(script(ANSWER))
    program.env["PS1"] = "shell> "
    screen = Screen(program, "--norc", "--noprofile", "-i", binary="bash", columns=80, lines=24)
    try:
        screen.until("shell>")
        screen.type(f"{KIMI_TUI}\r")
        screen.until(PROMPT)
        screen.rest()
        screen.type("a thought")
        screen.until("❯ a thought")
        screen.type("\x1bz")
        screen.until(lambda text: "Stopped" in text and "shell>" in text)
        screen.type("echo $((6 * 7)) is the answer\r")
        screen.until("42 is the answer")
        screen.type("fg\r")
        screen.until(lambda text: "❯ a thought" in text and "shell>" not in text)
        screen.type(" more")
        screen.until("❯ a thought more")
    finally:
        screen.close()


def test_without_a_shell_nothing_is_suspended_that_nobody_could_bring_back(program: Program) -> None:
    program.script(script(ANSWER))
    screen = Screen(program, columns=80, lines=24)
    try:
        screen.until(PROMPT)
        screen.rest()
        screen.type("\x1bz")
        screen.until("No shell is behind kimi-tui")
        assert "that is all" in converse(screen)
    finally:
        screen.close()
