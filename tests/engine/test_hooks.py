"""Hooks of the config and of clients in whole sessions."""

import asyncio
import json
from pathlib import Path
from typing import Any

from kimi_tui.engine.session.hooks import SessionHooks
from kimi_tui.hooks.dispatcher import SessionHookDispatcher
from kimi_tui.hooks.hook import CommandHook, HookFilter
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.commands import HookSubscription, Interrupt, Prompt, RunSlash, SubscribeHooks
from kimi_tui.wire.events import (
    HookResolved,
    HookTriggered,
    SessionInfo,
    TurnEnd,
)
from kimi_tui.wire.requests import HookRequest, HookResponse
from tests.engine.fake_front_end import SessionEnv, bash, call, script, write
from tests.timeouts import TEST_TIMEOUT_S


def with_hooks(home: SessionEnv, *hooks: tuple[str, str] | tuple[str, str, str]) -> Any:
    """Return settings with hooks of `(event, command[, matcher])`."""
    return home.settings(
        hooks=[
            {"event": event, "command": command, "matcher": matcher[0] if matcher else ""}
            for event, command, *matcher in hooks
        ]
    )


def messages(home: SessionEnv) -> list[dict[str, Any]]:
    """Return the messages in the session's journal."""
    records = [json.loads(line) for line in home.journal.splitlines()]
    return [record for record in records if not record["role"].startswith("_")]


def hook_input(home: SessionEnv, name: str) -> dict[str, Any]:
    """Return the input of a hook that ran `cat > name`."""
    value: dict[str, Any] = json.loads(home.file(name).read_text())
    return value


def text(message: dict[str, Any]) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


# tools


async def test_a_hook_can_block_a_call_and_give_the_model_a_reason(home: SessionEnv) -> None:
    home.script(script("text: pushing", bash("c1", "touch pushed")), "text: then not")
    settings = with_hooks(home, ("PreToolUse", "echo 'humans push' >&2; exit 2", "Bash"))
    async with home.open_session(settings=settings) as front:
        assert (await front.turn("push")).outcome == "finished"
        assert not home.file("pushed").exists()
        result = front.results["c1"].return_value
        assert result.is_error
        assert "humans push" in result.message
        assert [event.action for event in front.of(HookResolved)] == ["block"]
        assert front.open_requests() == []  # no approval was requested


async def test_hooks_get_the_call_before_and_after_it_runs(home: SessionEnv) -> None:
    home.script(script("text: go", bash("c1", "echo hi")), "text: done")
    settings = with_hooks(home, ("PreToolUse", "cat > pre"), ("PostToolUse", "cat > post"))
    async with home.open_session(settings=settings, yolo=True) as front:
        await front.turn("go")
        pre, post = hook_input(home, "pre"), hook_input(home, "post")
        assert (pre["tool_name"], pre["tool_input"], pre["tool_call_id"]) == (
            "Bash", {"command": "echo hi"}, "c1",
        )  # fmt: skip
        assert pre["session_id"] == front.of(SessionInfo)[0].session_id
        assert pre["cwd"] == str(home.work_dir)
        assert post["tool_output"].strip() == "hi"


async def test_a_formatter_runs_before_the_next_call_sees_the_file(home: SessionEnv) -> None:
    home.script(
        script("text: go", write("c1", "a.txt", "hello\n"), call("c2", "ReadFile", path="a.txt")),
        "text: done",
    )
    settings = with_hooks(home, ("PostToolUse", "tr a-z A-Z < a.txt > b && mv b a.txt", "WriteFile"))
    async with home.open_session(settings=settings, yolo=True) as front:
        await front.turn("go")
        assert "HELLO" in front.results["c2"].return_value.output


async def test_the_objection_of_a_post_tool_use_hook_is_added_to_the_result(home: SessionEnv) -> None:
    home.script(script("text: go", write("c1", "a.py", "x = 1\n")), "text: done")
    settings = with_hooks(home, ("PostToolUse", "echo 'lint: a.py:1 no docstring' >&2; exit 2"))
    async with home.open_session(settings=settings, yolo=True) as front:
        await front.turn("go")
        result = front.results["c1"].return_value
        assert not result.is_error
        assert "no docstring" in result.message
    assert "no docstring" in text(messages(home)[2])


async def test_a_failed_call_fires_post_tool_use_failure(home: SessionEnv) -> None:
    home.script(script("text: go", bash("c1", "echo oh; exit 3")), "text: done")
    settings = with_hooks(home, ("PostToolUse", "touch succeeded"), ("PostToolUseFailure", "cat > failed"))
    async with home.open_session(settings=settings, yolo=True) as front:
        await front.turn("go")
        assert front.results["c1"].return_value.is_error
        assert not home.file("succeeded").exists()
        assert "oh" in hook_input(home, "failed")["error"]


