"""docs/hooks.md: every event has an example that does what the page says."""

import json
from typing import Any, get_args

from kimi_tui.base.hook_events import HookEventName
from kimi_tui.config.settings import Settings
from kimi_tui.hooks.decision import parse_decision
from kimi_tui.hooks.events import PreToolUse
from kimi_tui.hooks.hook import HookFilter
from kimi_tui.wire.commands import Prompt, RunSlash
from kimi_tui.wire.events import TurnEnd
from tests.docs.pages import examples
from tests.engine.fake_front_end import FakeFrontEnd, SessionEnv, bash, call, script, write

EVENTS = {example.heading: example for example in examples("hooks.md", language="toml")}


def hooks(home: SessionEnv, event: str) -> Settings:
    return home.settings(**EVENTS[event].toml)


def journal(home: SessionEnv) -> str:
    return home.journal


def tool_output(front: FakeFrontEnd, call_id: str) -> str:
    return front.results[call_id].return_value.message


async def run_slash(front: FakeFrontEnd, line: str) -> TurnEnd:
    front.send(RunSlash(line))
    return await front.wait_for(TurnEnd)


def test_every_event_has_a_heading_with_an_example() -> None:
    assert list(EVENTS) == list(get_args(HookEventName))
    for event, example in EVENTS.items():
        assert {hook["event"] for hook in example.toml["hooks"]} == {event}


def test_the_decision_of_the_page_blocks_the_call_with_its_reason() -> None:
    (_, decision) = examples("hooks.md", language="json")
    outcome = parse_decision(0, decision.text, "", plain_text=False)
    assert outcome is not None
    assert (outcome.blocked, outcome.reason) == (True, "Use rg, not grep.")
    assert outcome.context == ("The tests take ten minutes.",)


def test_a_hook_gets_the_input_that_the_page_shows() -> None:
    shown: dict[str, Any] = json.loads(examples("hooks.md", language="json")[0].text)
    event = PreToolUse(tool_name="Bash", tool_input={}, tool_call_id="c", tool_aliases=("Bash", "Shell"))
    assert shown.keys() == {"session_id", "cwd", "hook_event_name", "tool_name", "tool_input", "tool_call_id"}
    assert HookFilter("PreToolUse", "Shell").matches(event)


async def test_pre_tool_use(home: SessionEnv) -> None:
    home.script(script("text: go", bash("c1", "git push"), bash("c2", "echo hi")), "text: done")
    async with home.open_session(settings=hooks(home, "PreToolUse"), yolo=True) as front:
        await front.turn("push")
        assert "Pushing is done by people." in tool_output(front, "c1")
        assert front.results["c2"].return_value.output.strip() == "hi"


async def test_post_tool_use(home: SessionEnv) -> None:
    home.script(
        script("text: go", write("c1", "a.txt", "TODO\n")), write("c2", "a.txt", "ok\n"), "text: done"
    )
    async with home.open_session(settings=hooks(home, "PostToolUse"), yolo=True) as front:
        await front.turn("write")
        assert "a.txt:1:TODO" in tool_output(front, "c1")
        assert "objects" not in tool_output(front, "c2")


async def test_post_tool_use_failure(home: SessionEnv) -> None:
    home.script(script("text: go", bash("c1", "exit 3")), "text: done")
    async with home.open_session(settings=hooks(home, "PostToolUseFailure"), yolo=True) as front:
        await front.turn("fail")
    (line,) = home.file("failures.log").read_text().splitlines()
    assert json.loads(line)["tool_name"] == "Bash"


async def test_user_prompt_submit(home: SessionEnv) -> None:
    home.file("branch.txt").write_text("fix-login")
    home.script("text: done")
    async with home.open_session(settings=hooks(home, "UserPromptSubmit")) as front:
        assert (await front.turn("My password is hunter-two")).outcome == "failed"
        assert (await front.turn("hello")).outcome == "finished"
    assert "Today's branch: fix-login" in journal(home)
    assert "hunter-two" not in journal(home)


async def test_stop(home: SessionEnv) -> None:
    home.script("text: done", "text: now they pass", "text: again")
    async with home.open_session(settings=hooks(home, "Stop")) as front:
        assert (await front.turn("fix it")).steps == 2
        assert "Run the tests first." in journal(home)
        home.file("tests-passed").touch()
        assert (await front.turn("more")).steps == 1


async def test_stop_failure(home: SessionEnv) -> None:
    home.script("error: 401 who are you")
    async with home.open_session(settings=hooks(home, "StopFailure")) as front:
        assert (await front.turn("hello")).outcome == "failed"
    assert home.file("alarm.txt").read_text() == "the model failed\n"


async def test_session_start(home: SessionEnv) -> None:
    home.script("text: done")
    async with home.open_session(settings=hooks(home, "SessionStart")) as front:
        await front.turn("hello")
    assert "The build on the main branch is red." in journal(home)


async def test_session_end(home: SessionEnv) -> None:
    home.script("text: done")
    async with home.open_session(settings=hooks(home, "SessionEnd")):
        assert not home.file("sessions.log").exists()
    assert home.file("sessions.log").read_text() == "closed\n"


async def test_subagent_start(home: SessionEnv) -> None:
    task = call("c1", "Task", description="x", prompt="do x", subagent_type="coder")
    home.script(script("text: go", task), "text: then I do it")
    async with home.open_session(settings=hooks(home, "SubagentStart")) as front:
        await front.turn("work")
        assert "Do this yourself." in tool_output(front, "c1")
        assert front.results["c1"].return_value.is_error


async def test_subagent_stop(home: SessionEnv) -> None:
    home.script(
        script("for: find x", "text: x is in a.py"),
        script("for: work", call("c1", "Task", description="x", prompt="find x", subagent_type="explore")),
        script("for: work", "text: done"),
    )
    async with home.open_session(settings=hooks(home, "SubagentStop")) as front:
        await front.turn("work")
    report = json.loads(home.file("last-report.json").read_text())
    assert report["agent_name"] == "explore"
    assert "x is in a.py" in report["response"]


async def test_pre_compact_and_post_compact(home: SessionEnv) -> None:
    home.script(*["text: " + "word " * 400] * 3, "text: much shorter")
    both = {"hooks": [*EVENTS["PreCompact"].toml["hooks"], *EVENTS["PostCompact"].toml["hooks"]]}
    async with home.open_session(settings=home.settings(**both)) as front:
        for _ in range(3):
            await front.turn("write a long response")
        blocked = await run_slash(front, "compact")
        assert "Write notes.txt first." in str(blocked.failure)
        home.file("notes.txt").touch()
        assert (await run_slash(front, "compact")).outcome == "finished"
    assert json.loads(home.file("compacted.json").read_text())["trigger"] == "manual"


async def test_notification(home: SessionEnv) -> None:
    home.script(script("text: go", bash("c1", "make")), "text: done")
    async with home.open_session(settings=hooks(home, "Notification")) as front:
        front.send(Prompt("go"))
        front.answer(await front.next_approval_request(), "reject")
        await front.wait_for(TurnEnd)
    assert home.file("wanted").exists()
