"""Linear mode: turns, permission requests, questions, commands and drafts."""

import asyncio
import json
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from kimi_tui.base.content_parts import ImageURLPart, TextPart
from kimi_tui.base.errors import ConfigError, SessionInUse
from kimi_tui.base.message import FunctionCall, ToolCall, ToolCallPart
from kimi_tui.frontend.drafts import Draft, DraftStore
from kimi_tui.frontend.image_attachments import AttachedImage
from kimi_tui.i18n.translate import set_language
from kimi_tui.linear.command_context import SessionSwitch
from kimi_tui.wire.background import BackgroundTask, TasksUpdate
from kimi_tui.wire.commands import Interrupt, MoveToBackground, Prompt, RunShell, RunSlash, SetModel, SetYolo
from kimi_tui.wire.display_blocks import DiffBlock
from kimi_tui.wire.events import (
    ApprovalResponse,
    Notification,
    ReplayBegin,
    ReplayEnd,
    RequestClosed,
    SlashCommandInfo,
    SnapshotProgress,
    StepBegin,
    ToolResult,
    ToolReturn,
    TurnBegin,
    TurnEnd,
)
from kimi_tui.wire.permissions import PermissionList, PermissionRule
from kimi_tui.wire.requests import ApprovalRequest, Proposal, Question, QuestionOption, QuestionRequest
from kimi_tui.wire.session import StatusUpdate
from kimi_tui.wire.timeline import PlannedFile, Reverted, RevertPlan
from tests.loop_clock import LoopClock
from tests.tui.conftest import SESSION
from tests.tui.test_fleet import create_fleet
from tests.wire.hostile_messages import assert_harmless, every_message

EDIT = ApprovalRequest(
    "r1",
    "c1",
    "EditFile",
    "edit file",
    "a.py",
    display=(DiffBlock("a.py", "one\ntwo\n", "one\n2\n", 7, 7),),
    rule="Edit(a.py)",
    proposal=Proposal("one\n2\n", "a.py"),
)
QUESTION = QuestionRequest(
    "q1",
    "c1",
    (
        Question("Which one?", "one", (QuestionOption("red"), QuestionOption("blue", "like the sea"))),
        Question("Which ones?", "many", (QuestionOption("a"), QuestionOption("b")), multi_select=True),
    ),
)


async def test_a_turn_is_printed_in_order_and_the_prompt_follows_it(open_linear_app: Any) -> None:
    async with open_linear_app() as driver:
        await driver.wait_for_prompt()
        driver.lines.type("fix it")
        await driver.wait_until(lambda: driver.commands_of(Prompt) == [Prompt("fix it")])
        driver.engine.send(TurnBegin("fix it"), StepBegin(1), TextPart("I look "), TextPart("at it.\nThen "))
        await driver.wait_until(lambda: "I look at it." in driver.lines.text)
        assert not driver.lines.open_prompts
        driver.engine.send(
            TextPart("I fix it."),
            ToolCall("c1", FunctionCall("Bash", '{"command": "pytest -q"}')),
            ToolResult("c1", ToolReturn(is_error=True, message="exit code 1")),
            TurnEnd(),
        )
        await driver.wait_for_prompt()
        assert driver.output_lines[2:] == [
            "You: fix it",
            "Working. Press ctrl+c to interrupt.",
            "Response: I look at it.",
            "Then I fix it.",
            "Tool running: Bash, pytest -q",
            "Tool failed: Bash, pytest -q. exit code 1",
            "Done. Took 0.0 s.",
            "You: ",
        ]


async def test_a_call_that_runs_on_is_announced_unless_it_asks_first(open_linear_app: Any) -> None:
    async with open_linear_app() as driver:
        await driver.wait_for_prompt()
        driver.lines.type("go")
        await driver.wait_until(lambda: driver.commands_of(Prompt))
        clock = LoopClock()
        driver.engine.send(
            TurnBegin("go"),
            ToolCall("c1", FunctionCall("EditFile", '{"path": "a.py"}')),
            ToolCall("c2", FunctionCall("Bash", '{"command": "make')),
        )
        request_task = asyncio.create_task(driver.engine.ask(EDIT))
        await driver.wait_for_prompt()
        clock.advance(5)
        await asyncio.sleep(0.01)  # the announcement is due, and must not appear in the answer's line
        assert "Tool running" not in driver.lines.text
        driver.lines.type("y")
        await request_task
        driver.engine.send(ApprovalResponse("r1", "approve"), ToolCallPart(' all"}', "c2"))
        await driver.wait_until(lambda: "Tool running: EditFile, a.py" in driver.lines.text)
        clock.advance(5)
        await driver.wait_until(lambda: "Tool running: Bash, make all" in driver.lines.text)
        driver.engine.send(ToolResult("c2", ToolReturn()), ToolResult("c1", ToolReturn()), TurnEnd())
        await driver.wait_until(lambda: "Done." in driver.lines.text)
        assert driver.lines.text.count("Tool running: Bash, make all") == 1


