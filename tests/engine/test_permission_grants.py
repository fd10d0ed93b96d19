"""Permission requests in whole sessions: effects of answers on later calls and sessions."""

import asyncio
import json

import pytest

from kimi_tui.config.loader import read_config, settings_of
from kimi_tui.permission.assessment import assess
from kimi_tui.permission.bash.command_line import parse_command
from kimi_tui.permission.danger import danger_of_commands
from kimi_tui.wire.commands import Interrupt, Prompt, SetYolo
from kimi_tui.wire.events import (
    ApprovalAnswer,
    ApprovalResponse,
    Notification,
    SessionInfo,
    ToolResult,
    TurnEnd,
)
from kimi_tui.wire.permissions import ConfirmGrants
from kimi_tui.wire.requests import ApprovalRequest
from tests.call_counter import count_calls
from tests.engine.fake_front_end import FakeFrontEnd, SessionEnv, bash, call, script, write

TOUCH = "touch a && true"


async def run_and_answer(front: FakeFrontEnd, answer: ApprovalAnswer, feedback: str = "") -> TurnEnd:
    """Answer the permission request of a turn, and wait until the turn has ended."""
    front.send(Prompt("go"))
    front.answer(await front.next_approval_request(), answer, feedback)
    return await front.wait_for(TurnEnd)


async def test_an_approved_call_runs(home: SessionEnv) -> None:
    home.script(script("text: writing", write("c1", "a.txt", "hello\n")), "text: done")
    async with home.open_session() as front:
        front.send(Prompt("go"))
        request = await front.next_approval_request()
        assert not home.file("a.txt").exists()
        assert request.tool_call_id == "c1"
        front.answer(request, "approve")
        assert (await front.wait_for(TurnEnd)).outcome == "finished"
        assert home.file("a.txt").read_text() == "hello\n"


@pytest.mark.parametrize("command", ["ls a && true", "rm -rf b > ../c"])
async def test_an_approval_parses_the_command_and_computes_its_danger_once(
    home: SessionEnv, command: str
) -> None:
    home.script(script("text: running", bash("c1", command)), "text: done")
    async with home.open_session() as front:
        with count_calls(parse_command, assess, danger_of_commands) as calls:
            assert (await run_and_answer(front, "approve")).outcome == "finished"
    assert calls == {"parse_command": 1, "assess": 1, "danger_of_commands": 1}


async def test_rejecting_without_feedback_ends_the_turn_and_skips_other_calls(home: SessionEnv) -> None:
    home.script(script("text: writing", write("c1", "a"), write("c2", "b")), "text: sorry")
    async with home.open_session() as front:
        end = await run_and_answer(front, "reject")
        assert end.outcome == "rejected"
        rejected = front.of(ApprovalRequest)[0].tool_call_id
        (skipped,) = {"c1", "c2"} - {rejected}
        assert front.results[rejected].return_value.extras == {"rejected": True}
        assert "not run" in front.results[skipped].return_value.message
        assert not home.file("a").exists()
        assert not home.file("b").exists()
        assert (await front.turn("never mind")).outcome == "finished"


async def test_rejecting_with_feedback_continues_the_turn(home: SessionEnv) -> None:
    home.script(script("text: writing", write("c1", "a")), "text: as you like")
    async with home.open_session() as front:
        end = await run_and_answer(front, "reject", "use tabs")
        assert end.outcome == "finished"
        assert "use tabs" in front.results["c1"].return_value.message
    assert "use tabs" in home.journal


async def test_a_grant_for_the_session_covers_open_and_later_requests(home: SessionEnv) -> None:
    home.script(
        script("text: looking", bash("c1", "git diff a"), bash("c2", "git diff b")),
        script("text: again", bash("c3", "git diff c")),
        "text: done",
    )
    async with home.open_session() as front:
        front.send(Prompt("go"))
        first, second = [await front.next_approval_request() for _ in range(2)]
        front.answer(first, "approve_for_session")
        assert (await front.wait_for(TurnEnd)).outcome == "finished"
        answers = {event.request_id: event.response for event in front.of(ApprovalResponse)}
        assert answers == {first.id: "approve_for_session", second.id: "approve"}
    assert home.state["grants"] == [first.rule]


