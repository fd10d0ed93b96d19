"""Plan mode: rejected calls, approval of plans, and notes for the model."""

import json
from pathlib import Path
from typing import Any

import pytest

from kimi_tui.base.json_codec import from_jsonable
from kimi_tui.base.message import Message
from kimi_tui.config.settings import PermissionSettings
from kimi_tui.tools.plan.exit_plan_mode import ACCEPT_EDITS, ASK_FOR_EDITS, KEEP_PLANNING, QUESTION
from kimi_tui.wire.commands import Prompt, RunSlash, SetAcceptEdits, SetPlanMode, Steer
from kimi_tui.wire.events import (
    PlanDisplay,
    SessionInfo,
    StatusUpdate,
    SteerInput,
    StepBegin,
    ToolResult,
    TurnEnd,
)
from kimi_tui.wire.requests import ApprovalRequest, QuestionRequest, QuestionResponse
from tests.engine.fake_front_end import FakeFrontEnd, SessionEnv, bash, call, script, write
from tests.engine.subagent_scripts import script_for, task_call, write_agent_files

ALL_ALLOWED = PermissionSettings(allow=("Bash(git diff *)", "Bash(rm *)", "Bash(echo *)", "Edit(**)"))


def plan_file(home: SessionEnv) -> Path:
    return home.data_dir / "plans" / f"{home.session_dir.name}.md"


def notes(home: SessionEnv) -> list[str]:
    """Return the beginnings of the notes about plan mode that the model got."""
    messages = [json.loads(line) for line in home.journal.splitlines() if '"role":"user"' in line]
    texts = [from_jsonable(Message, message).text for message in messages]
    return [text.removeprefix("<system>")[:21] for text in texts if text.startswith("<system>Plan mode")]


async def answer(front: FakeFrontEnd, text: str, **more: Any) -> None:
    """Answer the next question."""
    request = await front.wait_for(QuestionRequest)
    answers = {request.questions[0].question: text} if text else {}
    assert front.wire.answer(QuestionResponse(request.id, answers, **more))


async def answer_and_end_turn(front: FakeFrontEnd, text: str) -> TurnEnd:
    """Answer the turn's request to approve its plan with `text`, and wait until the turn has ended."""
    await answer(front, text)
    return await front.wait_for(TurnEnd)


# rejected calls


async def test_plan_mode_rejects_changes_even_if_everything_is_allowed(home: SessionEnv) -> None:
    home.script(
        script(write("c1", "a.txt"), bash("c2", "rm b.txt"), bash("c3", "echo x > c.txt")),
        script(call("c4", "EditFile", path="b.txt", edit={"old": "b", "new": "c"})),
        "text: I see",
    )
    home.file("b.txt").write_text("b\n")
    async with home.open_session(
        plan=True, yolo=True, settings=home.settings(permissions={**dict(ALL_ALLOWED), "run_first": False})
    ) as front:
        end = await front.turn("change it all")
        assert end.outcome == "finished"
        assert front.of(ApprovalRequest) == []
        results = front.results
        assert all(results[name].return_value.is_error for name in ("c1", "c2", "c3", "c4"))
        assert "Plan mode is on" in results["c2"].return_value.message
        assert str(plan_file(home)) in results["c1"].return_value.message
    assert sorted(path.name for path in home.work_dir.iterdir()) == ["b.txt"]
    assert home.file("b.txt").read_text() == "b\n"


async def test_plan_mode_allows_reading(home: SessionEnv) -> None:
    home.file("b.txt").write_text("b\n")
    home.script(
        script(
            call("c1", "ReadFile", path="b.txt"), bash("c2", "cat b.txt | wc -l"), call("c3", "LS", path=".")
        ),
        "text: I see",
    )
    async with home.open_session(plan=True, yolo=True) as front:
        await front.turn("look")
        assert not any(result.return_value.is_error for result in front.results.values())


async def test_a_command_that_reads_still_requires_approval(home: SessionEnv) -> None:
    home.script(bash("c1", "cat .env"), "text: well")
    async with home.open_session(plan=True) as front:
        front.send(Prompt("look"))
        front.answer(await front.next_approval_request(), "reject", "leave it")
        await front.wait_for(TurnEnd)
        assert front.results["c1"].return_value.is_error