async def test_a_running_command_moves_to_the_background_while_other_lines_wait(open_linear_app: Any) -> None:
    async with open_linear_app() as driver:
        await driver.wait_for_prompt()
        driver.lines.type("go")
        await driver.wait_until(lambda: driver.commands_of(Prompt))
        driver.engine.send(TurnBegin("go"), ToolCall("c1", FunctionCall("Bash", '{"command": "make"}')))
        await driver.wait_until(lambda: "Working." in driver.lines.text)
        driver.lines.type_while_busy("then test")
        driver.lines.type_while_busy("/background")
        await driver.wait_until(lambda: driver.commands_of(MoveToBackground))
        assert len(driver.commands_of(Prompt)) == 1
        driver.engine.send(ToolResult("c1", ToolReturn()), TurnEnd())
        await driver.wait_until(lambda: driver.commands_of(Prompt)[1:] == [Prompt("then test")])


async def test_a_fleet_is_printed_with_its_running_and_failed_tasks(
    open_linear_app: Any, tmp_path: Path
) -> None:
    async with open_linear_app() as driver:
        await driver.wait_for_prompt()
        driver.lines.type("/fleet")
        await driver.wait_until(lambda: "No fleets in this directory." in driver.lines.text)
        with closing(create_fleet(tmp_path / "demo.fleet.db")):
            driver.lines.type(f"/fleet {tmp_path / 'demo.jsonl'}")
            await driver.wait_until(lambda: "3 of 5 done: 2 passed, 1 failed" in driver.lines.text)
            await driver.wait_until(lambda: "rename  " in driver.lines.text)
            await driver.wait_until(lambda: "check  check failed: 2 tests failed" in driver.lines.text)
        driver.lines.type("/fleet missing.jsonl")
        await driver.wait_until(lambda: "No fleet found at" in driver.lines.text)


async def test_no_control_characters_are_written(open_linear_app: Any) -> None:
    async with open_linear_app() as driver:
        await driver.wait_for_prompt()
        driver.engine.send(
            TurnBegin("\x1b[2Jx"),
            TextPart("a\x1b]0;evil\x07b\x9b1m. "),
            ToolCall("c1", FunctionCall("Ba\x1b[1msh", '{"command": "\\u001b[2J"}')),
            ToolResult("c1", ToolReturn(is_error=True, message="\x1b[31mred\r\x07")),
            Notification("n", "session", "x", "engine", "", "\x1b[1mtitle", "\x1b[2Jbody", "warning"),
            TurnEnd(),
        )
        await driver.wait_until(lambda: "Done." in driver.lines.text)
        assert not set(driver.lines.text) & {"\x1b", "\x07", "\x9b", "\r"}


async def test_no_field_of_any_message_contains_control_characters(open_linear_app: Any) -> None:
    async with open_linear_app() as driver:
        await driver.wait_for_prompt()
        for message in every_message():
            driver.engine.send(message)
        driver.engine.send(TurnBegin("the end"))
        await driver.wait_until(lambda: "the end" in driver.lines.text)
        assert_harmless(driver.lines.text)


async def test_a_permission_request_is_answered_with_a_letter(open_linear_app: Any) -> None:
    async with open_linear_app() as driver:
        await driver.wait_for_prompt()
        driver.lines.type("x")
        await driver.wait_until(lambda: driver.commands_of(Prompt))
        driver.engine.send(TurnBegin("x"), ToolCall("c1", FunctionCall("EditFile", '{"path": "a.py"}')))
        request_task = asyncio.create_task(driver.engine.ask(EDIT))
        await driver.wait_for_prompt()
        assert "line 8 removed: two" in driver.output_lines
        assert "line 8 added: 2" in driver.output_lines
        assert "Tool awaiting approval: EditFile, a.py" in driver.output_lines
        driver.lines.type("perhaps", "Y")
        await request_task
        assert driver.engine.answers[0].response == "approve"
        assert "Type one of: y, a, p, n, f, e, s." in driver.lines.text


