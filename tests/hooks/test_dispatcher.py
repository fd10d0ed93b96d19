"""Hooks: which of them an event runs, what they receive and decide, and how failures are handled."""

import asyncio
import json
import logging
import os
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest

from kimi_tui.base.hook_events import HookEventName
from kimi_tui.hooks.decision import HookDecision
from kimi_tui.hooks.dispatcher import NO_HOOKS, SessionHookDispatcher, SubagentHookDispatcher
from kimi_tui.hooks.events import (
    HookEvent,
    PostCompact,
    PostToolUse,
    PreToolUse,
    SessionStart,
    Stop,
    UserNotification,
    UserPromptSubmit,
    can_be_blocked,
    name_of,
)
from kimi_tui.hooks.hook import ClientHook, CommandHook, HookFilter
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.event_sender import EventList
from kimi_tui.wire.events import HookResolved, HookTriggered
from kimi_tui.wire.requests import HookRequest, HookResponse
from tests.loop_clock import LoopClock
from tests.timeouts import TEST_TIMEOUT_S

BASH = PreToolUse(
    tool_name="Shell", tool_input={"command": "git push"}, tool_call_id="c1", tool_aliases=("Bash",)
)
PROMPT = UserPromptSubmit(prompt="fix it")


class HookFixture:
    """A working directory with hooks, and the events sent to front ends."""

    def __init__(self, path: Path) -> None:
        self.dir = path
        self.sent = EventList()
        self._hooks: list[CommandHook] = []

    def add_hook(
        self, event: HookEventName, command: str, *, matcher: str = "", timeout_s: float = 20.0
    ) -> None:
        self._hooks.append(CommandHook(HookFilter(event, matcher), command, timeout_s, self.dir))

    async def fire(self, event: HookEvent) -> HookDecision:
        hooks = SessionHookDispatcher(self._hooks, session_id="s1", work_dir=str(self.dir), sender=self.sent)
        return await hooks.fire(event)


@pytest.fixture
def hook_fixture(tmp_path: Path) -> HookFixture:
    return HookFixture(tmp_path)


# What hooks receive


async def test_a_hook_receives_its_event_as_json_on_stdin_in_the_working_directory(
    hook_fixture: HookFixture,
) -> None:
    hook_fixture.add_hook("PreToolUse", "cat > payload.json")
    assert await hook_fixture.fire(BASH) == HookDecision()
    assert json.loads((hook_fixture.dir / "payload.json").read_text()) == {
        "session_id": "s1",
        "cwd": str(hook_fixture.dir),
        "hook_event_name": "PreToolUse",
        "tool_name": "Shell",
        "tool_input": {"command": "git push"},
        "tool_call_id": "c1",
    }


async def test_a_hook_may_ignore_its_input(hook_fixture: HookFixture) -> None:
    hook_fixture.add_hook("UserPromptSubmit", "echo done")
    assert (await hook_fixture.fire(UserPromptSubmit(prompt="x" * 1_000_000))).context == ("done",)


async def test_front_ends_receive_the_start_and_the_decision_of_hooks(hook_fixture: HookFixture) -> None:
    hook_fixture.add_hook("PreToolUse", "exit 0")
    hook_fixture.add_hook("PreToolUse", "echo no >&2; exit 2")
    await hook_fixture.fire(BASH)
    triggered, resolved = hook_fixture.sent
    assert triggered == HookTriggered("PreToolUse", "Shell", 2)
    assert isinstance(resolved, HookResolved)
    assert (resolved.target, resolved.action, resolved.reason) == ("Shell", "block", "no")
    assert resolved.duration_ms >= 0


async def test_without_a_matching_hook_no_event_is_sent(hook_fixture: HookFixture) -> None:
    hook_fixture.add_hook("Stop", "exit 2")
    assert await hook_fixture.fire(BASH) == HookDecision()
    assert await NO_HOOKS.fire(BASH) == HookDecision()
    assert hook_fixture.sent == []


# Which hooks run