async def test_a_call_awaiting_approval_when_plan_mode_starts_is_rejected(home: SessionEnv) -> None:
    home.script(write("c1", "a.txt"), "text: well")
    async with home.open_session() as front:
        front.send(Prompt("write"))
        request = await front.next_approval_request()
        front.send(SetPlanMode(True))
        await front.wait_for(StatusUpdate, where=lambda status: status.plan_mode is True)
        front.answer(request, "approve")
        end = await front.wait_for(TurnEnd)
        assert end.outcome == "finished"
        assert "Plan mode is on" in front.results["c1"].return_value.message
    assert not home.file("a.txt").exists()


async def test_only_the_plan_file_can_be_written_without_approval(home: SessionEnv) -> None:
    async with home.open_session(plan=True) as front:
        await front.turn("begin")  # there is no script, so the turn fails, but the session is saved
        plan = plan_file(home)
    home.script(
        script(
            write("c1", str(plan), "# Plan\n"),
            write("c2", str(plan) + ".md", "no"),
            write("c3", str(plan.parent / ".." / "config.toml"), "no"),
        ),
        "text: written",
    )
    async with home.open_session(continue_last=True) as front:
        await front.turn("plan it")
        assert front.of(ApprovalRequest) == []
        assert plan.read_text() == "# Plan\n"
        assert front.results["c2"].return_value.is_error
        assert front.results["c3"].return_value.is_error
        front.send(SetPlanMode(False))
        await front.wait_for(StatusUpdate, where=lambda status: status.plan_mode is False)
    home.script(write("c4", str(plan), "# Other\n"))
    async with home.open_session(continue_last=True) as front:
        front.send(Prompt("again"))
        # Without plan mode, the plan is a file like any other in the data directory.
        request = await front.next_approval_request()
        assert request.danger is not None
        front.answer(request, "reject")
        await front.wait_for(TurnEnd)


@pytest.mark.parametrize("in_background", [False, True])
async def test_plan_mode_applies_to_sub_agents(home: SessionEnv, in_background: bool) -> None:
    agent = write_agent_files(home)
    home.script(
        script_for("change it", write("c1", "a.txt"), bash("c2", "ls; touch b.txt"), bash("c3", "ls")),
        script_for("change it", "text: I could only look."),
        script_for("begin", task_call("t1", "change it", run_in_background=in_background)),
        script_for("begin", call("o1", "TaskOutput", task_id="agent-1", block=True))
        if in_background
        else "text: well",
        script_for("begin", "text: well"),
    )
    async with home.open_session(agent_file=agent, plan=True, yolo=True) as front:
        assert (await front.turn("begin")).outcome == "finished"
    assert list(home.work_dir.glob("*.txt")) == []
    (journal,) = home.session_dir.glob("subagents/*/context.jsonl")
    assert "Plan mode is on: make no changes" in journal.read_text()
    results = [line for line in journal.read_text().splitlines() if line.startswith('{"role":"tool"')]
    assert ["Plan mode is on" in result for result in results] == [True, True, False]


async def test_a_symlink_as_the_plan_file_isnt_followed(home: SessionEnv) -> None:
    async with home.open_session(plan=True) as front:
        await front.turn("begin")
        plan = plan_file(home)
    plan.parent.mkdir(exist_ok=True)
    plan.symlink_to(home.file("victim.txt"))
    home.script(write("c1", str(plan), "no"), "text: well")
    async with home.open_session(continue_last=True, yolo=True) as front:
        await front.turn("plan it")
        assert front.results["c1"].return_value.is_error
    assert not home.file("victim.txt").exists()


# approving a plan


def exit_plan_script(*after: str, plan: str = "1. Fix it") -> tuple[str, ...]:
    return (call("c1", "ExitPlanMode", plan=plan), *after)


