"""Results and exit codes. Every run writes exactly one result."""

import asyncio
import signal
import threading

import pytest

from kimi_tui.base.content_parts import TextPart
from kimi_tui.base.errors import APIConnectionError, ConfigError, ModelNotSet
from kimi_tui.base.token_usage import TokenUsage
from kimi_tui.headless.options import PrintOptions
from kimi_tui.headless.print_mode import run_print
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.codec import encode, envelope
from kimi_tui.wire.commands import RunSlash
from kimi_tui.wire.display_blocks import DiffBlock
from kimi_tui.wire.events import (
    CheckpointCreated,
    CostUpdate,
    Notification,
    StatusUpdate,
    StepBegin,
    SubagentEvent,
    TurnEnd,
    TurnFailure,
)
from kimi_tui.wire.requests import ApprovalRequest, HookRequest, Question, QuestionRequest, ToolCallRequest
from kimi_tui.wire.timeline import PlannedFile, Reverted, RevertPlan

from .conftest import HANG, IGNORE_INTERRUPT, STEP, call, result


def approval(call_id: str) -> ApprovalRequest:
    return ApprovalRequest(f"a-{call_id}", call_id, "Bash", "run command", "rm -rf build")


def edit(call_id: str, path: str, **fields):
    return result(call_id, display=(DiffBlock(path, "a", "b"),), **fields)


async def test_the_result_counts_what_happened(run):
    await run.play(
        [
            CheckpointCreated(0, "u0", "user", "hello"),
            STEP,
            call("1", "EditFile"),
            edit("1", "a.py"),
            call("2", "EditFile"),
            edit("2", "b.py"),
            call("3", "EditFile"),
            edit("3", "a.py"),
            call("4", "EditFile"),
            edit("4", "failed.py", is_error=True),
            SubagentEvent(envelope(edit("5", "nested.py"))),
            StatusUpdate(session_usage=TokenUsage(10, 20, 5, 0)),
            CheckpointCreated(1, "u1", "step", "step 2"),
            StepBegin(2),
            TextPart("Done."),
            StatusUpdate(session_usage=TokenUsage(30, 40, 6, 1)),
            CostUpdate(0.0125),
        ],
        output_format="json",
    )
    (it,) = run.stdout.objects
    assert it.pop("duration_ms") >= 0
    assert it == {
        "type": "result",
        "outcome": "finished",
        "exit_code": 0,
        "is_error": False,
        "retryable": False,
        "session_id": "s-1",
        "turns": 1,
        "steps": 2,
        "usage": {"input_other": 30, "output": 40, "input_cache_read": 6, "input_cache_creation": 1},
        "cost_usd": 0.0125,
        "denials": [],
        "files_changed": ["a.py", "b.py", "nested.py"],
        "checkpoints": [0, 1],
        "result": "Done.",
    }
    assert run.exit_code == 0


@pytest.mark.parametrize(
    ("end", "code", "outcome"),
    [
        (TurnEnd("max_steps", 5, TurnFailure("Too many steps.", kind="MaxStepsReached")), 3, "max_steps"),
        (TurnEnd("limit", 5, TurnFailure("Too dear.", kind="LimitReached")), 3, "limit"),
        (TurnEnd("failed", 1, TurnFailure("Wrong key.", "Check it.", "APIStatusError", 401)), 1, "failed"),
        (TurnEnd("failed", 1, TurnFailure("Busy.", "", "APIStatusError", 503, True)), 75, "failed"),
        (TurnEnd("failed", 1, TurnFailure("Gone.", "", "APITimeoutError", None, True)), 75, "failed"),
    ],
)
async def test_a_turn_that_ends_early_reports_the_reason(run, end, code, outcome):
    await run.play([STEP, end], output_format="stream-json")
    assert run.exit_code == code
    assert run.result["exit_code"] == code
    assert run.result["outcome"] == outcome
    assert run.result["is_error"]
    assert run.result["retryable"] == (code == 75)
    assert run.result["error"]["what"] == end.failure.what
    assert end.failure.what in run.stderr.text


async def test_permission_requests_are_denied_with_feedback_for_the_model(run):
    await run.play([STEP, call("1"), approval("1"), result("1", is_error=True)], output_format="json")
    (answer,) = run.engine.answers
    assert answer.response == "reject"
    assert "--yolo" in answer.feedback
    assert run.exit_code == 4
    assert run.result["outcome"] == "denied"
    assert run.result["denials"] == [
        {"tool_call_id": "1", "tool": "Bash", "action": "run command", "description": "rm -rf build"}
    ]
    assert "--yolo" in run.stderr.text


async def test_denials_can_be_allowed(run):
    await run.play([STEP, approval("1")], output_format="json", allow_denials=True)
    assert run.exit_code == 0
    assert (run.result["outcome"], len(run.result["denials"])) == ("finished", 1)


async def test_a_denial_by_a_rule_counts_as_well(run):
    denied = result("1", is_error=True, extras={"rejected": True})
    await run.play([STEP, call("1", "WriteFile"), denied], output_format="json")
    assert run.exit_code == 4
    assert run.result["denials"][0]["tool"] == "WriteFile"


async def test_a_limit_takes_precedence_over_a_denial(run):
    end = TurnEnd("max_steps", 5, TurnFailure("Too many steps."))
    await run.play([STEP, approval("1"), end], output_format="json")
    assert run.exit_code == 3