async def test_a_line_typed_after_a_request_was_closed_is_the_next_prompt(open_linear_app: Any) -> None:
    async with open_linear_app() as driver:
        await driver.wait_for_prompt()
        driver.lines.type("first")
        await driver.wait_until(lambda: driver.commands_of(Prompt))
        driver.engine.send(TurnBegin("first"), ToolCall("c1", FunctionCall("EditFile", "{}")))
        request_task = asyncio.create_task(driver.engine.ask(EDIT))
        await driver.wait_for_prompt()
        driver.engine.send(RequestClosed(EDIT.id), TurnEnd("cancelled"))
        await driver.wait_until(lambda: "The request was closed." in driver.lines.text)
        driver.lines.type("second")
        await driver.wait_until(lambda: len(driver.commands_of(Prompt)) == 2)
        assert driver.commands_of(Prompt)[-1].user_input == "second"
        assert not driver.engine.answers
        request_task.cancel()


async def test_the_answers_to_a_request_are_not_part_of_the_prompt(open_linear_app: Any) -> None:
    async with open_linear_app() as driver:
        await driver.wait_for_prompt()
        driver.lines.type("x")
        await driver.wait_until(lambda: driver.commands_of(Prompt))
        driver.engine.send(TurnBegin("x"))
        request_task = asyncio.create_task(driver.engine.ask(EDIT))
        await driver.wait_for_prompt()
        # The prompt is printed again after a line that appears above it, such as another request.
        assert driver.lines.text.endswith("\nAnswer: ")
        assert any(line.startswith("y: Yes; a: ") for line in driver.output_lines)
        driver.lines.type("y")
        await request_task


async def test_a_rejection_can_include_feedback(open_linear_app: Any) -> None:
    async with open_linear_app() as driver:
        await driver.wait_for_prompt()
        driver.engine.send(TurnBegin("x"))
        request_task = asyncio.create_task(driver.engine.ask(EDIT))
        await driver.wait_until(lambda: "Press enter to read it." in driver.lines.text)
        driver.lines.type("", "f", "use three")
        await request_task
        [answer] = driver.engine.answers
        assert (answer.response, answer.feedback) == ("reject", "use three")


@pytest.mark.parametrize(("line", "rule"), [("", None), ("Edit(src/**)", "Edit(src/**)")])
async def test_the_rule_of_always_can_be_edited(open_linear_app: Any, line: str, rule: str | None) -> None:
    async with open_linear_app() as driver:
        await driver.wait_for_prompt()
        driver.engine.send(TurnBegin("x"))
        request_task = asyncio.create_task(driver.engine.ask(EDIT))
        await driver.wait_until(lambda: "Press enter to read it." in driver.lines.text)
        driver.lines.type("", "p", line)
        await request_task
        [answer] = driver.engine.answers
        assert (answer.response, answer.rule) == ("approve_always", rule)
        assert "Rule (enter to add Edit(" in driver.lines.text


async def test_grants_of_an_earlier_run_are_announced(open_linear_app: Any) -> None:
    async with open_linear_app() as driver:
        await driver.wait_for_prompt()
        rule = PermissionRule(list="allow", rule="Edit(src/**)", source="session", needs_confirmation=True)
        driver.engine.send(PermissionList((rule,), is_question=True))
        await driver.wait_until(lambda: "/permissions confirm" in driver.lines.text)
        assert "You allowed in an earlier run of this session: Edit(src/**)." in driver.lines.text


async def test_pending_lines_never_answer_a_permission_request(open_linear_app: Any) -> None:
    async with open_linear_app() as driver:
        await driver.wait_for_prompt()
        driver.lines.type("x")
        await driver.wait_until(lambda: driver.commands_of(Prompt))
        driver.engine.send(TurnBegin("x"))
        await driver.wait_until(lambda: "Working." in driver.lines.text)
        driver.lines.pending_lines = ["y"]
        request_task = asyncio.create_task(driver.engine.ask(EDIT))
        await driver.wait_for_prompt()
        assert not request_task.done()
        driver.lines.type("n")
        await request_task
        driver.engine.send(TurnEnd("rejected"))
        await driver.wait_until(lambda: len(driver.commands_of(Prompt)) == 2)
        assert driver.commands_of(Prompt)[1] == Prompt("y")


