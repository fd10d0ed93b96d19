"""Text output: the assistant's words on stdout, everything else on stderr."""

import pytest

from kimi_tui.base.content import TextPart, ThinkPart
from kimi_tui.base.message import FunctionCall, ToolCall, ToolCallPart
from kimi_tui.headless.remarks import Remarks
from kimi_tui.headless.text_printer import TextPrinter
from kimi_tui.wire.display import BriefBlock
from kimi_tui.wire.events import (
    CompactionBegin,
    CompactionEnd,
    Notification,
    ReplayBegin,
    ReplayEnd,
    StepBegin,
    StepRetry,
    TurnBegin,
    TurnEnd,
)
from kimi_tui.wire.requests import ApprovalRequest

from .conftest import SESSION, STEP, call, result


async def test_the_words_go_to_stdout_and_end_in_a_newline(run):
    await run.play([STEP, ThinkPart("hm"), TextPart("Hel"), TextPart("lo"), TextPart(" 世界")])
    assert run.stdout.text == "Hello 世界\n"
    assert run.stderr.text == ""
    assert run.exit_code == 0


async def test_nothing_is_wrapped(run):
    await run.play([STEP, TextPart("word " * 1000)])
    assert run.stdout.text == "word " * 1000 + "\n"


async def test_each_tool_call_is_one_line_on_stderr(run):
    streamed = ToolCall("1", FunctionCall("Bash", ""))
    await run.play(
        [
            STEP,
            TextPart("Let me look."),
            streamed,
            ToolCallPart('{"command": "pytest'),
            ToolCallPart(' -q\\nls"}'),
            result("1", display=(BriefBlock("2 passed"),)),
            StepBegin(2),
            call("2", "ReadFile", path="a.py"),
            result("2", is_error=True, message="There is no a.py."),
            StepBegin(3),
            TextPart("Done."),
        ]
    )
    assert run.stdout.text == "Let me look.\nDone.\n"
    assert run.stderr.text.splitlines() == [
        "✔ Bash pytest -q ls: 2 passed",
        "✗ ReadFile a.py: There is no a.py.",
    ]


async def test_a_denied_call_is_told_once(run):
    request = ApprovalRequest("a", "1", "Bash", "run command", "rm -rf build")
    await run.play([STEP, TextPart("Hm"), call("1"), request, result("1", is_error=True, message="rejected")])
    assert run.stdout.text == "Hm\n"
    (line,) = run.stderr.text.splitlines()
    assert line.startswith("Denied: Bash asked to run command (rm -rf build)")


async def test_escape_sequences_are_stripped_even_when_they_are_split(run):
    await run.play(
        [
            STEP,
            TextPart("a\x1b[3"),
            ThinkPart("hm"),
            TextPart("1mred\x1b]0;ti"),
            ThinkPart("hm"),
            TextPart("tle\x07!\x1b"),
            call("1", "\x1b[2JBash", command="echo \x1b[31m"),
            result("1", display=(BriefBlock("\x1b]52;c;AAAA\x07ok"),)),
        ]
    )
    assert run.stdout.text == "ared!\n"
    assert run.stderr.text == "✔ Bash echo: ok\n"


async def test_only_the_final_message_on_demand(run):
    turn = [STEP, TextPart("First."), call("1"), result("1"), StepBegin(2), TextPart("La"), TextPart("st.")]
    await run.play(turn, final_only=True)
    assert run.stdout.text == "Last.\n"


async def test_a_retry_ends_the_line_and_says_that_what_came_does_not_count(run):
    await run.play(
        [STEP, TextPart("Half"), StepRetry(1, 2, 3, 1.5, "APIStatusError", 503), TextPart("Whole.")]
    )
    assert run.stdout.text == "Half\nWhole.\n"
    assert "HTTP 503" in run.stderr.text
    assert "attempt 2 of 3" in run.stderr.text
    assert "doesn't count" in run.stderr.text


async def test_only_the_final_message_leaves_a_failed_attempt_out(run):
    turn = [STEP, TextPart("Half"), StepRetry(1, 2, 3, 1.5, "APITimeoutError"), TextPart("Whole.")]
    await run.play(turn, final_only=True)
    assert run.stdout.text == "Whole.\n"


async def test_what_an_earlier_run_of_the_session_said_is_not_printed(run):
    replay = [SESSION, ReplayBegin(), TurnBegin("x"), STEP, TextPart("old"), TurnEnd(), ReplayEnd()]
    await run.play([STEP, TextPart("new")], opening=replay)
    assert run.stdout.text == "new\n"


@pytest.mark.parametrize(
    ("title", "told"),
    [("It was mended.", "It was mended. One line."), ("The journal", "The journal: One line.")],
)
async def test_warnings_are_told_on_stderr(run, title, told):
    warning = Notification("1", "session", "notice", "engine", "", title, "One line.", "warning")
    await run.play([STEP, TextPart("ok")], opening=[SESSION, warning])
    assert run.stderr.text == f"Warning: {told}\n"
    assert run.exit_code == 0


async def test_a_compaction_is_told_with_what_it_saved(run):
    await run.play(
        [
            CompactionBegin(),
            CompactionEnd(90_000, 1_200),
            CompactionBegin(),
            CompactionEnd(),
            STEP,
            TextPart("x"),
        ]
    )
    assert run.stderr.text.splitlines() == [
        "Compacting the context.",
        "The context is compacted: 90,000 to 1,200 tokens.",
        "Compacting the context.",
        "The context stays as it was.",
    ]


class Lagging:
    """Standard output of a terminal that shows a text only once somebody waits for that."""

    def __init__(self, terminal: list[str]) -> None:
        self._terminal = terminal
        self._on_the_way: list[str] = []

    async def write(self, text):
        self._on_the_way.append(text)

    async def settle(self, *, within_s):
        self._terminal += self._on_the_way
        self._on_the_way.clear()


class AtOnce(Lagging):
    """Standard error, which that terminal shows at once."""

    async def write(self, text):
        self._terminal.append(text)


@pytest.mark.parametrize(
    "event",
    [
        ApprovalRequest("a", "1", "Bash", "run command", "ls"),
        StepRetry(1, 2, 3, 0.5, "timeout"),
        CompactionBegin(),
    ],
    ids=lambda event: type(event).__name__,
)
async def test_what_is_remarked_begins_a_line_of_its_own_on_a_terminal(event):
    terminal: list[str] = []
    printer = TextPrinter(Lagging(terminal), Remarks(AtOnce(terminal)), final_only=False)
    await printer.show(TextPart("Let me look."))
    await printer.show(event)
    first, second, *_ = "".join(terminal).splitlines()
    assert (first, bool(second)) == ("Let me look.", True)
