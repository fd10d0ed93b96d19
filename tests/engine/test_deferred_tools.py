"""MCP servers with so many tools that the model looks up their schemas when it needs them."""

from collections.abc import Sequence
from typing import Any

import pytest

from kimi_tui.wire.commands import Prompt, RunSlash, SetModel
from kimi_tui.wire.context_usage import WindowFilling
from kimi_tui.wire.events import StatusUpdate, SubagentEvent, TurnEnd
from tests.engine.fake_front_end import FakeFrontEnd, SessionEnv, call, script
from tests.engine.subagent_scripts import script_for, task_call, write_agent_files
from tests.engine.test_hooks import hook_input, with_hooks
from tests.engine.test_mcp import mcp_selection, output, wait_for_servers
from tests.mcp.odd_servers import config_entry

MANY = mcp_selection(hub=config_entry("many"))


def forward(call_id: str, name: str, **arguments: Any) -> str:
    return call(call_id, "CallMcpTool", name=name, arguments=arguments)


async def tool_tokens(front: FakeFrontEnd) -> tuple[int, int]:
    """Return the estimated tokens and the number of the tools that aren't the agent's own."""
    front.send(RunSlash("context"))
    usage = await front.wait_for(WindowFilling)
    return next(((it.tokens, it.count) for it in usage.parts if it.kind == "lent tools"), (0, 0))


async def run_scripts(home: SessionEnv, scripts: Sequence[str], **options: Any) -> FakeFrontEnd:
    home.script(*scripts)
    async with home.open_session(mcp=MANY, yolo=True, **options) as front:
        await wait_for_servers(front, connected=1)
        assert (await front.turn("go")).outcome == "finished"
    return front


async def test_200_tools_cost_less_than_3000_tokens_and_are_found_and_called(home: SessionEnv) -> None:
    home.script(
        script(call("c1", "SearchMcpTools", query="open a new issue", limit=3)),
        script(forward("c2", "create_issue", title="It breaks")),
        "text: done",
    )
    async with home.open_session(mcp=MANY) as front:
        status = await wait_for_servers(front, connected=1)
        assert len(status.servers[0].tools) == 200
        tokens, count = await tool_tokens(front)
        assert (0 < tokens < 3_000, count) == (True, 2)
        front.send(Prompt("go"))
        request = await front.next_approval_request()
        assert (request.description, request.rule) == ("hub: create_issue", "MCP(hub:create_issue)")
        assert request.sender == "create_issue"
        front.answer(request, "approve")
        await front.wait_for(TurnEnd)
    assert "issue" in output(front, "c1")
    assert '"required": ["title"]' in output(front, "c1")
    assert output(front, "c2") == "create_issue: It breaks"


async def test_few_tools_are_sent_with_their_schemas(home: SessionEnv) -> None:
    async with home.open_session(mcp=mcp_selection(odd=config_entry())) as front:
        await wait_for_servers(front, connected=1)
        assert (await tool_tokens(front))[1] > 10


async def test_a_tool_can_be_called_by_its_own_name_and_without_looking_it_up(home: SessionEnv) -> None:
    front = await run_scripts(home, [script(call("c1", "lock_branch", title="main")), "text: done"])
    assert output(front, "c1") == "lock_branch: main"


async def test_errors_say_how_to_call_the_tool(home: SessionEnv) -> None:
    front = await run_scripts(
        home,
        [
            script(
                forward("c1", "create_isue", title="x"),
                forward("c2", "create_issue", labels=[]),
                call("c3", "create_issue"),
                forward("c4", "create_issue", title=5),
                call("c5", "CallMcpTool", name="create_issue", arguments="nonsense"),
                call("c6", "SearchMcpTools", query="zebra"),
            ),
            "text: done",
        ],
    )
    messages = {call_id: result.return_value.message for call_id, result in front.results.items()}
    assert "Did you mean create_issue? Find tools with SearchMcpTools." in messages["c1"]
    assert "lacks the arguments title" in messages["c2"]
    assert "Parameters: {" in messages["c2"]
    assert messages["c3"] == messages["c2"]
    assert "look up create_issue with SearchMcpTools" in messages["c4"]
    assert "Invalid arguments for CallMcpTool: arguments:" in messages["c5"]
    assert messages["c6"].startswith("No tool matches.")
    assert {key for key, it in front.results.items() if it.return_value.is_error} == {
        "c1",
        "c2",
        "c3",
        "c4",
        "c5",
    }


async def test_arguments_as_text_are_accepted(home: SessionEnv) -> None:
    line = call("c1", "CallMcpTool", name="merge_branch", arguments='{"title": "fix"}')
    front = await run_scripts(home, [script(line), "text: done"])
    assert output(front, "c1") == "merge_branch: fix"