async def test_a_rejected_call_doesnt_fire_post_tool_use_failure(home: SessionEnv) -> None:
    home.script(script("text: go", bash("c1", "ls")), "text: done")
    settings = with_hooks(home, ("PostToolUseFailure", "touch failed"))
    async with home.open_session(settings=settings) as front:
        front.send(Prompt("go"))
        front.answer(await front.next_approval_request(), "reject")
        await front.wait_for(TurnEnd)
        assert not home.file("failed").exists()


async def test_failing_hooks_dont_affect_the_turn(home: SessionEnv) -> None:
    home.script(script("text: go", write("c1", "a.txt", "x")), "text: done")
    settings = with_hooks(
        home, *((event, "exit 1") for event in ("PreToolUse", "PostToolUse", "Stop", "UserPromptSubmit"))
    )
    async with home.open_session(settings=settings, yolo=True) as front:
        assert (await front.turn("go")).outcome == "finished"
        assert home.file("a.txt").read_text() == "x"


async def test_an_interrupt_doesnt_wait_for_a_slow_hook_and_keeps_the_result(home: SessionEnv) -> None:
    home.script(script("text: go", write("c1", "a.txt", "x")), "text: done")
    settings = with_hooks(home, ("PostToolUse", "sleep 1000"))
    async with home.open_session(settings=settings, yolo=True) as front:
        front.send(Prompt("go"))
        await front.wait_for(HookTriggered)
        front.send(Interrupt())
        assert (await front.wait_for(TurnEnd)).outcome == "cancelled"
        assert not front.results["c1"].return_value.is_error


# prompts and turns


async def test_a_hook_can_block_a_prompt(home: SessionEnv) -> None:
    home.script("text: fine")
    settings = with_hooks(home, ("UserPromptSubmit", "echo 'no secrets' >&2; exit 2", "password"))
    async with home.open_session(settings=settings) as front:
        end = await front.turn("my password is hunter-two")
        assert end.failure is not None
        assert (end.outcome, end.failure.kind) == ("failed", "HookBlocked")
        assert "no secrets" in end.failure.what
        assert (await front.turn("hello")).outcome == "finished"
    assert "hunter-two" not in home.journal
    assert [message["role"] for message in messages(home)] == ["user", "assistant"]


async def test_the_output_of_a_hook_is_added_to_the_prompt(home: SessionEnv) -> None:
    home.script("text: fine")
    settings = with_hooks(home, ("UserPromptSubmit", "echo on branch main"))
    async with home.open_session(settings=settings) as front:
        await front.turn("hello")
    assert [text(message) for message in messages(home)] == [
        "hello", "<system>on branch main</system>", "fine",
    ]  # fmt: skip


async def test_a_prompt_interrupted_while_its_hook_runs_is_kept(home: SessionEnv) -> None:
    home.script("text: fine")
    settings = with_hooks(home, ("UserPromptSubmit", "sleep 1000"))
    async with home.open_session(settings=settings) as front:
        front.send(Prompt("remember me"))
        await front.wait_for(HookTriggered)
        front.send(Interrupt())
        assert (await front.wait_for(TurnEnd)).outcome == "cancelled"
    assert [text(message) for message in messages(home)] == ["remember me"]


async def test_a_stop_hook_makes_the_model_continue_once(home: SessionEnv) -> None:
    home.script("text: done", "text: really done")
    settings = with_hooks(home, ("Stop", "tee -a stops >/dev/null; echo 'run the tests' >&2; exit 2"))
    async with home.open_session(settings=settings) as front:
        end = await front.turn("go")
        assert (end.outcome, end.steps) == ("finished", 2)
    stops = home.file("stops").read_text().replace("}{", "}\n{").splitlines()
    assert [json.loads(line)["stop_hook_active"] for line in stops] == [False, True]
    assert "run the tests" in text(messages(home)[2])


async def test_a_failed_turn_fires_stop_failure(home: SessionEnv) -> None:
    home.script("error: 401 who are you")
    settings = with_hooks(home, ("StopFailure", "cat > failed", "APIStatusError"), ("Stop", "touch stopped"))
    async with home.open_session(settings=settings) as front:
        await front.turn("go")
        await front.wait_for(HookResolved)
        assert "who are you" in hook_input(home, "failed")["error_message"]
        assert not home.file("stopped").exists()


async def test_hooks_can_observe_and_block_compaction(home: SessionEnv) -> None:
    home.script(*["text: " + "word " * 400] * 3, "text: much shorter")
    settings = with_hooks(
        home,
        ("PreCompact", "test ! -e free && { touch free; echo 'not yet' >&2; exit 2; }; cat > pre"),
        ("PostCompact", "cat > post", "manual"),
    )
    async with home.open_session(settings=settings) as front:
        for _ in range(3):
            await front.turn("tell me much")
        front.send(RunSlash("compact"))
        blocked = await front.wait_for(TurnEnd)
        assert blocked.failure is not None
        assert "not yet" in blocked.failure.what
        front.send(RunSlash("compact"))
        assert (await front.wait_for(TurnEnd)).outcome == "finished"
        assert hook_input(home, "pre")["trigger"] == "manual"
        assert hook_input(home, "pre")["token_count"] > 1000
        assert hook_input(home, "post")["estimated_token_count"] > 0


