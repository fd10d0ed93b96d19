"""Hooks in a whole session: what the config's and the client's change for the model and the user."""

import asyncio
import json
from pathlib import Path
from typing import Any

from kimi_tui.engine.session_hooks import SessionHooks
from kimi_tui.hooks.hook import CommandHook, Watched
from kimi_tui.hooks.hooks import Hooks
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.commands import HookSubscription, Interrupt, Prompt, RunSlash, SubscribeHooks
from kimi_tui.wire.events import (
    HookResolved,
    HookTriggered,
    SessionInfo,
    TurnEnd,
)
from kimi_tui.wire.requests import HookRequest, HookResponse
from tests.engine.front import Home, bash, call, script, write
from tests.patience import PATIENCE_S


def with_hooks(home: Home, *hooks: tuple[str, str] | tuple[str, str, str]) -> Any:
    """Settings with hooks of `(event, command[, matcher])`."""
    return home.settings(
        hooks=[
            {"event": event, "command": command, "matcher": matcher[0] if matcher else ""}
            for event, command, *matcher in hooks
        ]
    )


def messages(home: Home) -> list[dict[str, Any]]:
    """The conversation as it is on disk."""
    records = [json.loads(line) for line in home.journal.splitlines()]
    return [record for record in records if not record["role"].startswith("_")]


def told(home: Home, name: str) -> dict[str, Any]:
    """What a hook that ran `cat > name` was told."""
    value: dict[str, Any] = json.loads(home.file(name).read_text())
    return value


def text(message: dict[str, Any]) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


# tools


async def test_a_hook_keeps_a_call_from_running_and_the_model_learns_why(home: Home) -> None:
    home.script(script("text: pushing", bash("c1", "touch pushed")), "text: then not")
    settings = with_hooks(home, ("PreToolUse", "echo 'humans push' >&2; exit 2", "Bash"))
    async with home.opened(settings=settings) as front:
        assert (await front.turn("push")).outcome == "finished"
        assert not home.file("pushed").exists()
        result = front.results["c1"].return_value
        assert result.is_error
        assert "humans push" in result.message
        assert [event.action for event in front.of(HookResolved)] == ["block"]
        assert front.open_requests() == []  # nobody was asked


async def test_a_hook_sees_the_call_before_and_after_it(home: Home) -> None:
    home.script(script("text: go", bash("c1", "echo hi")), "text: done")
    settings = with_hooks(home, ("PreToolUse", "cat > pre"), ("PostToolUse", "cat > post"))
    async with home.opened(settings=settings, yolo=True) as front:
        await front.turn("go")
        pre, post = told(home, "pre"), told(home, "post")
        assert (pre["tool_name"], pre["tool_input"], pre["tool_call_id"]) == (
            "Bash", {"command": "echo hi"}, "c1",
        )  # fmt: skip
        assert pre["session_id"] == front.of(SessionInfo)[0].session_id
        assert pre["cwd"] == str(home.work_dir)
        assert post["tool_output"].strip() == "hi"


async def test_a_formatter_runs_before_the_next_call_sees_the_file(home: Home) -> None:
    home.script(
        script("text: go", write("c1", "a.txt", "hello\n"), call("c2", "ReadFile", path="a.txt")),
        "text: done",
    )
    settings = with_hooks(home, ("PostToolUse", "tr a-z A-Z < a.txt > b && mv b a.txt", "WriteFile"))
    async with home.opened(settings=settings, yolo=True) as front:
        await front.turn("go")
        assert "HELLO" in front.results["c2"].return_value.output


async def test_what_a_hook_objects_to_afterwards_the_model_reads_with_the_result(home: Home) -> None:
    home.script(script("text: go", write("c1", "a.py", "x = 1\n")), "text: done")
    settings = with_hooks(home, ("PostToolUse", "echo 'lint: a.py:1 no docstring' >&2; exit 2"))
    async with home.opened(settings=settings, yolo=True) as front:
        await front.turn("go")
        result = front.results["c1"].return_value
        assert not result.is_error
        assert "no docstring" in result.message
    assert "no docstring" in text(messages(home)[2])


async def test_a_failure_has_an_event_of_its_own(home: Home) -> None:
    home.script(script("text: go", bash("c1", "echo oh; exit 3")), "text: done")
    settings = with_hooks(home, ("PostToolUse", "touch well"), ("PostToolUseFailure", "cat > failed"))
    async with home.opened(settings=settings, yolo=True) as front:
        await front.turn("go")
        assert front.results["c1"].return_value.is_error
        assert not home.file("well").exists()
        assert "oh" in told(home, "failed")["error"]