async def test_approving_the_plan_ends_plan_mode(home: SessionEnv) -> None:
    home.script(*exit_plan_script(write("c2", "a.txt"), "text: done"))
    async with home.open_session(plan=True) as front:
        front.send(Prompt("fix it"))
        shown = await front.wait_for(PlanDisplay)
        assert shown == PlanDisplay("1. Fix it\n", str(plan_file(home)))
        await answer(front, ASK_FOR_EDITS)
        front.answer(await front.next_approval_request(), "approve")
        assert (await front.wait_for(TurnEnd)).outcome == "finished"
        assert front.of(SessionInfo)[-1].plan_mode is False
        assert home.state["plan_mode"] is False
    assert home.file("a.txt").exists()
    assert notes(home) == ["Plan mode is on: the ", "Plan mode is off: you"]


async def test_a_plan_approved_with_accept_edits_allows_only_harmless_edits(home: SessionEnv) -> None:
    home.script(*exit_plan_script(script(write("c2", "a.txt"), write("c3", ".git/config")), "text: done"))
    async with home.open_session(plan=True) as front:
        front.send(Prompt("fix it"))
        await answer(front, ACCEPT_EDITS)
        request = await front.next_approval_request()
        assert request.tool_call_id == "c3"
        front.answer(request, "reject", "not that")
        await front.wait_for(TurnEnd)
        assert front.of(SessionInfo)[-1].accept_edits is True
    assert home.file("a.txt").exists()


async def test_feedback_is_sent_to_the_model_and_plan_mode_stays_on(home: SessionEnv) -> None:
    home.script(*exit_plan_script("text: I will"))
    async with home.open_session(plan=True) as front:
        front.send(Prompt("fix it"))
        assert (await answer_and_end_turn(front, "test it, too")).outcome == "finished"
        assert "test it, too" in front.results["c1"].return_value.message
        assert front.of(SessionInfo)[-1].plan_mode is True


@pytest.mark.parametrize("text", [KEEP_PLANNING, ""])
async def test_rejecting_without_feedback_ends_the_turn_and_plan_mode_stays_on(
    home: SessionEnv, text: str
) -> None:
    home.script(*exit_plan_script("text: not sent"))
    async with home.open_session(plan=True) as front:
        front.send(Prompt("fix it"))
        assert (await answer_and_end_turn(front, text)).outcome == "rejected"
        assert front.of(SessionInfo)[-1].plan_mode is True


async def test_without_a_user_the_plan_is_the_result(home: SessionEnv) -> None:
    home.script(*exit_plan_script("text: here it is"))
    async with home.open_session(plan=True) as front:
        front.send(Prompt("fix it"))
        await answer(front, "", unanswerable=True)
        assert (await front.wait_for(TurnEnd)).outcome == "finished"
        assert front.results["c1"].return_value.is_error is False
        assert front.of(SessionInfo)[-1].plan_mode is True


async def test_without_a_user_yolo_approves_the_plan(home: SessionEnv) -> None:
    home.script(*exit_plan_script(write("c2", "a.txt"), "text: done"))
    async with home.open_session(plan=True, yolo=True) as front:
        front.send(Prompt("fix it"))
        await answer(front, "", unanswerable=True)
        await front.wait_for(TurnEnd)
    assert home.file("a.txt").exists()


async def test_exit_plan_mode_requires_a_plan_and_plan_mode(home: SessionEnv) -> None:
    home.script(call("c1", "ExitPlanMode"), "text: well", call("c2", "ExitPlanMode", plan="x"), "text: well")
    async with home.open_session(plan=True) as front:
        await front.turn("leave")
        assert "No plan yet" in front.results["c1"].return_value.message
        front.send(SetPlanMode(False))
        await front.turn("leave")
        assert "not on" in front.results["c2"].return_value.message
        assert front.of(QuestionRequest) == []


async def test_steering_input_is_sent_after_the_plan_is_answered(home: SessionEnv) -> None:
    home.script(*exit_plan_script("text: done"))
    async with home.open_session(plan=True) as front:
        front.send(Prompt("fix it"))
        request = await front.wait_for(QuestionRequest)
        front.send(Steer("and be quick"))
        front.wire.answer(QuestionResponse(request.id, {QUESTION: ASK_FOR_EDITS}))
        assert (await front.wait_for(TurnEnd)).outcome == "finished"
        names = front.names()
        assert names.index("SteerInput") > names.index("ToolResult")
        assert front.of(SteerInput) == [SteerInput("and be quick")]