# sessions and notices


async def test_the_start_and_end_of_a_session_fire_hooks(home: SessionEnv) -> None:
    home.script("text: hi")
    settings = with_hooks(
        home,
        ("SessionStart", "cat >> started; echo >> started; echo the build is red"),
        ("SessionEnd", "cat > ended"),
    )
    async with home.open_session(settings=settings) as front:
        await front.turn("hello")
        await front.turn("again")
    async with home.open_session(settings=settings, continue_last=True):
        pass
    sources = [json.loads(line)["source"] for line in home.file("started").read_text().splitlines()]
    assert sources == ["startup", "resume"]
    assert hook_input(home, "ended")["reason"] == "exit"
    notes = [text(message) for message in messages(home) if "build" in text(message)]
    assert notes == ["<system>the build is red</system>"]


async def test_a_permission_request_fires_notification(home: SessionEnv) -> None:
    home.script(script("text: go", bash("c1", "make")), "text: done")
    settings = with_hooks(home, ("Notification", "cat > requested", "permission_prompt"))
    async with home.open_session(settings=settings) as front:
        front.send(Prompt("go"))
        request = await front.next_approval_request()
        await front.wait_for(HookResolved)
        assert "Bash" in hook_input(home, "requested")["title"]
        front.answer(request, "reject")
        await front.wait_for(TurnEnd)


async def test_a_notice_fires_notification(home: SessionEnv) -> None:
    home.script("text: hi")
    settings = with_hooks(home, ("Notification", "cat > notified", "notice"))
    async with home.open_session(settings=settings) as front:
        front.send(RunSlash("nonsense"))
        await front.wait_for(HookResolved)
        assert hook_input(home, "notified")["severity"] == "error"
        assert "nonsense" in hook_input(home, "notified")["title"]


async def test_hooks_that_hang_at_the_end_of_the_session_are_canceled(tmp_path: Path) -> None:
    wire = Wire()
    hanging = CommandHook(HookFilter("SessionEnd"), "sleep 1000", 600, tmp_path)
    hooks = SessionHookDispatcher([hanging], session_id="s", work_dir=str(tmp_path), sender=wire)
    session = SessionHooks(hooks, wire, source="startup", close_timeout_s=0.05)
    async with asyncio.timeout(TEST_TIMEOUT_S), asyncio.TaskGroup() as group:
        session.start(group)
        await session.close()


# client hooks


async def test_a_client_hook_can_block_a_call(home: SessionEnv) -> None:
    home.script(script("text: go", bash("c1", "touch a")), "text: done")
    async with home.open_session(yolo=True) as front:
        front.send(SubscribeHooks((HookSubscription("guard", "PreToolUse", "Bash"),)))
        await front.wait_for(SessionInfo, where=lambda info: info.hooks == {"PreToolUse": 1})
        front.send(Prompt("go"))
        request = await front.wait_for(HookRequest)
        assert (request.subscription_id, request.input_data["tool_name"]) == ("guard", "Bash")
        front.wire.answer(HookResponse(request.id, "block", "not here"))
        await front.wait_for(TurnEnd)
        assert "not here" in front.results["c1"].return_value.message
        assert not home.file("a").exists()


async def test_a_client_can_unsubscribe_from_hooks(home: SessionEnv) -> None:
    home.script(script("text: go", bash("c1", "touch a")), "text: done")
    async with home.open_session(yolo=True) as front:
        front.send(SubscribeHooks((HookSubscription("guard", "PreToolUse"),)))
        front.send(SubscribeHooks(()))
        assert (await front.turn("go")).outcome == "finished"
        assert front.of(HookRequest) == []


async def test_the_hooks_command_lists_the_hooks(home: SessionEnv) -> None:
    home.script("text: hi")
    settings = with_hooks(home, ("PreToolUse", "./guard.sh", "Bash"), ("Stop", "./done.sh"))
    async with home.open_session(settings=settings) as front:
        assert front.of(SessionInfo)[0].hooks == {"PreToolUse": 1, "Stop": 1}
        front.send(RunSlash("hooks"))
        notice = await front.next_notification()
        assert notice.body.splitlines() == ["PreToolUse (Bash): ./guard.sh", "Stop: ./done.sh"]
    async with home.open_session() as front:
        front.send(RunSlash("hooks"))
        assert "[[hooks]]" in (await front.next_notification()).body