async def test_questions_and_client_tools_are_answered_so_that_nothing_hangs(run):
    await run.play(
        [
            STEP,
            QuestionRequest("q", "1", (Question("Which?", "w", ()),)),
            ToolCallRequest("t", "Foreign"),
            HookRequest("h", "s", "stop", "", {}),
        ]
    )
    question, tool, hook = run.engine.answers
    assert question.answers == {}
    assert tool.return_value.is_error
    assert hook.action == "allow"
    assert run.exit_code == 0


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ModelNotSet("No model is configured.", hint="Set a key."), 1),
        (ConfigError("config.toml, line 1: no.", hint="Fix it."), 1),
        (APIConnectionError("No connection.", hint="Try later."), 75),
        (RuntimeError("a defect"), 1),
    ],
)
@pytest.mark.parametrize("output_format", ["json", "stream-json", "text"])
async def test_an_error_while_opening_the_engine_gives_a_result(run, error, code, output_format):
    async def start():
        raise error

    await run.play([], start=start, output_format=output_format)
    assert run.exit_code == code
    assert str(error).split(".")[0] in run.stderr.text
    if output_format == "text":
        assert run.stdout.text == ""
    else:
        assert len(run.stdout.objects) == 1
        assert run.result["error"]["what"]


@pytest.mark.parametrize(
    ("number", "code", "outcome"),
    [
        (signal.SIGINT, 130, "interrupted"),
        (signal.SIGTERM, 143, "terminated"),
        (signal.SIGHUP, 129, "hung_up"),
    ],
)
async def test_a_signal_stops_the_turn_and_the_result_is_written(run, number, code, outcome):
    async with asyncio.TaskGroup() as group:
        group.create_task(run.play([STEP, TextPart("Half"), HANG], output_format="stream-json"))
        await asyncio.sleep(0)
        await run.engine.hanging.wait()
        run.interruption.request_stop(number)
    assert run.exit_code == code
    assert [line.get("role") or line["type"] for line in run.stdout.objects] == [
        "init",
        "assistant",
        "result",
    ]
    assert (run.result["exit_code"], run.result["outcome"]) == (code, outcome)
    assert run.wire.is_closed


async def test_a_signal_while_reading_stdin_ends_the_run(run):
    class BlockingStdin:
        def __init__(self):
            self.reading = asyncio.Event()
            self.loop = asyncio.get_running_loop()

        def read(self):
            self.loop.call_soon_threadsafe(self.reading.set)
            threading.Event().wait(30)
            return b""

    stdin = BlockingStdin()

    async def stop():
        await stdin.reading.wait()
        run.interruption.request_stop(signal.SIGTERM)

    async with asyncio.TaskGroup() as group:
        group.create_task(stop())
        code = await run_print(
            Wire(),
            PrintOptions(prompt="x", output_format="json"),
            start=lambda: pytest.fail("no session is needed"),
            stdin=stdin,
            stdout=run.stdout,
            stderr=run.stderr,
            interruption=run.interruption,
        )
    assert code == 143
    assert run.result["outcome"] == "terminated"


async def test_slash_commands_run_and_other_text_with_a_slash_goes_to_the_model(run):
    await run.play([], prompt="/reset now")
    assert run.engine.commands[0] == RunSlash("reset now")
    other = type(run)()
    await other.play([STEP, TextPart("It is a folder.")], prompt="/etc/hosts: what is it?")
    assert other.sent == ["/etc/hosts: what is it?"]


LISTED = Notification("1", "session", "notice", "engine", "", "Checkpoints", "1  fix it\n0  hello", "info")
PLAN = RevertPlan(0, "user", (PlannedFile("a.py", "delete", removed=3, note="made"),), ("git push",))
REPLY = """\
Checkpoints
1  fix it
0  hello
Preview: revert to checkpoint 0. Use /revert 0 to apply it.
delete         a.py  +0 −3  (made)
Other effects of these commands are not reverted:
  $ git push
Reverted to checkpoint 0
Files changed: a.py
Files kept: b.py
"""


async def test_replies_to_commands_are_printed_in_every_format(run):
    answers = [LISTED, PLAN, Reverted(0, 3, "user", files=("a.py",), kept=("b.py",))]
    await run.play(answers, prompt="/reset")
    assert run.stdout.text == REPLY
    in_json = type(run)()
    await in_json.play(answers, prompt="/reset", output_format="json")
    assert in_json.result["replies"] == [encode(answer) for answer in answers]
    streamed = type(run)()
    await streamed.play(answers, prompt="/reset", output_format="stream-json")
    replies = [line["reply"] for line in streamed.stdout.objects if line["type"] == "reply"]
    assert replies == [encode(answer) for answer in answers]


async def test_a_slash_command_that_fails_is_an_error(run):
    failed = Notification("1", "session", "notice", "engine", "", "The title is empty.", "Type it.", "error")
    await run.play([failed], prompt="/clear", output_format="json")
    assert run.exit_code == 1
    assert run.result["error"]["what"] == "The title is empty."
    assert run.stderr.text == "The title is empty. Type it.\n"


async def test_a_second_signal_ends_the_run_immediately_with_a_result(run):
    async def interrupt():
        while run.engine is None:
            await asyncio.sleep(0)
        await run.engine.hanging.wait()
        run.interruption.request_stop(signal.SIGINT)
        await asyncio.sleep(0.01)
        run.interruption.request_stop(signal.SIGINT)

    interrupting = asyncio.create_task(interrupt())
    async with asyncio.timeout(8):  # shorter than the timeout for an engine that doesn't exit
        await run.play([STEP, TextPart("half"), IGNORE_INTERRUPT], output_format="stream-json")
    await interrupting
    assert run.exit_code == 130
    assert run.result["outcome"] == "interrupted"