@pytest.mark.parametrize(
    ("granted", "attack"),
    [
        ("git grep -n x", "git grep -nO'touch PWN;:' x"),
        ("find .", "find . -fprintf PWN x"),
        ("tar cf o.tar a", "tar cIf 'touch PWN;cat' o.tar a"),
        ("sort a", "sort -o PWN a"),
    ],
)
async def test_a_grant_for_a_command_does_not_run_one_with_other_options(
    home: SessionEnv, granted: str, attack: str
) -> None:
    home.file("a").write_text("x\n")
    home.script(
        script("text: first", bash("c1", granted)), script("text: now", bash("c2", attack)), "text: done"
    )
    async with home.open_session() as front:
        front.send(Prompt("go"))
        front.answer(await front.next_approval_request(), "approve_for_session")
        request = await front.next_approval_request()
        assert request.tool_call_id == "c2"
        front.answer(request, "reject")
        assert (await front.wait_for(TurnEnd)).outcome == "rejected"
    assert not home.file("PWN").exists()


async def run_three_calls(home: SessionEnv, response: ApprovalAnswer) -> None:
    """Run a step with three commands that request approval at the same time, and answer them all."""
    commands = ["git diff a", "git log a", "git show a"]
    home.script(
        script("text: looking", *(bash(f"c{at}", command) for at, command in enumerate(commands))),
        "text: done",
    )
    async with home.open_session() as front:
        front.send(Prompt("go"))
        requests = [await front.next_approval_request() for _ in commands]
        for request in requests:
            front.answer(request, response)
        await front.wait_for(TurnEnd)


async def test_concurrent_grants_are_all_saved(home: SessionEnv) -> None:
    await run_three_calls(home, "approve_for_session")
    assert sorted(home.state["grants"]) == ["Bash(git diff *)", "Bash(git log *)", "Bash(git show *)"]


async def test_concurrent_always_allow_rules_are_all_saved_and_apply_to_the_next_session(
    home: SessionEnv,
) -> None:
    await run_three_calls(home, "approve_always")
    assert (home.work_dir / ".kimi-tui" / "config.toml").exists()
    assert home.state["grants"] == []

    config = read_config(data_dir=home.data_dir, work_dir=home.work_dir)
    assert config.untrusted_source is None
    permissions = settings_of(config).permissions
    assert sorted(permissions.allow) == ["Bash(git diff *)", "Bash(git log *)", "Bash(git show *)"]

    home.permissions = {"allow": permissions.allow}
    home.script(script("text: looking", bash("c9", "git log b")), "text: done")
    async with home.open_session() as front:
        assert (await front.turn("go")).outcome == "finished"
        assert not front.of(ApprovalRequest)


async def test_always_allow_warns_if_the_project_config_cant_be_written(home: SessionEnv) -> None:
    (home.work_dir / ".kimi-tui").write_text("in the way")
    home.script(script("text: looking", bash("c1", "git --version")), "text: done")
    async with home.open_session() as front:
        assert (await run_and_answer(front, "approve_always")).outcome == "finished"
        assert not front.results["c1"].return_value.is_error
        (notice,) = front.of(Notification)
        assert notice.severity == "warning"


async def test_yolo_approves_open_and_later_requests_and_persists_in_a_resumed_session(
    home: SessionEnv,
) -> None:
    home.script(
        script("text: writing", write("c1", "a"), write("c2", "b")),
        script("text: more", write("c3", "c")),
        "text: done",
    )
    async with home.open_session() as front:
        front.send(Prompt("go"))
        await front.next_approval_request()
        await front.next_approval_request()
        front.send(SetYolo(True))
        assert (await front.wait_for(SessionInfo, where=lambda info: info.yolo)).yolo
        await front.wait_for(TurnEnd)
        assert len(front.of(ApprovalRequest)) == 2
        assert home.file("c").exists()
    async with home.open_session(continue_last=True) as front:
        assert front.of(SessionInfo)[0].yolo


