"""docs/agents.md: the agents that it shows load, and what it lists is what there is."""

import re

from kimi_tui.agentspec.finding import find_agent, list_agents
from kimi_tui.agentspec.loading import load_agent_spec
from kimi_tui.agentspec.prompt import PromptVariables, render_prompt
from kimi_tui.engine.toolbox import BUILTIN_TOOLS
from kimi_tui.wire.events import SessionInfo
from tests.docs.pages import DOCS, examples
from tests.engine.front import Home

PAGE = (DOCS / "agents.md").read_text("utf-8")


def test_every_bundled_agent_is_on_the_page_with_its_sub_agents(home: Home) -> None:
    listed = re.findall(r"^\| `(\w+)` \|", PAGE.partition("## One of your own")[0], re.MULTILINE)
    bundled = list_agents(work_dir=home.work_dir, share_dir=home.share_dir)
    assert sorted(listed) == [agent.name for agent in bundled]
    default = load_agent_spec(
        find_agent("default", work_dir=home.work_dir, share_dir=home.share_dir), known_tools=BUILTIN_TOOLS
    )
    assert all(f"`{name}`" in PAGE for name in default.subagents)


def test_every_variable_of_prompts_is_on_the_page(home: Home) -> None:
    known = PromptVariables.collect(home.work_dir).by_name()
    assert set(known) == set(re.findall(r"\$\{(KIMI_\w+)\}", PAGE)) - {"KIMI_AGENT_DIR"}


async def test_the_agent_of_your_own_works(home: Home) -> None:
    for example in examples("agents.md"):
        example.put_into(home.work_dir)
    path = find_agent("reviewer", work_dir=home.work_dir, share_dir=home.share_dir)
    spec = load_agent_spec(path, known_tools=BUILTIN_TOOLS)
    assert [tool.name for tool in spec.tools] == ["ReadFile", "Grep", "Glob", "Shell"]
    assert f"You read {path.parent}/checklist.md first" in render_prompt(
        spec, PromptVariables.collect(home.work_dir)
    )
    reader = load_agent_spec(spec.subagents["reader"].path, known_tools=BUILTIN_TOOLS)
    assert render_prompt(reader, PromptVariables.collect(home.work_dir)).endswith("Be short.")
    home.script("text: fine")
    async with home.opened(agent="reviewer") as front:
        assert front.of(SessionInfo)[0].agent == "reviewer"
        assert (await front.turn("review it")).outcome == "finished"


def test_the_agent_file_of_kimi_cli_loads(home: Home) -> None:
    path = next(it for it in examples("agents.md") if it.file == "ported.yaml").put_into(home.work_dir)
    spec = load_agent_spec(path, known_tools=BUILTIN_TOOLS)
    assert [tool.name for tool in spec.tools] == ["Shell", "ReadFile"]
    assert "Answer in rhymes." in render_prompt(spec, PromptVariables.collect(home.work_dir))
