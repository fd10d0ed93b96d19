"""The result, its exit code, and that there is exactly one whatever happens."""

import asyncio
import signal
import threading

import pytest

from kimi_tui.base.content import TextPart
from kimi_tui.base.errors import APIConnectionError, ConfigError, ModelNotSet
from kimi_tui.base.usage import TokenUsage
from kimi_tui.headless.options import PrintOptions
from kimi_tui.headless.print_mode import run_print
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.codec import encode, envelope
from kimi_tui.wire.commands import RunSlash
from kimi_tui.wire.display import DiffBlock
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

from .conftest import DEAF, HANG, STEP, call, result


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
async def test_a_turn_that_ends_early_says_why(run, end, code, outcome):
    await run.play([STEP, end], output_format="stream-json")
    assert run.exit_code == code
    assert run.result["exit_code"] == code
    assert run.result["outcome"] == outcome
    assert run.result["is_error"]
    assert run.result["retryable"] == (code == 75)
    assert run.result["error"]["what"] == end.failure.what
    assert end.failure.what in run.stderr.text


async def test_what_needs_an_approval_is_denied_and_the_model_is_told_why(run):
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


async def test_denials_may_be_allowed(run):
    await run.play([STEP, approval("1")], output_format="json", allow_denials=True)
    assert run.exit_code == 0
    assert (run.result["outcome"], len(run.result["denials"])) == ("finished", 1)


async def test_a_denial_by_a_rule_counts_too(run):
    denied = result("1", is_error=True, extras={"rejected": True})
    await run.play([STEP, call("1", "WriteFile"), denied], output_format="json")
    assert run.exit_code == 4
    assert run.result["denials"][0]["tool"] == "WriteFile"


async def test_a_limit_counts_more_than_a_denial(run):
    end = TurnEnd("max_steps", 5, TurnFailure("Too many steps."))
    await run.play([STEP, approval("1"), end], output_format="json")
    assert run.exit_code == 3


async def test_questions_and_foreign_tools_get_an_answer_so_that_nothing_hangs(run):
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
        (ConfigError("config.toml, line 1: no.", hint="Mend it."), 1),
        (APIConnectionError("No way there.", hint="Try later."), 75),
        (RuntimeError("a defect"), 1),
    ],
)
@pytest.mark.parametrize("output_format", ["json", "stream-json", "text"])
async def test_an_engine_that_does_not_open_gives_a_result_too(run, error, code, output_format):
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
async def test_a_signal_stops_the_turn_and_still_gives_the_result(run, number, code, outcome):
    async with asyncio.TaskGroup() as group:
        group.create_task(run.play([STEP, TextPart("Half"), HANG], output_format="stream-json"))
        await asyncio.sleep(0)
        await run.engine.hanging.wait()
        run.interruption.stop(number)
    assert run.exit_code == code
    assert [line.get("role") or line["type"] for line in run.stdout.objects] == [
        "init",
        "assistant",
        "result",
    ]
    assert (run.result["exit_code"], run.result["outcome"]) == (code, outcome)
    assert run.wire.closed


async def test_a_signal_while_stdin_is_awaited_ends_the_run(run):
    class Never:
        def __init__(self):
            self.reading = asyncio.Event()
            self.loop = asyncio.get_running_loop()

        def read(self):
            self.loop.call_soon_threadsafe(self.reading.set)
            threading.Event().wait(30)
            return b""

    stdin = Never()

    async def stop():
        await stdin.reading.wait()
        run.interruption.stop(signal.SIGTERM)

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


async def test_a_slash_command_of_the_engine_is_run_and_other_slashes_go_to_the_model(run):
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
Going back to checkpoint 0: /revert 0 does it. Nothing has been done yet.
delete         a.py  +0 −3  (made)
What these commands did elsewhere stays:
  $ git push
Went to checkpoint 0.
Files changed: a.py
Left as they are: b.py
"""


async def test_what_a_command_of_the_engine_answers_is_printed_in_every_format(run):
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
    failed = Notification(
        "1", "session", "notice", "engine", "", "A title needs a name.", "Type it.", "error"
    )
    await run.play([failed], prompt="/clear", output_format="json")
    assert run.exit_code == 1
    assert run.result["error"]["what"] == "A title needs a name."
    assert run.stderr.text == "A title needs a name. Type it.\n"


async def test_a_second_signal_waits_for_nothing_and_the_result_is_there(run):
    async def interrupt():
        while run.engine is None:
            await asyncio.sleep(0)
        await run.engine.hanging.wait()
        run.interruption.stop(signal.SIGINT)
        await asyncio.sleep(0.01)
        run.interruption.stop(signal.SIGINT)

    interrupting = asyncio.create_task(interrupt())
    async with asyncio.timeout(8):  # less than it would wait for an engine that doesn't end
        await run.play([STEP, TextPart("half"), DEAF], output_format="stream-json")
    await interrupting
    assert run.exit_code == 130
    assert run.result["outcome"] == "interrupted"
