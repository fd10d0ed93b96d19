"""Plan mode: what is refused, how a plan is approved, and what the model is told."""

import json
from pathlib import Path
from typing import Any

import pytest

from kimi_tui.base.encoding import from_jsonable
from kimi_tui.base.message import Message
from kimi_tui.config.settings import Permissions
from kimi_tui.tools.plan.leave import ACCEPT_EDITS, ASK_FOR_EDITS, KEEP_PLANNING, QUESTION
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
from tests.engine.front import Front, Home, bash, call, script, write
from tests.engine.household import hire, part, task

ALL_ALLOWED = Permissions(allow=("Bash(git diff *)", "Bash(rm *)", "Bash(echo *)", "Edit(**)"))


def plan_file(home: Home) -> Path:
    return home.share_dir / "plans" / f"{home.session_dir.name}.md"


def notes(home: Home) -> list[str]:
    """What the program told the model of plan mode, each by its first words."""
    said = [json.loads(line) for line in home.journal.splitlines() if '"role":"user"' in line]
    texts = [from_jsonable(Message, message).text for message in said]
    return [text.removeprefix("<system>")[:21] for text in texts if text.startswith("<system>Plan mode")]


async def answer(front: Front, text: str, **more: Any) -> None:
    """Answer the question that is open."""
    asked = await front.until(QuestionRequest)
    answers = {asked.questions[0].question: text} if text else {}
    assert front.wire.answer(QuestionResponse(asked.id, answers, **more))


async def planned(front: Front, text: str) -> TurnEnd:
    """Have the turn that asks for approval of its plan end, with `text` as the answer."""
    await answer(front, text)
    return await front.until(TurnEnd)


# what is refused


async def test_nothing_changes_in_plan_mode_though_everything_is_allowed(home: Home) -> None:
    home.script(
        script(write("c1", "a.txt"), bash("c2", "rm b.txt"), bash("c3", "echo x > c.txt")),
        script(call("c4", "EditFile", path="b.txt", edit={"old": "b", "new": "c"})),
        "text: I see",
    )
    home.file("b.txt").write_text("b\n")
    async with home.opened(plan=True, yolo=True, settings=home.settings(permissions=ALL_ALLOWED)) as front:
        end = await front.turn("change it all")
        assert end.outcome == "finished"
        assert front.of(ApprovalRequest) == []
        results = front.results
        assert all(results[name].return_value.is_error for name in ("c1", "c2", "c3", "c4"))
        assert "Plan mode is on" in results["c2"].return_value.message
        assert str(plan_file(home)) in results["c1"].return_value.message
    assert sorted(path.name for path in home.work_dir.iterdir()) == ["b.txt"]
    assert home.file("b.txt").read_text() == "b\n"


async def test_reading_goes_on_in_plan_mode(home: Home) -> None:
    home.file("b.txt").write_text("b\n")
    home.script(
        script(
            call("c1", "ReadFile", path="b.txt"), bash("c2", "cat b.txt | wc -l"), call("c3", "LS", path=".")
        ),
        "text: I see",
    )
    async with home.opened(plan=True, yolo=True) as front:
        await front.turn("look")
        assert not any(result.return_value.is_error for result in front.results.values())


async def test_a_reading_command_is_still_asked_for(home: Home) -> None:
    home.script(bash("c1", "cat .env"), "text: well")
    async with home.opened(plan=True) as front:
        front.give(Prompt("look"))
        front.answer(await front.asked(), "reject", "leave it")
        await front.until(TurnEnd)
        assert front.results["c1"].return_value.is_error


async def test_what_waits_for_approval_when_plan_mode_begins_does_not_run(home: Home) -> None:
    home.script(write("c1", "a.txt"), "text: well")
    async with home.opened() as front:
        front.give(Prompt("write"))
        asked = await front.asked()
        front.give(SetPlanMode(True))
        await front.until(StatusUpdate, where=lambda status: status.plan_mode is True)
        front.answer(asked, "approve")
        end = await front.until(TurnEnd)
        assert end.outcome == "finished"
        assert "Plan mode is on" in front.results["c1"].return_value.message
    assert not home.file("a.txt").exists()


async def test_the_plan_itself_is_written_unasked_and_nothing_beside_it(home: Home) -> None:
    async with home.opened(plan=True) as front:
        await front.turn("begin")  # an exhausted script: the turn fails, but the session has its folder
        plan = plan_file(home)
    home.script(
        script(
            write("c1", str(plan), "# Plan\n"),
            write("c2", str(plan) + ".md", "no"),
            write("c3", str(plan.parent / ".." / "config.toml"), "no"),
        ),
        "text: written",
    )
    async with home.opened(continue_last=True) as front:
        await front.turn("plan it")
        assert front.of(ApprovalRequest) == []
        assert plan.read_text() == "# Plan\n"
        assert front.results["c2"].return_value.is_error
        assert front.results["c3"].return_value.is_error
        front.give(SetPlanMode(False))
        await front.until(StatusUpdate, where=lambda status: status.plan_mode is False)
    home.script(write("c4", str(plan), "# Other\n"))
    async with home.opened(continue_last=True) as front:
        front.give(Prompt("again"))
        request = await front.asked()  # without plan mode it is a file like any other of the program's
        assert request.danger is not None
        front.answer(request, "reject")
        await front.until(TurnEnd)


