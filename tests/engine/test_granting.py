"""Approvals over a whole session: what an answer changes for the calls after it and for later sessions."""

import asyncio
import json

import pytest

from kimi_tui.config.loading import read_config, settings_of
from kimi_tui.wire.commands import Interrupt, Prompt, SetYolo
from kimi_tui.wire.events import (
    ApprovalAnswer,
    ApprovalResponse,
    Notification,
    SessionInfo,
    ToolResult,
    TurnEnd,
)
from kimi_tui.wire.requests import ApprovalRequest
from tests.engine.front import Front, Home, bash, call, script, write

TOUCH = "touch a && true"


async def asked_and_answered(front: Front, answer: ApprovalAnswer, feedback: str = "") -> TurnEnd:
    """Answer one request of a turn, and wait until the turn has ended."""
    front.give(Prompt("go"))
    front.answer(await front.asked(), answer, feedback)
    return await front.until(TurnEnd)


async def test_what_is_approved_runs(home: Home) -> None:
    home.script(script("text: writing", write("c1", "a.txt", "hello\n")), "text: done")
    async with home.opened() as front:
        front.give(Prompt("go"))
        request = await front.asked()
        assert not home.file("a.txt").exists()
        assert request.tool_call_id == "c1"
        front.answer(request, "approve")
        assert (await front.until(TurnEnd)).outcome == "finished"
        assert home.file("a.txt").read_text() == "hello\n"


async def test_a_plain_no_ends_the_turn_and_skips_the_calls_that_wait(home: Home) -> None:
    home.script(script("text: writing", write("c1", "a"), write("c2", "b")), "text: sorry")
    async with home.opened() as front:
        end = await asked_and_answered(front, "reject")
        assert end.outcome == "rejected"
        rejected = front.of(ApprovalRequest)[0].tool_call_id
        (skipped,) = {"c1", "c2"} - {rejected}
        assert front.results[rejected].return_value.extras == {"rejected": True}
        assert "not run" in front.results[skipped].return_value.message
        assert not home.file("a").exists()
        assert not home.file("b").exists()
        assert (await front.turn("never mind")).outcome == "finished"


async def test_a_no_with_words_lets_the_turn_go_on(home: Home) -> None:
    home.script(script("text: writing", write("c1", "a")), "text: as you like")
    async with home.opened() as front:
        end = await asked_and_answered(front, "reject", "use tabs")
        assert end.outcome == "finished"
        assert "use tabs" in front.results["c1"].return_value.message
    assert "use tabs" in home.journal


async def test_a_grant_for_the_session_covers_open_requests_and_the_resumed_session(home: Home) -> None:
    home.script(
        script("text: looking", bash("c1", "git diff a"), bash("c2", "git diff b")),
        script("text: again", bash("c3", "git diff c")),
        "text: done",
    )
    async with home.opened() as front:
        assert (await asked_and_answered(front, "approve_for_session")).outcome == "finished"
        first, second = front.of(ApprovalRequest)
        answers = {event.request_id: event.response for event in front.of(ApprovalResponse)}
        assert answers == {first.id: "approve_for_session", second.id: "approve"}
    assert home.state["grants"] == [first.rule]

    home.script(script("text: resumed", bash("c4", "git diff d")), "text: done")
    async with home.opened(continue_last=True) as front:
        assert (await front.turn("again")).outcome == "finished"
        assert not front.of(ApprovalRequest)


async def three_granted(home: Home, response: ApprovalAnswer) -> None:
    """Three commands of one step are asked for at the same time, and each gets this answer."""
    commands = ["git diff a", "git log a", "git show a"]
    home.script(
        script("text: looking", *(bash(f"c{at}", command) for at, command in enumerate(commands))),
        "text: done",
    )
    async with home.opened() as front:
        front.give(Prompt("go"))
        requests = [await front.asked() for _ in commands]
        for request in requests:
            front.answer(request, response)
        await front.until(TurnEnd)


async def test_grants_that_come_together_are_all_kept(home: Home) -> None:
    await three_granted(home, "approve_for_session")
    assert home.state["grants"] == ["Bash(git diff *)", "Bash(git log *)", "Bash(git show *)"]


async def test_rules_that_are_always_kept_come_together_and_count_in_the_next_session(home: Home) -> None:
    await three_granted(home, "approve_always")
    assert (home.work_dir / ".kimi-tui" / "config.toml").exists()
    assert home.state["grants"] == []

    config = read_config(share_dir=home.share_dir, work_dir=home.work_dir)
    assert config.untrusted is None
    permissions = settings_of(config).permissions
    assert permissions.allow == ("Bash(git diff *)", "Bash(git log *)", "Bash(git show *)")

    home.permissions = {"allow": permissions.allow}
    home.script(script("text: looking", bash("c9", "git log b")), "text: done")
    async with home.opened() as front:
        assert (await front.turn("go")).outcome == "finished"
        assert not front.of(ApprovalRequest)


async def test_always_in_a_project_whose_config_can_not_be_written_runs_and_tells(home: Home) -> None:
    (home.work_dir / ".kimi-tui").write_text("in the way")
    home.script(script("text: looking", bash("c1", "git --version")), "text: done")
    async with home.opened() as front:
        assert (await asked_and_answered(front, "approve_always")).outcome == "finished"
        assert not front.results["c1"].return_value.is_error
        (notice,) = front.of(Notification)
        assert notice.severity == "warning"


