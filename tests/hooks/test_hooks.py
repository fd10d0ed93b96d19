"""Hooks: which run at an event, what they are told, what they decide, and what becomes of broken ones."""

import asyncio
import json
import logging
import os
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest

from kimi_tui.base.hook_events import HookEventName
from kimi_tui.hooks.events import (
    HookEvent,
    Notification,
    PostCompact,
    PostToolUse,
    PreToolUse,
    SessionStart,
    Stop,
    UserPromptSubmit,
    can_be_blocked,
    name_of,
)
from kimi_tui.hooks.hook import ClientHook, CommandHook, Watched
from kimi_tui.hooks.hooks import NO_HOOKS, Hooks, SubagentHooks
from kimi_tui.hooks.outcome import HookOutcome
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.events import HookResolved, HookTriggered
from kimi_tui.wire.requests import HookRequest, HookResponse
from tests.clock import Clock
from tests.patience import PATIENCE_S

BASH = PreToolUse(
    tool_name="Shell", tool_input={"command": "git push"}, tool_call_id="c1", known_as=("Bash",)
)
PROMPT = UserPromptSubmit(prompt="mend it")


class Place:
    """A work dir with hooks, and what they made the front ends hear."""

    def __init__(self, path: Path) -> None:
        self.dir = path
        self.sent: list[Any] = []
        self._hooks: list[CommandHook] = []

    def hook(self, event: HookEventName, command: str, *, matcher: str = "", timeout_s: float = 20.0) -> None:
        self._hooks.append(CommandHook(Watched(event, matcher), command, timeout_s, self.dir))

    async def fire(self, event: HookEvent) -> HookOutcome:
        hooks = Hooks(self._hooks, session_id="s1", work_dir=str(self.dir), send=self.sent.append)
        return await hooks.fire(event)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


# what they are told


async def test_a_hook_is_told_its_event_as_json_on_stdin_in_the_work_dir(place: Place) -> None:
    place.hook("PreToolUse", "cat > told.json")
    assert await place.fire(BASH) == HookOutcome()
    assert json.loads((place.dir / "told.json").read_text()) == {
        "session_id": "s1",
        "cwd": str(place.dir),
        "hook_event_name": "PreToolUse",
        "tool_name": "Shell",
        "tool_input": {"command": "git push"},
        "tool_call_id": "c1",
    }


async def test_a_hook_that_does_not_read_what_it_is_told_is_none_the_worse(place: Place) -> None:
    place.hook("UserPromptSubmit", "echo heard")
    assert (await place.fire(UserPromptSubmit(prompt="x" * 1_000_000))).context == ("heard",)


async def test_front_ends_hear_when_hooks_run_and_what_they_decided(place: Place) -> None:
    place.hook("PreToolUse", "exit 0")
    place.hook("PreToolUse", "echo no >&2; exit 2")
    await place.fire(BASH)
    triggered, resolved = place.sent
    assert triggered == HookTriggered("PreToolUse", "Shell", 2)
    assert isinstance(resolved, HookResolved)
    assert (resolved.target, resolved.action, resolved.reason) == ("Shell", "block", "no")
    assert resolved.duration_ms >= 0


async def test_without_a_hook_that_is_concerned_nothing_is_said(place: Place) -> None:
    place.hook("Stop", "exit 2")
    assert await place.fire(BASH) == HookOutcome()
    assert await NO_HOOKS.fire(BASH) == HookOutcome()
    assert place.sent == []


# which run


@pytest.mark.parametrize(
    ("matcher", "runs"),
    [("", True), ("Shell", True), ("Bash", True), ("ReadFile|Bash", True), ("^Sh", True), ("Write", False)],
)
async def test_the_matcher_is_searched_for_in_every_name_of_the_tool(
    place: Place, matcher: str, runs: bool
) -> None:
    place.hook("PreToolUse", "touch ran", matcher=matcher)
    await place.fire(BASH)
    assert (place.dir / "ran").exists() == runs


@pytest.mark.parametrize(
    ("event", "matcher"),
    [
        (SessionStart(source="resume"), "resume"),
        (PROMPT, "mend"),
        (PostCompact(trigger="auto", estimated_token_count=3), "auto"),
        (Notification(sink="wire", notification_type="notice", title="", body="", severity="info"), "notice"),
        (Notification(sink="wire", notification_type="notice", title="", body="", severity="info"), "wire"),
        (Stop(stop_hook_active=False), "whatever: a Stop is about nothing"),
    ],
)
async def test_other_events_match_by_what_they_are_about(
    place: Place, event: HookEvent, matcher: str
) -> None:
    place.hook(name_of(event), "touch ran", matcher=matcher)
    await place.fire(event)
    assert (place.dir / "ran").exists()