@pytest.mark.parametrize("in_background", [False, True])
async def test_sub_agents_are_held_to_it_and_told_of_it(home: Home, in_background: bool) -> None:
    agent = hire(home)
    home.script(
        part("change it", write("c1", "a.txt"), bash("c2", "ls; touch b.txt"), bash("c3", "ls")),
        part("change it", "text: I could only look."),
        part("begin", task("t1", "change it", run_in_background=in_background)),
        part("begin", call("o1", "TaskOutput", task_id="agent-1", block=True))
        if in_background
        else "text: well",
        part("begin", "text: well"),
    )
    async with home.opened(agent_file=agent, plan=True, yolo=True) as front:
        assert (await front.turn("begin")).outcome == "finished"
    assert list(home.work_dir.glob("*.txt")) == []
    (journal,) = home.session_dir.glob("subagents/*/context.jsonl")
    assert "Plan mode is on: change nothing" in journal.read_text()
    results = [line for line in journal.read_text().splitlines() if line.startswith('{"role":"tool"')]
    assert ["nothing may change yet" in result for result in results] == [True, True, False]


async def test_a_link_in_place_of_the_plan_leads_nowhere(home: Home) -> None:
    async with home.opened(plan=True) as front:
        await front.turn("begin")
        plan = plan_file(home)
    plan.parent.mkdir(exist_ok=True)
    plan.symlink_to(home.file("victim.txt"))
    home.script(write("c1", str(plan), "no"), "text: well")
    async with home.opened(continue_last=True, yolo=True) as front:
        await front.turn("plan it")
        assert front.results["c1"].return_value.is_error
    assert not home.file("victim.txt").exists()


# approving a plan


def leaving(*after: str, plan: str = "1. Mend it") -> tuple[str, ...]:
    return (call("c1", "ExitPlanMode", plan=plan), *after)


async def test_an_approved_plan_ends_plan_mode_and_the_work_begins(home: Home) -> None:
    home.script(*leaving(write("c2", "a.txt"), "text: done"))
    async with home.opened(plan=True) as front:
        front.give(Prompt("mend it"))
        shown = await front.until(PlanDisplay)
        assert shown == PlanDisplay("1. Mend it\n", str(plan_file(home)))
        await answer(front, ASK_FOR_EDITS)
        front.answer(await front.asked(), "approve")
        assert (await front.until(TurnEnd)).outcome == "finished"
        assert front.of(SessionInfo)[-1].plan_mode is False
        assert home.state["plan_mode"] is False
    assert home.file("a.txt").exists()
    assert notes(home) == ["Plan mode is on: the ", "Plan mode is off: you"]


async def test_an_approved_plan_may_accept_edits_in_the_work_dir_but_no_more(home: Home) -> None:
    home.script(*leaving(script(write("c2", "a.txt"), write("c3", ".git/config")), "text: done"))
    async with home.opened(plan=True) as front:
        front.give(Prompt("mend it"))
        await answer(front, ACCEPT_EDITS)
        asked = await front.asked()
        assert asked.tool_call_id == "c3"
        front.answer(asked, "reject", "not that")
        await front.until(TurnEnd)
        assert front.of(SessionInfo)[-1].accept_edits is True
    assert home.file("a.txt").exists()


async def test_feedback_goes_to_the_model_and_plan_mode_stays(home: Home) -> None:
    home.script(*leaving("text: I will"))
    async with home.opened(plan=True) as front:
        front.give(Prompt("mend it"))
        assert (await planned(front, "test it, too")).outcome == "finished"
        assert "test it, too" in front.results["c1"].return_value.message
        assert front.of(SessionInfo)[-1].plan_mode is True


@pytest.mark.parametrize("said", [KEEP_PLANNING, ""])
async def test_a_plain_no_ends_the_turn_and_plan_mode_stays(home: Home, said: str) -> None:
    home.script(*leaving("text: never said"))
    async with home.opened(plan=True) as front:
        front.give(Prompt("mend it"))
        assert (await planned(front, said)).outcome == "rejected"
        assert front.of(SessionInfo)[-1].plan_mode is True


async def test_where_nobody_can_approve_the_plan_is_handed_over(home: Home) -> None:
    home.script(*leaving("text: here it is"))
    async with home.opened(plan=True) as front:
        front.give(Prompt("mend it"))
        await answer(front, "", unanswerable=True)
        assert (await front.until(TurnEnd)).outcome == "finished"
        assert front.results["c1"].return_value.is_error is False
        assert front.of(SessionInfo)[-1].plan_mode is True


async def test_where_nobody_can_approve_yolo_does(home: Home) -> None:
    home.script(*leaving(write("c2", "a.txt"), "text: done"))
    async with home.opened(plan=True, yolo=True) as front:
        front.give(Prompt("mend it"))
        await answer(front, "", unanswerable=True)
        await front.until(TurnEnd)
    assert home.file("a.txt").exists()


