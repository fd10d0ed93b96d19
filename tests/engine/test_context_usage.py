"""The slash commands `/context` and `/agents`."""

from kimi_tui.wire.agent_list import AgentList, SubagentListItem
from kimi_tui.wire.commands import RunSlash
from kimi_tui.wire.context_usage import WindowFilling
from kimi_tui.wire.events import SessionInfo
from tests.engine.fake_front_end import FakeFrontEnd, SessionEnv, bash, script

OKABE = "name: mine\ndescription: Looks after the garden.\nextend: default\ntools: [ReadFile]\n"


async def context_usage(front: FakeFrontEnd) -> WindowFilling:
    front.send(RunSlash("context"))
    return await front.wait_for(WindowFilling)


def parts(usage: WindowFilling) -> dict[str, tuple[int, int]]:
    return {part.kind: (part.tokens, part.count) for part in usage.parts}


async def test_the_context_of_a_new_session_contains_the_system_prompt_and_tools(home: SessionEnv) -> None:
    async with home.open_session() as front:
        usage = await context_usage(front)
        assert not usage.is_measured
        assert set(parts(usage)) == {"system prompt", "tools"}
        assert usage.tokens == sum(part.tokens for part in usage.parts)
        assert usage.compacts_at is not None
        assert usage.max_tokens is not None
        assert usage.tokens < usage.compacts_at < usage.max_tokens


async def test_the_providers_token_count_is_divided_among_the_parts(home: SessionEnv) -> None:
    home.script(
        script(
            'usage: {"input_other": 9000, "output": 1000}', "think: hm", "text: I look", bash("c1", "seq 900")
        ),
        script('usage: {"input_other": 19000, "output": 1000}', "text: done"),
    )
    async with home.open_session(yolo=True) as front:
        await front.turn("count")
        usage = await context_usage(front)
        assert usage.is_measured
        assert usage.tokens == 20_000
        assert abs(sum(part.tokens for part in usage.parts) - usage.tokens) < len(usage.parts)
        by_kind = parts(usage)
        assert {kind: by_kind[kind][1] for kind in ("prompts", "answers", "thinking", "tool calls")} == {
            "prompts": 1,
            "answers": 2,
            "thinking": 1,
            "tool calls": 1,
        }
        assert by_kind["tool results"][0] > by_kind["answers"][0]


async def test_agents_are_listed_with_descriptions_and_problems(home: SessionEnv) -> None:
    folder = home.data_dir / "agents"
    for name, text in (("mine", OKABE), ("broken", "extend: default\ntools: [Nonsense]\n")):
        (folder / name).mkdir(parents=True)
        (folder / name / "agent.yaml").write_text(text)
    async with home.open_session() as front:
        front.send(RunSlash("agents"))
        agent_list = await front.wait_for(AgentList)
        assert agent_list.current == "default"
        agents = {agent.name: agent for agent in agent_list.agents}
        assert agents["mine"].description == "Looks after the garden."
        assert (agents["mine"].origin, agents["mine"].tools) == ("user", ("ReadFile",))
        assert "Nonsense" in agents["broken"].problem
        assert (
            SubagentListItem("explore", agents["default"].subagents[1].description)
            in agents["default"].subagents
        )


async def test_a_resumed_session_keeps_its_agent(home: SessionEnv) -> None:
    home.script("text: hi")
    async with home.open_session(agent="okabe") as front:
        await front.turn("hello")
    async with home.open_session(continue_last=True) as front:
        assert front.of(SessionInfo)[-1].agent == "okabe"
    async with home.open_session(continue_last=True, agent="default") as front:
        assert front.of(SessionInfo)[-1].agent == "default"
    async with home.open_session() as front:
        assert front.of(SessionInfo)[-1].agent == "default"