async def test_a_command_that_is_configured_twice_runs_once(place: Place) -> None:
    for matcher in ("Shell", "Bash"):
        place.hook("PreToolUse", "echo ran >> log", matcher=matcher)
    await place.fire(BASH)
    assert (place.dir / "log").read_text() == "ran\n"


async def test_hooks_of_an_event_run_beside_each_other(place: Place) -> None:
    os.mkfifo(place.dir / "meet")
    place.hook("PreToolUse", "echo here > meet", timeout_s=20)
    place.hook("PreToolUse", "cat meet > met", timeout_s=20)
    await place.fire(BASH)  # one after the other they would wait for each other until they are ended
    assert (place.dir / "met").read_text() == "here\n"


# what they decide


async def test_exit_2_blocks_and_stderr_says_why(place: Place) -> None:
    place.hook("PreToolUse", "echo 'not on a Friday' >&2; exit 2")
    assert await place.fire(BASH) == HookOutcome(blocked=True, reason="not on a Friday")


@pytest.mark.parametrize(
    "decision",
    [
        {"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "use rg"}},
        {"decision": "block", "reason": "use rg"},
    ],
)
async def test_json_on_stdout_can_block(place: Place, decision: dict[str, Any]) -> None:
    (place.dir / "decision.json").write_text(json.dumps(decision))
    place.hook("PreToolUse", "cat decision.json")
    assert await place.fire(BASH) == HookOutcome(blocked=True, reason="use rg")


async def test_json_that_allows_grants_nothing_and_may_add_context(place: Place) -> None:
    decision = {"hookSpecificOutput": {"permissionDecision": "allow", "additionalContext": "tests are slow"}}
    (place.dir / "decision.json").write_text(json.dumps(decision))
    place.hook("PreToolUse", "cat decision.json")
    assert await place.fire(BASH) == HookOutcome(context=("tests are slow",))


async def test_one_no_is_a_no_and_reasons_add_up(place: Place) -> None:
    place.hook("PreToolUse", "exit 0")
    place.hook("PreToolUse", "echo one >&2; exit 2")
    place.hook("PreToolUse", "echo two >&2; exit 2")
    assert await place.fire(BASH) == HookOutcome(blocked=True, reason="one\ntwo")


async def test_plain_text_is_context_where_the_user_speaks_and_nothing_else(place: Place) -> None:
    place.hook("UserPromptSubmit", "echo on branch main")
    place.hook("PreToolUse", "echo one file reformatted")
    assert (await place.fire(PROMPT)).context == ("on branch main",)
    assert (await place.fire(BASH)).context == ()


async def test_a_no_to_what_has_happened_already_blocks_nothing(place: Place) -> None:
    place.hook("SessionStart", "echo too late >&2; exit 2")
    outcome = await place.fire(SessionStart(source="startup"))
    assert not outcome.blocked
    assert place.sent[-1].action == "allow"


async def test_endless_words_are_cut(place: Place) -> None:
    place.hook("UserPromptSubmit", "yes | head -c 1000000")
    (context,) = (await place.fire(PROMPT)).context
    assert len(context) < 11_000
    assert context.endswith("[cut here]")


# those that break


@pytest.mark.parametrize(
    "command", ["exit 1", "exit 77", "no-such-command-at-all", "kill -9 $$", "echo '{broken'", "'"]
)
async def test_a_hook_that_fails_decides_nothing(place: Place, command: str) -> None:
    place.hook("PreToolUse", command)
    assert await place.fire(BASH) == HookOutcome()
    assert place.sent[-1].action == "allow"


async def test_the_log_says_why_a_hook_failed(place: Place, caplog: pytest.LogCaptureFixture) -> None:
    place.hook("PreToolUse", "echo 'jq: not found' >&2; exit 127")
    with caplog.at_level(logging.WARNING):
        await place.fire(BASH)
    assert "jq: not found" in caplog.text


async def test_a_hook_that_takes_too_long_is_ended_with_all_that_it_started(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    clock = Clock()
    place.hook("PreToolUse", "sleep 1000 & echo $! > child; wait", timeout_s=200)
    with caplog.at_level(logging.WARNING):
        firing = asyncio.ensure_future(place.fire(BASH))
        child = await pid_in(place.dir / "child")
        assert await clock.forward_until(firing, 200) == HookOutcome()
    assert "longer than 200 s" in caplog.text
    assert await gone(child)


async def test_a_hook_that_prints_without_end_is_ended(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    place.hook("PreToolUse", "yes")
    with caplog.at_level(logging.WARNING):
        assert await place.fire(BASH) == HookOutcome()
    assert "printed too much" in caplog.text


async def test_an_interrupted_hook_is_ended_and_its_end_is_told(place: Place) -> None:
    place.hook("PreToolUse", "echo $$ > pid; sleep 1000")
    firing = asyncio.ensure_future(place.fire(BASH))
    pid = await pid_in(place.dir / "pid")
    firing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await firing
    assert await gone(pid)
    assert isinstance(place.sent[-1], HookResolved)


async def test_children_left_behind_keep_nobody_waiting(place: Place) -> None:
    place.hook("UserPromptSubmit", "sleep 300 & echo $! > child; echo ready")
    assert (await place.fire(PROMPT)).context == ("ready",)
    os.kill(int((place.dir / "child").read_text()), 9)


async def test_a_work_dir_that_is_gone_costs_the_hook(tmp_path: Path) -> None:
    place = Place(tmp_path / "gone")
    place.hook("PreToolUse", "exit 2")
    assert await place.fire(BASH) == HookOutcome()


async def test_a_matcher_that_is_no_expression_matches_nothing(place: Place) -> None:
    place.hook("PreToolUse", "exit 2", matcher="(")
    assert await place.fire(BASH) == HookOutcome()


# a client's


class Client:
    """A client at the other end of a Wire."""

    def __init__(self) -> None:
        self.wire = Wire()
        self.subscription = self.wire.subscribe()

    def hook(self, *, timeout_s: float = 20.0) -> ClientHook:
        return ClientHook(Watched("PreToolUse"), "mine", timeout_s, self.wire.ask)

    async def request(self) -> HookRequest:
        async for message in self.subscription:
            if isinstance(message, HookRequest):
                return message
        raise AssertionError("no request came")


async def test_a_client_is_asked_and_may_block(place: Place) -> None:
    client = Client()
    hooks = Hooks((), session_id="s1", work_dir="/w", send=place.sent.append)
    hooks.lend([client.hook()])
    assert hooks.counts == {"PreToolUse": 1}
    firing = asyncio.ensure_future(hooks.fire(BASH))
    request = await client.request()
    assert (request.subscription_id, request.event, request.target) == ("mine", "PreToolUse", "Shell")
    assert request.input_data["tool_input"] == {"command": "git push"}
    client.wire.answer(HookResponse(request.id, "block", "not mine"))
    assert await firing == HookOutcome(blocked=True, reason="not mine")


async def test_a_client_that_gives_no_answer_decides_nothing(place: Place) -> None:
    client = Client()
    hooks = Hooks((), session_id="s1", work_dir="/w", send=place.sent.append)
    hooks.lend([client.hook(timeout_s=0.01)])
    assert await hooks.fire(BASH) == HookOutcome()
    client.wire.close()
    assert await hooks.fire(BASH) == HookOutcome()


# all of them


async def test_a_sub_agent_s_task_is_no_prompt_and_its_end_no_stop(place: Place) -> None:
    for name in get_args(HookEventName):
        place.hook(name, "exit 0")
    hooks = SubagentHooks(place)
    for event in (PROMPT, Stop(stop_hook_active=False), BASH):
        await hooks.fire(event)
    assert [sent.event for sent in place.sent if isinstance(sent, HookTriggered)] == ["PreToolUse"]


def test_every_event_that_can_be_named_is_an_event() -> None:
    assert {cls.__name__ for cls in get_args(HookEvent)} == set(get_args(HookEventName))


def test_what_has_happened_can_only_be_remarked_on() -> None:
    after = PostToolUse(tool_name="Bash", tool_input={}, tool_output="", tool_call_id="c")
    assert can_be_blocked(replace(BASH))
    assert can_be_blocked(after)
    assert not can_be_blocked(SessionStart(source="startup"))


async def pid_in(file: Path) -> int:
    """The number that a command writes into a file, once it has."""
    async with asyncio.timeout(PATIENCE_S):
        while not (file.exists() and file.read_text().endswith("\n")):
            await asyncio.sleep(0.01)
    return int(file.read_text())


async def gone(pid: int) -> bool:
    """Whether the process has ended, or does so soon."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            try:
                state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
            except FileNotFoundError:
                return True
            if state == "Z":
                return True
            await asyncio.sleep(0.01)