async def test_there_is_no_leaving_without_a_plan_or_without_plan_mode(home: Home) -> None:
    home.script(call("c1", "ExitPlanMode"), "text: well", call("c2", "ExitPlanMode", plan="x"), "text: well")
    async with home.opened(plan=True) as front:
        await front.turn("leave")
        assert "There is no plan yet" in front.results["c1"].return_value.message
        front.give(SetPlanMode(False))
        await front.turn("leave")
        assert "not on" in front.results["c2"].return_value.message
        assert front.of(QuestionRequest) == []


async def test_a_steer_while_the_plan_waits_is_heard_after_the_answer(home: Home) -> None:
    home.script(*leaving("text: done"))
    async with home.opened(plan=True) as front:
        front.give(Prompt("mend it"))
        asked = await front.until(QuestionRequest)
        front.give(Steer("and be quick"))
        front.wire.answer(QuestionResponse(asked.id, {QUESTION: ASK_FOR_EDITS}))
        assert (await front.until(TurnEnd)).outcome == "finished"
        names = front.names()
        assert names.index("SteerInput") > names.index("ToolResult")
        assert front.of(SteerInput) == [SteerInput("and be quick")]


# entering


async def test_the_model_may_offer_to_plan(home: Home) -> None:
    home.script(call("c1", "EnterPlanMode"), write("c2", "a.txt"), "text: well")
    async with home.opened() as front:
        front.give(Prompt("a big thing"))
        await answer(front, "Yes, plan first")
        await front.until(TurnEnd)
        assert front.of(SessionInfo)[-1].plan_mode is True
        assert "Plan mode is on" in front.results["c2"].return_value.message
        assert home.state["plan_mode"] is True


async def test_the_user_may_decline_to_plan(home: Home) -> None:
    home.script(call("c1", "EnterPlanMode"), "text: well")
    async with home.opened() as front:
        front.give(Prompt("a big thing"))
        await answer(front, "No, go ahead")
        await front.until(TurnEnd)
        assert front.of(SessionInfo)[-1].plan_mode is False


async def test_plan_mode_lasts_over_a_restart(home: Home) -> None:
    home.script("text: hello")
    async with home.opened(plan=True) as front:
        await front.turn("hello")
        assert front.of(SessionInfo)[0].plan_mode is True
    async with home.opened(continue_last=True) as front:
        assert front.of(SessionInfo)[0].plan_mode is True
        assert StatusUpdate(plan_mode=True) in front.events
    async with home.opened(continue_last=True, plan=False) as front:
        assert front.of(SessionInfo)[0].plan_mode is False


async def test_the_slash_command_turns_it_on_and_off_shows_and_forgets_the_plan(home: Home) -> None:
    home.script(*leaving("text: well"))
    async with home.opened() as front:
        front.give(RunSlash("plan view"))
        assert (await front.told()).title == "There is no plan yet."
        front.give(RunSlash("plan"))
        await front.until(StatusUpdate, where=lambda status: status.plan_mode is True)
        front.give(Prompt("go"))
        await planned(front, "more")
        front.give(RunSlash("plan view"))
        assert (await front.until(PlanDisplay)).content == "1. Mend it\n"
        front.give(RunSlash("plan off"))
        await front.until(StatusUpdate, where=lambda status: status.plan_mode is False)
        front.give(RunSlash("plan clear"))
        front.give(RunSlash("plan sideways"))
        assert "on, off, view or clear" in (await front.told()).title
        assert not plan_file(home).exists()


# what the model is told


async def test_the_model_is_told_once_and_each_request_begins_with_the_one_before(home: Home) -> None:
    home.script(
        call("c1", "LS", path="."), call("c2", "LS", path="."), "text: ok", "text: ok", "text: ok", "text: ok"
    )
    async with home.opened() as front:
        front.give(SetPlanMode(True))
        await front.turn("look")
        await front.turn("once more")
        front.give(SetPlanMode(False))
        await front.turn("now")
        await front.turn("and now")
        assert len(front.of(StepBegin)) == 6
    assert notes(home) == ["Plan mode is on: the ", "Plan mode is still on", "Plan mode is off: you"]


async def test_the_model_is_told_again_after_a_compaction(home: Home) -> None:
    home.script("text: ok", "text: " + "word " * 200, "text: a summary", "text: ok")
    async with home.opened(plan=True) as front:
        await front.turn("one")
        await front.turn("two")
        front.give(RunSlash("compact"))
        await front.until(TurnEnd)
        await front.turn("three")
    assert notes(home)[-1] == "Plan mode is on: the "


async def test_accepting_edits_can_be_switched(home: Home) -> None:
    home.script(write("c1", "a.txt"), "text: ok", write("c2", "b.txt"), "text: ok")
    async with home.opened() as front:
        front.give(SetAcceptEdits(True))
        await front.turn("write")
        front.give(SetAcceptEdits(False))
        front.give(Prompt("write"))
        front.answer(await front.asked(), "approve")
        await front.until(TurnEnd)
        assert all(not result.return_value.is_error for result in front.of(ToolResult))