async def test_questions_are_answered_by_number(open_linear_app: Any) -> None:
    async with open_linear_app() as driver:
        await driver.wait_for_prompt()
        driver.lines.type("x")
        await driver.wait_until(lambda: driver.commands_of(Prompt))
        driver.engine.send(TurnBegin("x"))
        request_task = asyncio.create_task(driver.engine.ask(QUESTION))
        await driver.wait_for_prompt()
        assert "2. blue, like the sea" in driver.output_lines
        driver.lines.type("2", "1, 2")
        await request_task
        assert driver.engine.answers[0].answers == {"Which one?": "blue", "Which ones?": "a, b"}


async def test_the_question_of_a_goal_is_translated_and_its_answer_is_not(open_linear_app: Any) -> None:
    question = Question("Does the goal count as reached?", "Goal", (QuestionOption("Accept these changes"),))
    set_language("zh")
    try:
        async with open_linear_app() as driver:
            await driver.wait_for_prompt()
            driver.lines.type("x")
            await driver.wait_until(lambda: driver.commands_of(Prompt))
            driver.engine.send(TurnBegin("x"))
            request_task = asyncio.create_task(driver.engine.ask(QuestionRequest("q1", "", (question,))))
            await driver.wait_for_prompt()
            assert "1. 接受这些更改" in driver.output_lines
            driver.lines.type("1")
            await request_task
            assert driver.engine.answers[0].answers == {question.question: "Accept these changes"}
    finally:
        set_language("en")


async def test_ctrl_c_interrupts_a_turn_and_quits_if_pressed_twice_at_the_prompt(
    open_linear_app: Any,
) -> None:
    async with open_linear_app() as driver:
        await driver.wait_for_prompt()
        driver.lines.type("x")
        await driver.wait_until(lambda: driver.commands_of(Prompt))
        driver.engine.send(TurnBegin("x"))
        await driver.wait_until(lambda: "Working." in driver.lines.text)
        driver.app.interrupt()
        await driver.wait_until(lambda: driver.commands_of(Interrupt))
        driver.engine.send(TurnEnd("cancelled"))
        await driver.wait_for_prompt()
        driver.app.interrupt()
        assert "again to quit" in driver.lines.text
        assert not driver.run_task.done()
        driver.app.interrupt()
        assert await driver.run_task is None


async def test_the_end_of_the_input_quits(open_linear_app: Any) -> None:
    async with open_linear_app() as driver:
        await driver.wait_for_prompt()
        driver.lines.type(None)
        assert await driver.run_task is None
        assert driver.lines.text.endswith("(closed)")


async def test_a_resumed_session_prints_its_last_turn_and_the_transcript_on_request(
    open_linear_app: Any,
) -> None:
    async with open_linear_app() as driver:
        await driver.wait_for_prompt()
        driver.engine.send(
            ReplayBegin(),
            *(TurnBegin("first"), TextPart("One."), TurnEnd()),
            *(TurnBegin("second"), TextPart("Two."), TurnEnd()),
            ReplayEnd(),
        )
        await driver.wait_until(lambda: "Response: Two." in driver.lines.text)
        assert "2 prompts" in driver.lines.text
        assert "One." not in driver.lines.text
        driver.lines.type("/transcript")
        await driver.wait_until(lambda: "Response: One." in driver.lines.text)
        assert "You: first" in driver.output_lines


async def test_commands_run_here_or_in_the_engine_and_unknown_ones_get_suggestions(
    open_linear_app: Any,
) -> None:
    async with open_linear_app() as driver:
        await driver.wait_for_prompt()
        driver.lines.type("/yolo on", "/model opus", "/title my shop", "/titel", "!ls", "/tmp/x is a path")
        await driver.wait_until(lambda: driver.commands_of(Prompt))
        assert driver.commands_of(SetYolo) == [SetYolo(True)]
        assert driver.commands_of(SetModel) == [SetModel("opus")]
        assert driver.commands_of(RunSlash) == [RunSlash("title my shop")]
        assert [command.command for command in driver.commands_of(RunShell)] == ["ls"]
        assert "Unknown command: /titel. Did you mean /title" in driver.lines.text


