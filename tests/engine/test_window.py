"""What fills the model's window, and which agents there are: `/context` and `/agents`."""

from kimi_tui.wire.agents import AgentList, ListedSubagent
from kimi_tui.wire.commands import RunSlash
from kimi_tui.wire.events import SessionInfo
from kimi_tui.wire.window import WindowFilling
from tests.engine.front import Front, Home, bash, script

OKABE = "name: mine\ndescription: Looks after the garden.\nextend: default\ntools: [ReadFile]\n"


async def filling(front: Front) -> WindowFilling:
    front.give(RunSlash("context"))
    return await front.until(WindowFilling)


def parts(filling: WindowFilling) -> dict[str, tuple[int, int]]:
    return {part.kind: (part.tokens, part.count) for part in filling.parts}


async def test_before_anything_is_sent_the_window_holds_the_prompt_and_the_tools(home: Home) -> None:
    async with home.opened() as front:
        told = await filling(front)
        assert not told.is_measured
        assert set(parts(told)) == {"system prompt", "tools"}
        assert told.tokens == sum(part.tokens for part in told.parts)
        assert told.compacts_at is not None
        assert told.max_tokens is not None
        assert told.tokens < told.compacts_at < told.max_tokens


async def test_what_was_said_takes_its_share_of_what_the_provider_counted(home: Home) -> None:
    home.script(
        script(
            'usage: {"input_other": 9000, "output": 1000}', "think: hm", "text: I look", bash("c1", "seq 900")
        ),
        script('usage: {"input_other": 19000, "output": 1000}', "text: done"),
    )
    async with home.opened(yolo=True) as front:
        await front.turn("count")
        told = await filling(front)
        assert told.is_measured
        assert told.tokens == 20_000
        assert abs(sum(part.tokens for part in told.parts) - told.tokens) < len(told.parts)
        by_kind = parts(told)
        assert {kind: by_kind[kind][1] for kind in ("prompts", "answers", "thinking", "tool calls")} == {
            "prompts": 1,
            "answers": 2,
            "thinking": 1,
            "tool calls": 1,
        }
        assert by_kind["tool results"][0] > by_kind["answers"][0]


async def test_agents_are_listed_with_what_they_do_and_what_is_wrong_with_them(home: Home) -> None:
    folder = home.share_dir / "agents"
    for name, text in (("mine", OKABE), ("broken", "extend: default\ntools: [Nonsense]\n")):
        (folder / name).mkdir(parents=True)
        (folder / name / "agent.yaml").write_text(text)
    async with home.opened() as front:
        front.give(RunSlash("agents"))
        listed = await front.until(AgentList)
        assert listed.current == "default"
        agents = {agent.name: agent for agent in listed.agents}
        assert agents["mine"].description == "Looks after the garden."
        assert (agents["mine"].origin, agents["mine"].tools) == ("user", ("ReadFile",))
        assert "Nonsense" in agents["broken"].problem
        assert (
            ListedSubagent("explore", agents["default"].subagents[1].description)
            in agents["default"].subagents
        )


async def test_a_session_that_is_resumed_keeps_its_agent(home: Home) -> None:
    home.script("text: hi")
    async with home.opened(agent="okabe") as front:
        await front.turn("hello")
    async with home.opened(continue_last=True) as front:
        assert front.of(SessionInfo)[-1].agent == "okabe"
    async with home.opened(continue_last=True, agent="default") as front:
        assert front.of(SessionInfo)[-1].agent == "default"
    async with home.opened() as front:
        assert front.of(SessionInfo)[-1].agent == "default"