@pytest.mark.parametrize(
    ("matcher", "runs"),
    [("", True), ("Shell", True), ("Bash", True), ("ReadFile|Bash", True), ("^Sh", True), ("Write", False)],
)
async def test_the_matcher_is_applied_to_every_name_of_the_tool(
    hook_fixture: HookFixture, matcher: str, runs: bool
) -> None:
    hook_fixture.add_hook("PreToolUse", "touch ran", matcher=matcher)
    await hook_fixture.fire(BASH)
    assert (hook_fixture.dir / "ran").exists() == runs


@pytest.mark.parametrize(
    ("event", "matcher"),
    [
        (SessionStart(source="resume"), "resume"),
        (PROMPT, "fix"),
        (PostCompact(trigger="auto", estimated_token_count=3), "auto"),
        (
            UserNotification(sink="wire", notification_type="notice", title="", body="", severity="info"),
            "notice",
        ),
        (
            UserNotification(sink="wire", notification_type="notice", title="", body="", severity="info"),
            "wire",
        ),
        (Stop(stop_hook_active=False), "ignored: a Stop has no target"),
    ],
)
async def test_the_matcher_is_applied_to_the_target_of_other_events(
    hook_fixture: HookFixture, event: HookEvent, matcher: str
) -> None:
    hook_fixture.add_hook(name_of(event), "touch ran", matcher=matcher)
    await hook_fixture.fire(event)
    assert (hook_fixture.dir / "ran").exists()


async def test_a_command_configured_twice_runs_once(hook_fixture: HookFixture) -> None:
    for matcher in ("Shell", "Bash"):
        hook_fixture.add_hook("PreToolUse", "echo ran >> log", matcher=matcher)
    await hook_fixture.fire(BASH)
    assert (hook_fixture.dir / "log").read_text() == "ran\n"


async def test_hooks_of_an_event_run_concurrently(hook_fixture: HookFixture) -> None:
    os.mkfifo(hook_fixture.dir / "meet")
    hook_fixture.add_hook("PreToolUse", "echo here > meet", timeout_s=20)
    hook_fixture.add_hook("PreToolUse", "cat meet > met", timeout_s=20)
    await hook_fixture.fire(BASH)  # in sequence, the first would block until its timeout
    assert (hook_fixture.dir / "met").read_text() == "here\n"


# What hooks decide


async def test_exit_status_2_blocks_with_stderr_as_the_reason(hook_fixture: HookFixture) -> None:
    hook_fixture.add_hook("PreToolUse", "echo 'not on a Friday' >&2; exit 2")
    assert await hook_fixture.fire(BASH) == HookDecision(blocked=True, reason="not on a Friday")