async def test_a_revert_is_previewed_and_runs_after_confirmation(open_linear_app: Any) -> None:
    session = replace(SESSION, slash_commands=(SlashCommandInfo("revert", "Revert to a checkpoint"),))
    async with open_linear_app(session=session) as driver:
        await driver.wait_for_prompt()
        driver.lines.type("/revert 3", "n", "/revert 3", "what?", "y")
        await driver.wait_until(lambda: len(driver.commands_of(RunSlash)) == 3)
        assert driver.lines.text.count("Nothing changed.") == 1
        assert driver.lines.text.count("Type one of: y, n.") == 1
        assert [command.line for command in driver.commands_of(RunSlash)] == [
            "revert 3 --dry-run",
            "revert 3 --dry-run",
            "revert 3",
        ]


async def test_a_plan_and_its_result_name_where_a_replaced_version_is_saved(open_linear_app: Any) -> None:
    file = PlannedFile("a.py", "conflict", removed=1, ticked=False, is_saved=True)
    async with open_linear_app() as driver:
        await driver.wait_for_prompt()
        driver.engine.send(RevertPlan(3, "user", (file,), saved_in=8))
        driver.engine.send(Reverted(3, 8, "user", files=("a.py",), scope="files", saved=("a.py",)))
        restore = "/revert 8 files --only"
        await driver.wait_until(lambda: f"{restore} a.py" in driver.lines.text)
        assert (
            f"it is saved in checkpoint 8. /diff 8 shows it, {restore} FILE restores it." in driver.lines.text
        )


@pytest.mark.parametrize(
    ("line", "plan"),
    [
        ("switch 2", "switch 2 --dry-run"),
        ("note 3 use the --dry-run option", "revert 3 --dry-run"),
    ],
)
async def test_the_plan_of_a_switch_and_a_note_is_printed_first(
    open_linear_app: Any, line: str, plan: str
) -> None:
    commands = tuple(SlashCommandInfo(name, "") for name in ("switch", "note"))
    async with open_linear_app(session=replace(SESSION, slash_commands=commands)) as driver:
        await driver.wait_for_prompt()
        driver.lines.type(f"/{line}")
        driver.lines.type("y")
        await driver.wait_until(lambda: len(driver.commands_of(RunSlash)) == 2)
        assert [command.line for command in driver.commands_of(RunSlash)] == [plan, line]


async def test_ctrl_c_cancels_a_revert_that_is_scanning_files(open_linear_app: Any) -> None:
    session = replace(SESSION, slash_commands=(SlashCommandInfo("revert", "Revert to a checkpoint"),))
    async with open_linear_app(session=session) as driver:
        await driver.wait_for_prompt()
        driver.engine.command_done = asyncio.get_running_loop().create_future()
        driver.lines.type("/revert 3")
        await driver.wait_until(lambda: driver.commands_of(RunSlash))
        driver.engine.send(SnapshotProgress(1, 9), SnapshotProgress(2, 9))
        await driver.wait_until(lambda: "Scanning files. Press ctrl+c to cancel." in driver.output_lines)
        driver.app.interrupt()
        await driver.wait_until(lambda: driver.commands_of(Interrupt))
        driver.engine.command_done.set_result(None)
        await driver.wait_for_prompt()
        assert driver.output_lines.count("Scanning files. Press ctrl+c to cancel.") == 1
        assert [command.line for command in driver.commands_of(RunSlash)] == ["revert 3 --dry-run"]
        assert "Continue?" not in driver.lines.text


async def test_a_backslash_continues_on_the_next_line(open_linear_app: Any) -> None:
    async with open_linear_app() as driver:
        driver.lines.type("one\\", "two")
        await driver.wait_until(lambda: driver.commands_of(Prompt) == [Prompt("one\ntwo")])


async def test_an_initial_prompt_is_sent_automatically(open_linear_app: Any) -> None:
    async with open_linear_app(prompts=("fix it",)) as driver:
        await driver.wait_until(lambda: driver.commands_of(Prompt) == [Prompt("fix it")])