async def test_yolo_runs_what_is_open_and_what_follows_and_holds_in_the_resumed_session(home: Home) -> None:
    home.script(
        script("text: writing", write("c1", "a"), write("c2", "b")),
        script("text: more", write("c3", "c")),
        "text: done",
    )
    async with home.opened() as front:
        front.give(Prompt("go"))
        await front.asked()
        await front.asked()
        front.give(SetYolo(True))
        assert (await front.until(SessionInfo, where=lambda info: info.yolo)).yolo
        await front.until(TurnEnd)
        assert len(front.of(ApprovalRequest)) == 2
        assert home.file("c").exists()
    async with home.opened(continue_last=True) as front:
        assert front.of(SessionInfo)[0].yolo


async def test_where_nobody_is_there_a_session_has_no_yolo_of_its_own(home: Home) -> None:
    home.script("text: hi")
    async with home.opened() as front:
        front.give(SetYolo(True))
        await front.turn("hello")
    async with home.opened(continue_last=True, interactive=False) as front:
        assert not front.of(SessionInfo)[0].yolo


async def test_without_yolo_again_the_user_is_asked_again(home: Home) -> None:
    home.script(script("text: writing", write("c1", "a")), "text: done")
    async with home.opened(yolo=True) as front:
        front.give(SetYolo(False))
        assert (await asked_and_answered(front, "approve")).outcome == "finished"


@pytest.mark.parametrize("yolo", [False, True])
async def test_what_a_rule_denies_does_not_run_and_nobody_is_asked(home: Home, yolo: bool) -> None:
    home.permissions = {"deny": ["Bash(touch *)"], "allow": ["Bash(touch *)"]}
    home.script(script("text: touching", bash("c1", TOUCH)), "text: fine")
    async with home.opened(yolo=yolo) as front:
        assert (await front.turn("go")).outcome == "finished"
        assert front.results["c1"].return_value.extras == {"rejected": True}
        assert not front.of(ApprovalRequest)
        assert not home.file("a").exists()


async def test_a_saved_grant_that_can_not_be_read_costs_itself_only(home: Home) -> None:
    home.script(script("text: looking", bash("c1", "git --version")), "text: done")
    async with home.opened() as front:
        await asked_and_answered(front, "approve_for_session")
    state = home.state
    state["grants"] = ["Bash(", *state["grants"]]
    (home.session_dir / "state.json").write_text(json.dumps(state))

    home.script(script("text: looking", bash("c2", "git --version")), "text: done")
    async with home.opened(continue_last=True) as front:
        assert (await front.turn("again")).outcome == "finished"
        assert not front.of(ApprovalRequest)


async def test_calls_that_only_read_are_not_asked_for(home: Home) -> None:
    home.script(
        script("text: looking", call("c1", "LS", path="."), call("c2", "Glob", pattern="*")), "text: x"
    )
    async with home.opened() as front:
        await front.turn("go")
        assert not front.of(ApprovalRequest)
        assert [event.return_value.is_error for event in front.of(ToolResult)] == [False, False]


async def test_answers_at_the_same_time_as_the_interrupt_leave_nothing_open(home: Home) -> None:
    for ticks in range(12):
        home.script(script("text: writing", write("c1", f"a{ticks}"), write("c2", f"b{ticks}")), "text: done")
        async with home.opened() as front:
            front.give(Prompt("go"))
            first, second = await front.asked(), await front.asked()
            front.give(Interrupt())
            for _ in range(ticks):
                await asyncio.sleep(0)
            front.answer(first, "approve")
            front.answer(second, "approve_for_session")
            assert (await front.until(TurnEnd)).outcome in ("cancelled", "finished")


# rules of reading


async def test_what_the_rules_deny_to_read_no_file_tool_shows(home: Home) -> None:
    home.permissions = {"deny": ["Read(private/**)"]}
    home.file("private").mkdir()
    home.file("private/plan.txt").write_text("launch = friday\n")
    home.file("public.txt").write_text("launch = soon\n")
    home.script(
        script(
            "text: looking",
            call("read", "ReadFile", path="private/plan.txt"),
            call("grep", "Grep", pattern="launch", output_mode="content"),
            call("named", "Grep", pattern="launch", path="private/plan.txt"),
            call("edit", "EditFile", path="private/plan.txt", edit={"old": "launch = fridays", "new": "x"}),
        ),
        "text: I may not",
    )
    async with home.opened() as front:
        assert (await front.turn("when?")).outcome == "finished"
        returned = {call_id: result.return_value for call_id, result in front.results.items()}
        assert returned["read"].is_error
        assert returned["named"].is_error
        assert returned["grep"].output == "public.txt:1:launch = soon\n"
        assert "private/plan.txt" in returned["grep"].message
        assert "friday" not in str([value for key, value in returned.items()]).replace("fridays", "")


async def test_what_the_rules_want_to_be_asked_about_is_read_after_a_yes(home: Home) -> None:
    home.permissions = {"ask": ["Read(notes.txt)"]}
    home.file("notes.txt").write_text("buy milk\n")
    home.script(script("text: reading", call("c1", "ReadFile", path="notes.txt")), "text: done")
    async with home.opened(yolo=True) as front:
        front.give(Prompt("go"))
        request = await front.asked()
        assert (request.action, request.danger) == ("read file", None)
        front.answer(request, "approve")
        await front.until(TurnEnd)
        assert "buy milk" in front.results["c1"].return_value.output