async def test_hooks_and_permission_rules_see_the_tool_itself(home: SessionEnv) -> None:
    home.permissions = {"deny": ["MCP(hub:delete_issue)"]}
    settings_hooks = ("PreToolUse", "cat > pre; exit 0", "create_issue")
    home.script(
        script(forward("c1", "create_issue", title="one"), forward("c2", "delete_issue", title="two")),
        "text: done",
    )
    async with home.open_session(mcp=MANY, yolo=True, settings=with_hooks(home, settings_hooks)) as front:
        await wait_for_servers(front, connected=1)
        await front.turn("go")
    seen = hook_input(home, "pre")
    assert (seen["tool_name"], seen["tool_input"]) == ("create_issue", {"title": "one"})
    assert not front.results["c1"].return_value.is_error
    assert front.results["c2"].return_value.is_error
    assert "delete_issue: two" not in output(front, "c2")


async def test_plan_mode_refuses_a_deferred_tool_that_changes_things(home: SessionEnv) -> None:
    front = await run_scripts(
        home, [script(forward("c1", "create_issue", title="x")), "text: done"], plan=True
    )
    assert front.results["c1"].return_value.is_error
    assert "create_issue: x" not in output(front, "c1")


async def test_tools_stay_deferred_after_compaction_and_resume(home: SessionEnv) -> None:
    home.script(
        script(forward("c1", "create_issue", title="one")),
        *("text: done", "text: two", "text: three", "text: THE SUMMARY"),
        script(forward("c2", "close_issue", title="two")),
        "text: done",
    )
    async with home.open_session(mcp=MANY, yolo=True) as front:
        await wait_for_servers(front, connected=1)
        before = await tool_tokens(front)
        for prompt in ("a", "b", "c"):
            await front.turn(prompt)
        front.send(RunSlash("compact"))
        await front.wait_for(TurnEnd)
        assert (await tool_tokens(front))[1] == 2
        await front.turn("again")
    assert output(front, "c2") == "close_issue: two"
    home.script(script(forward("c3", "watch_issue", title="three")), "text: done")
    async with home.open_session(mcp=MANY, yolo=True, session_id=home.session_dir.name) as front:
        await wait_for_servers(front, connected=1)
        assert (await tool_tokens(front))[1] == before[1] == 2
        await front.turn("go")
    assert output(front, "c3") == "watch_issue: three"


async def test_sub_agents_find_and_call_deferred_tools(home: SessionEnv) -> None:
    home.script(
        script_for("start", task_call("c1", "ship it")),
        script_for(
            "ship it",
            call("s1", "SearchMcpTools", query="publish_release"),
            forward("s2", "publish_release", title="1.0"),
        ),
        script_for("ship it", "text: shipped"),
        script_for("start", "text: done"),
    )
    async with home.open_session(mcp=MANY, yolo=True, agent_file=write_agent_files(home)) as front:
        await wait_for_servers(front, connected=1)
        await front.turn("start")
    results = [it.event.payload for it in front.of(SubagentEvent) if it.event.type == "ToolResult"]
    assert [it["tool_call_id"] for it in results] == ["s1", "s2"]
    assert "publish_release: 1.0" in str(results[1])


@pytest.mark.parametrize(("size", "deferred"), [(200_000, True), (2_000_000, False)])
async def test_the_window_of_the_model_decides(home: SessionEnv, size: int, deferred: bool) -> None:
    settings = home.settings()
    models = {"scripted": settings.models["scripted"].model_copy(update={"max_context_size": size})}
    async with home.open_session(mcp=MANY, settings=settings.model_copy(update={"models": models})) as front:
        await wait_for_servers(front, connected=1)
        assert ((await tool_tokens(front))[1] == 2) == deferred


async def test_another_model_with_a_larger_window_gets_the_schemas(home: SessionEnv) -> None:
    settings = home.settings()
    large = settings.models["scripted"].model_copy(update={"max_context_size": 2_000_000})
    models = {**settings.models, "large": large}
    home.script("text: one", "text: two")
    async with home.open_session(mcp=MANY, settings=settings.model_copy(update={"models": models})) as front:
        await wait_for_servers(front, connected=1)
        await front.turn("go")
        assert (await tool_tokens(front))[1] == 2
        front.send(SetModel("large"))
        await front.wait_for(StatusUpdate, where=lambda it: it.max_context_tokens == 2_000_000)
        await front.turn("go")
        assert (await tool_tokens(front))[1] == 200