# entering


async def test_the_model_can_suggest_plan_mode(home: SessionEnv) -> None:
    home.script(call("c1", "EnterPlanMode"), write("c2", "a.txt"), "text: well")
    async with home.open_session() as front:
        front.send(Prompt("a big thing"))
        await answer(front, "Yes, plan first")
        await front.wait_for(TurnEnd)
        assert front.of(SessionInfo)[-1].plan_mode is True
        assert "Plan mode is on" in front.results["c2"].return_value.message
        assert home.state["plan_mode"] is True


async def test_the_user_can_decline_plan_mode(home: SessionEnv) -> None:
    home.script(call("c1", "EnterPlanMode"), "text: well")
    async with home.open_session() as front:
        front.send(Prompt("a big thing"))
        await answer(front, "No, go ahead")
        await front.wait_for(TurnEnd)
        assert front.of(SessionInfo)[-1].plan_mode is False


async def test_plan_mode_persists_in_a_resumed_session(home: SessionEnv) -> None:
    home.script("text: hello")
    async with home.open_session(plan=True) as front:
        await front.turn("hello")
        assert front.of(SessionInfo)[0].plan_mode is True
    async with home.open_session(continue_last=True) as front:
        assert front.of(SessionInfo)[0].plan_mode is True
        assert StatusUpdate(plan_mode=True) in front.events
    async with home.open_session(continue_last=True, plan=False) as front:
        assert front.of(SessionInfo)[0].plan_mode is False


async def test_the_plan_command_toggles_plan_mode_and_shows_and_deletes_the_plan(home: SessionEnv) -> None:
    home.script(*exit_plan_script("text: well"))
    async with home.open_session() as front:
        front.send(RunSlash("plan view"))
        assert (await front.next_notification()).title == "No plan yet."
        front.send(RunSlash("plan"))
        await front.wait_for(StatusUpdate, where=lambda status: status.plan_mode is True)
        front.send(Prompt("go"))
        await answer_and_end_turn(front, "more")
        front.send(RunSlash("plan view"))
        assert (await front.wait_for(PlanDisplay)).content == "1. Fix it\n"
        front.send(RunSlash("plan off"))
        await front.wait_for(StatusUpdate, where=lambda status: status.plan_mode is False)
        front.send(RunSlash("plan clear"))
        front.send(RunSlash("plan sideways"))
        assert "on, off, view or clear" in (await front.next_notification()).title
        assert not plan_file(home).exists()


# notes for the model


async def test_the_model_gets_one_note_per_change_and_reminders(home: SessionEnv) -> None:
    home.script(
        call("c1", "LS", path="."), call("c2", "LS", path="."), "text: ok", "text: ok", "text: ok", "text: ok"
    )
    async with home.open_session() as front:
        front.send(SetPlanMode(True))
        await front.turn("look")
        await front.turn("once more")
        front.send(SetPlanMode(False))
        await front.turn("now")
        await front.turn("and now")
        assert len(front.of(StepBegin)) == 6
    assert notes(home) == ["Plan mode is on: the ", "Plan mode is still on", "Plan mode is off: you"]


async def test_the_plan_mode_note_is_repeated_after_a_compaction(home: SessionEnv) -> None:
    home.script("text: ok", "text: " + "word " * 200, "text: a summary", "text: ok")
    async with home.open_session(plan=True) as front:
        await front.turn("one")
        await front.turn("two")
        front.send(RunSlash("compact"))
        await front.wait_for(TurnEnd)
        await front.turn("three")
    assert notes(home)[-1] == "Plan mode is on: the "


async def test_accept_edits_can_be_turned_on_and_off(home: SessionEnv) -> None:
    home.script(write("c1", "a.txt"), "text: ok", write("c2", "b.txt"), "text: ok")
    async with home.open_session() as front:
        front.send(SetAcceptEdits(True))
        await front.turn("write")
        front.send(SetAcceptEdits(False))
        front.send(Prompt("write"))
        front.answer(await front.next_approval_request(), "approve")
        await front.wait_for(TurnEnd)
        assert all(not result.return_value.is_error for result in front.of(ToolResult))