async def test_a_session_in_use_can_be_opened_read_only_or_forked(open_linear_app: Any) -> None:
    error = SessionInUse("The session is in use.", session_id="s9", hint="")
    async with open_linear_app(error=error) as driver:
        driver.lines.type("1")
        assert await driver.run_task == SessionSwitch("s9", read_only=True)
    async with open_linear_app(error=error) as driver:
        driver.lines.type("2")
        assert await driver.run_task == SessionSwitch("s9", fork=True)


async def test_an_error_while_opening_is_raised(open_linear_app: Any) -> None:
    async with open_linear_app(error=ConfigError("The config is broken.", hint="Fix it.")) as driver:
        with pytest.raises(ConfigError):
            await driver.run_task


async def test_a_user_who_has_not_typed_for_a_minute_is_notified(
    open_linear_app: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TERM_PROGRAM", raising=False)
    monkeypatch.setenv("TERM", "dumb")
    async with open_linear_app() as driver:
        await driver.wait_for_prompt()
        driver.lines.type("quick")
        await driver.wait_until(lambda: driver.commands_of(Prompt))
        driver.engine.send(TurnBegin("quick"), TurnEnd())
        await driver.wait_for_prompt()
        assert driver.lines.control_sequences == []
        driver.lines.type("slow")
        await driver.wait_until(lambda: len(driver.commands_of(Prompt)) == 2)
        driver.clock.now += 60
        driver.engine.send(TurnBegin("slow"), EDIT)
        await driver.wait_for_prompt()
        assert driver.lines.control_sequences == ["\a"]
        driver.lines.type("y")
        await driver.wait_until(lambda: not driver.app.state.requests)
        driver.engine.send(TurnEnd())
        await driver.wait_for_prompt()
        assert driver.lines.control_sequences == ["\a"]  # answering showed that the user is present


async def test_a_multi_line_notification_starts_below_its_title(open_linear_app: Any) -> None:
    async with open_linear_app() as driver:
        await driver.wait_for_prompt()
        driver.engine.send(
            Notification("n", "session", "", "", "", "Checkpoints", "    1  one\n    0  two", "info")
        )
        await driver.wait_until(lambda: "two" in driver.lines.text)
        assert "Checkpoints\n    1  one\n    0  two\n" in driver.lines.text


def stored_drafts(data_dir: Path) -> list[str]:
    """Return the texts of the drafts on disk."""
    texts = []
    for file in data_dir.glob("drafts/*.json"):
        with suppress(FileNotFoundError):
            texts.append(json.loads(file.read_bytes())["text"])
    return texts


async def test_unsent_input_is_on_disk_until_the_engine_has_recorded_it(
    open_linear_app: Any, tmp_path: Path
) -> None:
    data_dir = tmp_path / "data"
    async with open_linear_app() as driver:
        await driver.wait_for_prompt()
        driver.lines.start_typing("one and a ha")
        await driver.wait_until(lambda: stored_drafts(data_dir) == ["one and a ha"])
        driver.lines.type("one\\")
        await driver.wait_until(lambda: driver.lines.text.endswith("more: "))
        driver.lines.start_typing("tw")
        await driver.wait_until(lambda: stored_drafts(data_dir) == ["one\ntw"])
        driver.lines.type("two")
        await driver.wait_until(lambda: driver.commands_of(Prompt))
        await driver.wait_until(lambda: stored_drafts(data_dir) == ["one\ntwo"])
        driver.lines.pending_lines = ["three"]
        driver.engine.send(TurnBegin("one\ntwo"), StepBegin(1), TurnEnd())
        await driver.wait_until(lambda: len(driver.commands_of(Prompt)) == 2)
        await driver.wait_until(lambda: stored_drafts(data_dir) == ["three"])
        driver.engine.send(TurnBegin("three"), StepBegin(1), TurnEnd())
        await driver.wait_for_prompt()
        await driver.wait_until(lambda: stored_drafts(data_dir) == [])
        driver.lines.type("/help")
        await driver.wait_until(lambda: "/output" in driver.lines.text and driver.lines.open_prompts)
        await driver.wait_until(lambda: stored_drafts(data_dir) == [])
        driver.lines.start_typing("not yet")
    assert stored_drafts(data_dir) == ["not yet"]


async def test_files_dragged_onto_the_terminal_are_attached_to_the_next_prompt(
    open_linear_app: Any, tmp_path: Path
) -> None:
    for name in ("red pic.png", "blue.png"):
        Image.new("RGB", (4, 2), "red").save(tmp_path / name)
    async with open_linear_app(session=replace(SESSION, capabilities=("image_in",))) as driver:
        await driver.wait_for_prompt()
        driver.lines.type(f"'{tmp_path / 'red pic.png'}' file://{tmp_path}/blue.png")
        await driver.wait_until(
            lambda: (
                "Attached to the next prompt: [image #1 4x2] [image #2 4x2]" in driver.output_lines
                and driver.lines.open_prompts
            )
        )
        assert driver.commands_of(Prompt) == []
        driver.lines.type("compare them")
        await driver.wait_until(lambda: driver.commands_of(Prompt))
        [prompt] = driver.commands_of(Prompt)
        assert [type(part) for part in prompt.user_input] == [TextPart, ImageURLPart, ImageURLPart]


async def test_a_draft_of_a_dead_process_is_restored_with_its_image(
    open_linear_app: Any, tmp_path: Path, dead_pid: int
) -> None:
    image = AttachedImage(data=b"pixels", media_type="image/png", size=(2, 1))
    dead = DraftStore(data_dir=tmp_path / "data", work_dir=tmp_path, pid=dead_pid)
    dead.save(Draft("see [image #1 2x1] and [paste #1 +2 lines]", {1: "a\nb"}))
    dead.save_image(1, image)
    async with open_linear_app(session=replace(SESSION, capabilities=("image_in",))) as driver:
        await driver.wait_for_prompt()
        assert (
            "Your unsent draft was restored. Press enter to send it or ctrl+u to clear it."
            in driver.output_lines
        )
        assert driver.lines.current_text == "see [image #1 2x1] and a\nb"
        driver.engine.send(Notification("n", "session", "", "", "", "something else", "", "info"))
        await driver.wait_until(lambda: "something else" in driver.lines.text)
        await driver.wait_until(lambda: stored_drafts(tmp_path / "data") == ["see [image #1 2x1] and a\nb"])
        driver.lines.type(driver.lines.current_text)
        await driver.wait_until(lambda: driver.commands_of(Prompt))
        [prompt] = driver.commands_of(Prompt)
        assert [part.image_url.url for part in prompt.user_input if isinstance(part, ImageURLPart)] == [
            image.url
        ]


async def test_prompts_after_a_session_switch_are_kept_for_the_next_session(open_linear_app: Any) -> None:
    async with open_linear_app(prompts=("/new", "fix it")) as driver:
        assert await driver.run_task == SessionSwitch()
        assert driver.app.queued_prompts == ("fix it",)


async def test_quitting_asks_before_it_stops_background_tasks_and_names_them_once(
    open_linear_app: Any,
) -> None:
    task = BackgroundTask("bash-1", "bash", "build", "make")
    async with open_linear_app() as driver:
        await driver.wait_for_prompt()
        driver.engine.send(TasksUpdate((task,)), StatusUpdate(context_tokens=5))
        driver.lines.type(None)
        await driver.wait_until(lambda: "Quit and stop 1 background task? y or n: " in driver.lines.text)
        driver.lines.type("n", "/exit")
        await driver.wait_until(lambda: driver.lines.text.count("Quit and stop 1 background task?") == 2)
        driver.lines.type("y")
        await driver.run_task
        assert "Resume: kimi-tui -r " in driver.output_lines[-2]
        assert driver.output_lines[-2].endswith("1 background task stopped: build")


async def test_the_end_of_the_input_quits_although_tasks_are_running(open_linear_app: Any) -> None:
    task = BackgroundTask("bash-1", "bash", "build", "make")
    async with open_linear_app() as driver:
        await driver.wait_for_prompt()
        driver.engine.send(TasksUpdate((task,)))
        driver.lines.type(None, None)
        await driver.run_task


async def test_help_lists_the_commands_of_a_topic(open_linear_app: Any) -> None:
    async with open_linear_app() as driver:
        await driver.wait_for_prompt()
        driver.lines.type("/help models")
        await driver.wait_until(lambda: "/thinking: Set how much the model thinks." in driver.lines.text)
        assert "/exit:" not in driver.lines.text
        driver.lines.type("/help cooking")
        await driver.wait_until(lambda: "“cooking” not found" in driver.lines.text)
        assert "of a topic: conversation, prompt," in driver.lines.text
