"""Text output: responses on stdout, everything else on stderr."""

import pytest

from kimi_tui.base.content_parts import TextPart, ThinkPart
from kimi_tui.base.message import FunctionCall, ToolCall, ToolCallPart
from kimi_tui.headless.stderr_notices import StderrNotices
from kimi_tui.headless.text_printer import TextPrinter
from kimi_tui.wire.display_blocks import BriefBlock
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


async def test_the_response_is_printed_with_a_final_newline(run):
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


async def test_a_denied_call_is_reported_once(run):
    request = ApprovalRequest("a", "1", "Bash", "run command", "rm -rf build")
    await run.play([STEP, TextPart("Hm"), call("1"), request, result("1", is_error=True, message="rejected")])
    assert run.stdout.text == "Hm\n"
    (line,) = run.stderr.text.splitlines()
    assert line.startswith("Denied: Bash asked to run command (rm -rf build)")


async def test_escape_sequences_are_removed_even_if_they_are_split(run):
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


async def test_final_only_prints_the_last_message(run):
    turn = [STEP, TextPart("First."), call("1"), result("1"), StepBegin(2), TextPart("La"), TextPart("st.")]
    await run.play(turn, final_only=True)
    assert run.stdout.text == "Last.\n"


async def test_a_retry_ends_the_line_and_invalidates_the_partial_response(run):
    await run.play(
        [STEP, TextPart("Half"), StepRetry(1, 2, 3, 1.5, "APIStatusError", 503), TextPart("Whole.")]
    )
    assert run.stdout.text == "Half\nWhole.\n"
    assert "HTTP 503" in run.stderr.text
    assert "attempt 2 of 3" in run.stderr.text
    assert "Ignore the partial response" in run.stderr.text


async def test_final_only_omits_a_failed_attempt(run):
    turn = [STEP, TextPart("Half"), StepRetry(1, 2, 3, 1.5, "APITimeoutError"), TextPart("Whole.")]
    await run.play(turn, final_only=True)
    assert run.stdout.text == "Whole.\n"


async def test_a_replay_is_not_printed(run):
    replay = [SESSION, ReplayBegin(), TurnBegin("x"), STEP, TextPart("old"), TurnEnd(), ReplayEnd()]
    await run.play([STEP, TextPart("new")], opening=replay)
    assert run.stdout.text == "new\n"


@pytest.mark.parametrize(
    ("title", "line"),
    [("It was fixed.", "It was fixed. One line."), ("The journal", "The journal: One line.")],
)
async def test_warnings_are_printed_on_stderr(run, title, line):
    warning = Notification("1", "session", "notice", "engine", "", title, "One line.", "warning")
    await run.play([STEP, TextPart("ok")], opening=[SESSION, warning])
    assert run.stderr.text == f"Warning: {line}\n"
    assert run.exit_code == 0


async def test_a_compaction_is_reported_with_its_token_counts(run):
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
        "Compacting the conversation.",
        "Conversation compacted from 90,000 to 1,200 tokens.",
        "Compacting the conversation.",
        "Compaction didn't complete.",
    ]


class LaggingStream:
    """A standard output that reaches the terminal only when it is flushed."""

    def __init__(self, terminal: list[str]) -> None:
        self._terminal = terminal
        self._buffered: list[str] = []

    async def write(self, text):
        self._buffered.append(text)

    async def flush(self, *, within_s):
        self._terminal += self._buffered
        self._buffered.clear()


class ImmediateStream(LaggingStream):
    """A standard error that reaches the terminal immediately."""

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
async def test_notices_start_on_a_new_line_on_a_terminal(event):
    terminal: list[str] = []
    printer = TextPrinter(LaggingStream(terminal), StderrNotices(ImmediateStream(terminal)), final_only=False)
    await printer.show(TextPart("Let me look."))
    await printer.show(event)
    first, second, *_ = "".join(terminal).splitlines()
    assert (first, bool(second)) == ("Let me look.", True)
