"""Terminals with few colors or none, resizing, idle CPU use, and suspending to the shell."""

import random
import re
import shutil
from contextlib import suppress
from pathlib import Path

import pytest

from tests.e2e.program import KIMI_TUI, Program, script
from tests.e2e.screen import Screen

RESPONSE = "text: **Bold** and `code`:\\n\\n```python\\nreturn 1\\n```\\n\\nthat is all"
PROMPT = "Ask anything"


def run_turn(screen: Screen) -> str:
    """Send a prompt and wait for the end of the turn. Return the text of the screen."""
    screen.wait_for(PROMPT)
    screen.type("hello")
    screen.wait_for("hello")
    screen.press("enter")
    screen.wait_for(lambda text: "that is all" in text and "to interrupt" not in text)
    return screen.wait_until_idle()


COLOR = r"(?:^|;)(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])(?:;|$)"
MANY_COLORS = r"(?:^|;)[34]8(?:;|$)"
GRAY = r"[34]8;2;(\d+);\1;\1(?=;|$)"


@pytest.mark.parametrize(
    ("env", "allowed", "forbidden"),
    [
        ({"TERM": "linux", "COLORTERM": ""}, "$", MANY_COLORS),
        ({"NO_COLOR": "1"}, GRAY, COLOR),
    ],
    ids=["sixteen colors of linux", "grays for NO_COLOR"],
)
def test_a_terminal_gets_only_the_colors_that_it_supports(
    program: Program, env: dict[str, str], allowed: str, forbidden: str
) -> None:
    program.env.update(env)
    program.script(script(RESPONSE))
    screen = Screen(program, columns=60, lines=16)
    try:
        assert "return 1" in run_turn(screen)
        styles = re.findall(r"\x1b\[([0-9;]*)m", screen.sent)
        assert styles
        assert not [style for style in styles if re.search(forbidden, re.sub(allowed, "", style))]
    finally:
        screen.close()


def test_text_typed_during_the_color_query_is_kept(program: Program) -> None:
    program.script(script(RESPONSE))
    screen = Screen(program, columns=80, lines=24)
    try:
        screen.wait_for(lambda _: "\x1b]11;?" in screen.sent)
        screen.type("fix it")
        screen.wait_for("❯ fix it")
    finally:
        screen.close()


def test_a_key_redraws_few_cells_and_two_hundred_resizes_keep_the_screen_intact(program: Program) -> None:
    program.script(script(RESPONSE))
    screen = Screen(program, columns=80, lines=24)
    try:
        run_turn(screen)
        screen.type("next")
        screen.wait_for("next")
        screen.wait_until_idle()
        before = len(screen.sent)
        screen.type("!")
        screen.wait_for("next!")
        shown = screen.wait_until_idle()
        assert len(screen.sent) - before < 120

        rng = random.Random(7)
        for _ in range(200):
            screen.resize(rng.randint(1, 100), rng.randint(1, 30))
            while screen.has_output_within(within_s=0.002):
                pass
        screen.resize(80, 24)
        screen.wait_for(lambda text: any(len(line) == 80 and line.endswith("╮") for line in text.split("\n")))
        assert screen.wait_until_idle() == shown
    finally:
        screen.close()


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc")
def test_an_idle_program_never_wakes(program: Program) -> None:
    program.script(script(RESPONSE))
    screen = Screen(program, columns=80, lines=24)
    try:
        run_turn(screen)
        for _ in range(20):
            switches = context_switches(screen.pid)
            screen.wait_until_idle(quiet_s=0.5)
            if context_switches(screen.pid) == switches:
                return
        raise AssertionError("threads wake although the program is idle")
    finally:
        screen.close()


def context_switches(pid: int) -> int:
    """Return the number of context switches of all threads of a process."""
    statuses = []
    for thread in Path(f"/proc/{pid}/task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):  # the thread has ended
            statuses.append((thread / "status").read_text())
    return sum(int(count) for text in statuses for count in re.findall(r"ctxt_switches:\s*(\d+)", text))


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs a shell with job control")
def test_suspend_returns_to_the_shell_and_fg_keeps_the_draft(program: Program) -> None:
    program.script(script(RESPONSE))
    program.env["PS1"] = "shell> "
    screen = Screen(program, "--norc", "--noprofile", "-i", binary="bash", columns=80, lines=24)
    try:
        screen.wait_for("shell>")
        screen.type(f"{KIMI_TUI}\r")
        screen.wait_for(PROMPT)
        screen.wait_until_idle()
        screen.type("a thought")
        screen.wait_for("❯ a thought")
        screen.type("\x1bz")
        screen.wait_for(lambda text: "Stopped" in text and "shell>" in text)
        screen.type("echo $((6 * 7)) is the answer\r")
        screen.wait_for("42 is the answer")
        screen.type("fg\r")
        screen.wait_for(lambda text: "❯ a thought" in text and "shell>" not in text)
        screen.type(" more")
        screen.wait_for("❯ a thought more")
    finally:
        screen.close()


def test_suspend_is_refused_without_a_shell(program: Program) -> None:
    program.script(script(RESPONSE))
    screen = Screen(program, columns=80, lines=24)
    try:
        screen.wait_for(PROMPT)
        screen.wait_until_idle()
        screen.type("\x1bz")
        screen.wait_for("Can't suspend kimi-tui")
        assert "that is all" in run_turn(screen)
    finally:
        screen.close()