async def test_what_the_user_rejected_has_not_failed(home: Home) -> None:
    home.script(script("text: go", bash("c1", "ls")), "text: done")
    settings = with_hooks(home, ("PostToolUseFailure", "touch failed"))
    async with home.opened(settings=settings) as front:
        front.give(Prompt("go"))
        front.answer(await front.asked(), "reject")
        await front.until(TurnEnd)
        assert not home.file("failed").exists()


async def test_a_broken_hook_costs_nothing(home: Home) -> None:
    home.script(script("text: go", write("c1", "a.txt", "x")), "text: done")
    settings = with_hooks(
        home, *((event, "exit 1") for event in ("PreToolUse", "PostToolUse", "Stop", "UserPromptSubmit"))
    )
    async with home.opened(settings=settings, yolo=True) as front:
        assert (await front.turn("go")).outcome == "finished"
        assert home.file("a.txt").read_text() == "x"


async def test_an_interrupt_does_not_wait_for_a_slow_hook_and_keeps_what_was_done(home: Home) -> None:
    home.script(script("text: go", write("c1", "a.txt", "x")), "text: done")
    settings = with_hooks(home, ("PostToolUse", "sleep 1000"))
    async with home.opened(settings=settings, yolo=True) as front:
        front.give(Prompt("go"))
        await front.until(HookTriggered)
        front.give(Interrupt())
        assert (await front.until(TurnEnd)).outcome == "cancelled"
        assert not front.results["c1"].return_value.is_error


# prompts and turns


async def test_a_hook_keeps_a_prompt_from_the_model(home: Home) -> None:
    home.script("text: heard")
    settings = with_hooks(home, ("UserPromptSubmit", "echo 'no secrets' >&2; exit 2", "password"))
    async with home.opened(settings=settings) as front:
        end = await front.turn("my password is hunter-two")
        assert end.failure is not None
        assert (end.outcome, end.failure.kind) == ("failed", "HookBlocked")
        assert "no secrets" in end.failure.what
        assert (await front.turn("hello")).outcome == "finished"
    assert "hunter-two" not in home.journal
    assert [message["role"] for message in messages(home)] == ["user", "assistant"]


async def test_what_a_hook_prints_goes_along_with_the_prompt(home: Home) -> None:
    home.script("text: heard")
    settings = with_hooks(home, ("UserPromptSubmit", "echo on branch main"))
    async with home.opened(settings=settings) as front:
        await front.turn("hello")
    assert [text(message) for message in messages(home)] == [
        "hello", "<system>on branch main</system>", "heard",
    ]  # fmt: skip


async def test_a_prompt_that_is_interrupted_while_a_hook_looks_at_it_is_kept(home: Home) -> None:
    home.script("text: heard")
    settings = with_hooks(home, ("UserPromptSubmit", "sleep 1000"))
    async with home.opened(settings=settings) as front:
        front.give(Prompt("remember me"))
        await front.until(HookTriggered)
        front.give(Interrupt())
        assert (await front.until(TurnEnd)).outcome == "cancelled"
    assert [text(message) for message in messages(home)] == ["remember me"]


async def test_a_hook_makes_the_model_go_on_once(home: Home) -> None:
    home.script("text: done", "text: really done")
    settings = with_hooks(home, ("Stop", "tee -a stops >/dev/null; echo 'run the tests' >&2; exit 2"))
    async with home.opened(settings=settings) as front:
        end = await front.turn("go")
        assert (end.outcome, end.steps) == ("finished", 2)
    stops = home.file("stops").read_text().replace("}{", "}\n{").splitlines()
    assert [json.loads(line)["stop_hook_active"] for line in stops] == [False, True]
    assert "run the tests" in text(messages(home)[2])


async def test_a_turn_that_fails_has_an_event_of_its_own(home: Home) -> None:
    home.script("error: 401 who are you")
    settings = with_hooks(home, ("StopFailure", "cat > failed", "APIStatusError"), ("Stop", "touch stopped"))
    async with home.opened(settings=settings) as front:
        await front.turn("go")
        await front.until(HookResolved)
        assert "who are you" in told(home, "failed")["error_message"]
        assert not home.file("stopped").exists()