@pytest.mark.parametrize(
    "decision",
    [
        {"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "use rg"}},
        {"decision": "block", "reason": "use rg"},
    ],
)
async def test_json_on_stdout_can_block(hook_fixture: HookFixture, decision: dict[str, Any]) -> None:
    (hook_fixture.dir / "decision.json").write_text(json.dumps(decision))
    hook_fixture.add_hook("PreToolUse", "cat decision.json")
    assert await hook_fixture.fire(BASH) == HookDecision(blocked=True, reason="use rg")


async def test_json_that_allows_may_add_context(hook_fixture: HookFixture) -> None:
    decision = {"hookSpecificOutput": {"permissionDecision": "allow", "additionalContext": "tests are slow"}}
    (hook_fixture.dir / "decision.json").write_text(json.dumps(decision))
    hook_fixture.add_hook("PreToolUse", "cat decision.json")
    assert await hook_fixture.fire(BASH) == HookDecision(context=("tests are slow",))


async def test_any_hook_can_block_and_reasons_are_joined(hook_fixture: HookFixture) -> None:
    hook_fixture.add_hook("PreToolUse", "exit 0")
    hook_fixture.add_hook("PreToolUse", "echo one >&2; exit 2")
    hook_fixture.add_hook("PreToolUse", "echo two >&2; exit 2")
    assert await hook_fixture.fire(BASH) == HookDecision(blocked=True, reason="one\ntwo")


async def test_plain_text_is_context_only_for_prompts_and_session_starts(hook_fixture: HookFixture) -> None:
    hook_fixture.add_hook("UserPromptSubmit", "echo on branch main")
    hook_fixture.add_hook("PreToolUse", "echo one file reformatted")
    assert (await hook_fixture.fire(PROMPT)).context == ("on branch main",)
    assert (await hook_fixture.fire(BASH)).context == ()


async def test_an_event_that_has_already_happened_cannot_be_blocked(hook_fixture: HookFixture) -> None:
    hook_fixture.add_hook("SessionStart", "echo too late >&2; exit 2")
    decision = await hook_fixture.fire(SessionStart(source="startup"))
    assert not decision.blocked
    assert hook_fixture.sent[-1].action == "allow"


async def test_long_output_is_truncated(hook_fixture: HookFixture) -> None:
    hook_fixture.add_hook("UserPromptSubmit", "yes | head -c 1000000")
    (context,) = (await hook_fixture.fire(PROMPT)).context
    assert len(context) < 11_000
    assert context.endswith("[truncated]")


# Failures


@pytest.mark.parametrize(
    "command", ["exit 1", "exit 77", "no-such-command-at-all", "kill -9 $$", "echo '{broken'", "'"]
)
async def test_a_hook_that_fails_decides_nothing(hook_fixture: HookFixture, command: str) -> None:
    hook_fixture.add_hook("PreToolUse", command)
    assert await hook_fixture.fire(BASH) == HookDecision()
    assert hook_fixture.sent[-1].action == "allow"


async def test_the_reason_of_a_failure_is_logged(
    hook_fixture: HookFixture, caplog: pytest.LogCaptureFixture
) -> None:
    hook_fixture.add_hook("PreToolUse", "echo 'jq: not found' >&2; exit 127")
    with caplog.at_level(logging.WARNING):
        await hook_fixture.fire(BASH)
    assert "jq: not found" in caplog.text


async def test_a_hook_that_times_out_is_terminated_with_its_child_processes(
    hook_fixture: HookFixture, caplog: pytest.LogCaptureFixture
) -> None:
    clock = LoopClock()
    hook_fixture.add_hook("PreToolUse", "sleep 1000 & echo $! > child; wait", timeout_s=200)
    with caplog.at_level(logging.WARNING):
        firing = asyncio.ensure_future(hook_fixture.fire(BASH))
        child = await pid_in(hook_fixture.dir / "child")
        assert await clock.advance_until(firing, 200) == HookDecision()
    assert "timed out after 200 s" in caplog.text
    assert await is_gone(child)


async def test_a_hook_with_too_much_output_is_terminated(
    hook_fixture: HookFixture, caplog: pytest.LogCaptureFixture
) -> None:
    hook_fixture.add_hook("PreToolUse", "yes")
    with caplog.at_level(logging.WARNING):
        assert await hook_fixture.fire(BASH) == HookDecision()
    assert "too much output" in caplog.text


async def test_an_interrupted_hook_is_terminated_and_front_ends_are_notified(
    hook_fixture: HookFixture,
) -> None:
    hook_fixture.add_hook("PreToolUse", "echo $$ > pid; sleep 1000")
    firing = asyncio.ensure_future(hook_fixture.fire(BASH))
    pid = await pid_in(hook_fixture.dir / "pid")
    firing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await firing
    assert await is_gone(pid)
    assert isinstance(hook_fixture.sent[-1], HookResolved)


async def test_a_child_process_left_behind_does_not_delay_the_hook(hook_fixture: HookFixture) -> None:
    hook_fixture.add_hook("UserPromptSubmit", "sleep 300 & echo $! > child; echo ready")
    assert (await hook_fixture.fire(PROMPT)).context == ("ready",)
    os.kill(int((hook_fixture.dir / "child").read_text()), 9)


async def test_a_hook_in_a_missing_working_directory_decides_nothing(tmp_path: Path) -> None:
    hook_fixture = HookFixture(tmp_path / "gone")
    hook_fixture.add_hook("PreToolUse", "exit 2")
    assert await hook_fixture.fire(BASH) == HookDecision()


async def test_an_invalid_matcher_matches_nothing(hook_fixture: HookFixture) -> None:
    hook_fixture.add_hook("PreToolUse", "exit 2", matcher="(")
    assert await hook_fixture.fire(BASH) == HookDecision()


# Hooks of a client


class HookClient:
    """A client at the other end of a Wire."""

    def __init__(self) -> None:
        self.wire = Wire()
        self.subscription = self.wire.subscribe()

    def build_hook(self, *, timeout_s: float = 20.0) -> ClientHook:
        return ClientHook(HookFilter("PreToolUse"), "mine", timeout_s, self.wire)

    async def request(self) -> HookRequest:
        async for message in self.subscription:
            if isinstance(message, HookRequest):
                return message
        raise AssertionError("no request was received")


async def test_a_client_receives_a_request_and_may_block(hook_fixture: HookFixture) -> None:
    client = HookClient()
    hooks = SessionHookDispatcher((), session_id="s1", work_dir="/w", sender=hook_fixture.sent)
    hooks.set_client_hooks([client.build_hook()])
    assert hooks.counts == {"PreToolUse": 1}
    firing = asyncio.ensure_future(hooks.fire(BASH))
    request = await client.request()
    assert (request.subscription_id, request.event, request.target) == ("mine", "PreToolUse", "Shell")
    assert request.input_data["tool_input"] == {"command": "git push"}
    client.wire.answer(HookResponse(request.id, "block", "not mine"))
    assert await firing == HookDecision(blocked=True, reason="not mine")


async def test_a_client_that_does_not_respond_decides_nothing(hook_fixture: HookFixture) -> None:
    client = HookClient()
    hooks = SessionHookDispatcher((), session_id="s1", work_dir="/w", sender=hook_fixture.sent)
    hooks.set_client_hooks([client.build_hook(timeout_s=0.01)])
    assert await hooks.fire(BASH) == HookDecision()
    client.wire.close()
    assert await hooks.fire(BASH) == HookDecision()


# All events


async def test_a_subagent_fires_neither_user_prompt_submit_nor_stop(hook_fixture: HookFixture) -> None:
    for name in get_args(HookEventName):
        hook_fixture.add_hook(name, "exit 0")
    hooks = SubagentHookDispatcher(hook_fixture)
    for event in (PROMPT, Stop(stop_hook_active=False), BASH):
        await hooks.fire(event)
    assert [sent.event for sent in hook_fixture.sent if isinstance(sent, HookTriggered)] == ["PreToolUse"]


def test_every_event_name_has_an_event_class() -> None:
    names = {"Notification" if cls is UserNotification else cls.__name__ for cls in get_args(HookEvent)}
    assert names == set(get_args(HookEventName))


def test_tool_events_can_be_blocked_but_session_starts_cannot() -> None:
    post_tool_use = PostToolUse(tool_name="Bash", tool_input={}, tool_output="", tool_call_id="c")
    assert can_be_blocked(replace(BASH))
    assert can_be_blocked(post_tool_use)
    assert not can_be_blocked(SessionStart(source="startup"))


async def pid_in(file: Path) -> int:
    """Wait until a command has written its process id to `file`; return it."""
    async with asyncio.timeout(TEST_TIMEOUT_S):
        while not (file.exists() and file.read_text().endswith("\n")):
            await asyncio.sleep(0.01)
    return int(file.read_text())


async def is_gone(pid: int) -> bool:
    """Wait until the process has exited; return True."""
    async with asyncio.timeout(TEST_TIMEOUT_S):
        while True:
            try:
                state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
            except FileNotFoundError:
                return True
            if state == "Z":
                return True
            await asyncio.sleep(0.01)