async def test_a_non_interactive_run_ignores_the_sessions_saved_yolo(home: SessionEnv) -> None:
    home.script("text: hi")
    async with home.open_session() as front:
        front.send(SetYolo(True))
        await front.turn("hello")
    async with home.open_session(continue_last=True, interactive=False) as front:
        assert not front.of(SessionInfo)[0].yolo


async def test_turning_yolo_off_requires_approval_again(home: SessionEnv) -> None:
    home.script(script("text: writing", write("c1", "a")), "text: done")
    async with home.open_session(yolo=True) as front:
        front.send(SetYolo(False))
        assert (await run_and_answer(front, "approve")).outcome == "finished"


@pytest.mark.parametrize("yolo", [False, True])
async def test_a_denied_call_is_rejected_without_a_request(home: SessionEnv, yolo: bool) -> None:
    home.permissions = {"deny": ["Bash(touch *)"], "allow": ["Bash(touch *)"]}
    home.script(script("text: touching", bash("c1", TOUCH)), "text: fine")
    async with home.open_session(yolo=yolo) as front:
        assert (await front.turn("go")).outcome == "finished"
        assert front.results["c1"].return_value.extras == {"rejected": True}
        assert not front.of(ApprovalRequest)
        assert not home.file("a").exists()


async def test_an_invalid_saved_grant_is_ignored(home: SessionEnv) -> None:
    home.script(script("text: looking", bash("c1", "git --version")), "text: done")
    async with home.open_session() as front:
        await run_and_answer(front, "approve_for_session")
    state = home.state
    state["grants"] = ["Bash(", *state["grants"]]
    (home.session_dir / "state.json").write_text(json.dumps(state))

    home.script(script("text: looking", bash("c2", "git --version")), "text: done")
    async with home.open_session(continue_last=True) as front:
        front.send(ConfirmGrants(keep=True))
        assert (await front.turn("again")).outcome == "finished"
        assert not front.of(ApprovalRequest)


async def test_calls_that_only_read_need_no_approval(home: SessionEnv) -> None:
    home.script(
        script("text: looking", call("c1", "LS", path="."), call("c2", "Glob", pattern="*")), "text: x"
    )
    async with home.open_session() as front:
        await front.turn("go")
        assert not front.of(ApprovalRequest)
        assert [event.return_value.is_error for event in front.of(ToolResult)] == [False, False]


async def test_answers_concurrent_with_an_interrupt_leave_no_open_requests(home: SessionEnv) -> None:
    for ticks in range(12):
        home.script(script("text: writing", write("c1", f"a{ticks}"), write("c2", f"b{ticks}")), "text: done")
        async with home.open_session() as front:
            front.send(Prompt("go"))
            first, second = await front.next_approval_request(), await front.next_approval_request()
            front.send(Interrupt())
            for _ in range(ticks):
                await asyncio.sleep(0)
            front.answer(first, "approve")
            front.answer(second, "approve_for_session")
            assert (await front.wait_for(TurnEnd)).outcome in ("cancelled", "finished")


# rules for reading


async def test_no_file_tool_shows_files_that_rules_deny_reading(home: SessionEnv) -> None:
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
    async with home.open_session() as front:
        assert (await front.turn("when?")).outcome == "finished"
        returned = {call_id: result.return_value for call_id, result in front.results.items()}
        assert returned["read"].is_error
        assert returned["named"].is_error
        assert returned["grep"].output == "public.txt:1:launch = soon\n"
        assert "private/plan.txt" in returned["grep"].message
        assert "friday" not in str([value for key, value in returned.items()]).replace("fridays", "")


async def test_a_file_with_an_ask_rule_is_read_after_approval(home: SessionEnv) -> None:
    home.permissions = {"ask": ["Read(notes.txt)"]}
    home.file("notes.txt").write_text("buy milk\n")
    home.script(script("text: reading", call("c1", "ReadFile", path="notes.txt")), "text: done")
    async with home.open_session(yolo=True) as front:
        front.send(Prompt("go"))
        request = await front.next_approval_request()
        assert (request.action, request.danger) == ("read file", None)
        front.answer(request, "approve")
        await front.wait_for(TurnEnd)
        assert "buy milk" in front.results["c1"].return_value.output