async def test_compactions_are_told_and_can_be_prevented(home: Home) -> None:
    home.script(*["text: " + "word " * 400] * 3, "text: much shorter")
    settings = with_hooks(
        home,
        ("PreCompact", "test ! -e free && { touch free; echo 'not yet' >&2; exit 2; }; cat > pre"),
        ("PostCompact", "cat > post", "manual"),
    )
    async with home.opened(settings=settings) as front:
        for _ in range(3):
            await front.turn("tell me much")
        front.give(RunSlash("compact"))
        refused = await front.until(TurnEnd)
        assert refused.failure is not None
        assert "not yet" in refused.failure.what
        front.give(RunSlash("compact"))
        assert (await front.until(TurnEnd)).outcome == "finished"
        assert told(home, "pre")["trigger"] == "manual"
        assert told(home, "pre")["token_count"] > 1000
        assert told(home, "post")["estimated_token_count"] > 0


# sessions and notices


async def test_a_session_s_begin_and_end_are_told(home: Home) -> None:
    home.script("text: hi")
    settings = with_hooks(
        home,
        ("SessionStart", "cat >> begun; echo >> begun; echo the build is red"),
        ("SessionEnd", "cat > ended"),
    )
    async with home.opened(settings=settings) as front:
        await front.turn("hello")
        await front.turn("again")
    async with home.opened(settings=settings, continue_last=True):
        pass
    begun = [json.loads(line)["source"] for line in home.file("begun").read_text().splitlines()]
    assert begun == ["startup", "resume"]
    assert told(home, "ended")["reason"] == "exit"
    notes = [text(message) for message in messages(home) if "build" in text(message)]
    assert notes == ["<system>the build is red</system>"]


async def test_a_hook_hears_when_the_user_is_needed(home: Home) -> None:
    home.script(script("text: go", bash("c1", "make")), "text: done")
    settings = with_hooks(home, ("Notification", "cat > asked", "permission_prompt"))
    async with home.opened(settings=settings) as front:
        front.give(Prompt("go"))
        request = await front.asked()
        await front.until(HookResolved)
        assert "Bash" in told(home, "asked")["title"]
        front.answer(request, "reject")
        await front.until(TurnEnd)


async def test_a_hook_hears_what_the_user_is_told(home: Home) -> None:
    home.script("text: hi")
    settings = with_hooks(home, ("Notification", "cat > told", "notice"))
    async with home.opened(settings=settings) as front:
        front.give(RunSlash("nonsense"))
        await front.until(HookResolved)
        assert told(home, "told")["severity"] == "error"
        assert "nonsense" in told(home, "told")["title"]


async def test_hooks_that_hang_at_the_end_are_left_behind(tmp_path: Path) -> None:
    wire = Wire()
    hanging = CommandHook(Watched("SessionEnd"), "sleep 1000", 600, tmp_path)
    hooks = Hooks([hanging], session_id="s", work_dir=str(tmp_path), send=wire.send)
    session = SessionHooks(hooks, wire, source="startup", closing_s=0.05)
    async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as group:
        session.begin(group)
        await session.end()


# a client's


async def test_a_client_s_hook_blocks_as_a_command_does(home: Home) -> None:
    home.script(script("text: go", bash("c1", "touch a")), "text: done")
    async with home.opened(yolo=True) as front:
        front.give(SubscribeHooks((HookSubscription("guard", "PreToolUse", "Bash"),)))
        await front.until(SessionInfo, where=lambda info: info.hooks == {"PreToolUse": 1})
        front.give(Prompt("go"))
        request = await front.until(HookRequest)
        assert (request.subscription_id, request.input_data["tool_name"]) == ("guard", "Bash")
        front.wire.answer(HookResponse(request.id, "block", "not here"))
        await front.until(TurnEnd)
        assert "not here" in front.results["c1"].return_value.message
        assert not home.file("a").exists()


async def test_a_client_that_wants_no_hooks_any_more_is_asked_no_more(home: Home) -> None:
    home.script(script("text: go", bash("c1", "touch a")), "text: done")
    async with home.opened(yolo=True) as front:
        front.give(SubscribeHooks((HookSubscription("guard", "PreToolUse"),)))
        front.give(SubscribeHooks(()))
        assert (await front.turn("go")).outcome == "finished"
        assert front.of(HookRequest) == []


async def test_the_session_lists_its_hooks(home: Home) -> None:
    home.script("text: hi")
    settings = with_hooks(home, ("PreToolUse", "./guard.sh", "Bash"), ("Stop", "./done.sh"))
    async with home.opened(settings=settings) as front:
        assert front.of(SessionInfo)[0].hooks == {"PreToolUse": 1, "Stop": 1}
        front.give(RunSlash("hooks"))
        listed = await front.told()
        assert listed.body.splitlines() == ["PreToolUse (Bash): ./guard.sh", "Stop: ./done.sh"]
    async with home.opened() as front:
        front.give(RunSlash("hooks"))
        assert "[[hooks]]" in (await front.told()).body
