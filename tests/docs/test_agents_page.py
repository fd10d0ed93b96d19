"""docs/agents.md: its example agents load, and its tables are complete."""

import re

from kimi_tui.agentspec.discovery import find_agent, list_agents
from kimi_tui.agentspec.loader import load_agent_spec
from kimi_tui.agentspec.prompt import PromptVariables, render_prompt
from kimi_tui.engine.build.tool_factory import BUILTIN_TOOLS
from kimi_tui.wire.events import SessionInfo
from tests.docs.pages import DOCS, examples
from tests.engine.fake_front_end import SessionEnv

PAGE = (DOCS / "agents.md").read_text("utf-8")


def test_every_bundled_agent_is_on_the_page_with_its_sub_agents(home: SessionEnv) -> None:
    listed = re.findall(r"^\| `(\w+)` \|", PAGE.partition("## Custom agents")[0], re.MULTILINE)
    bundled = list_agents(work_dir=home.work_dir, data_dir=home.data_dir)
    assert sorted(listed) == [agent.name for agent in bundled]
    default = load_agent_spec(
        find_agent("default", work_dir=home.work_dir, data_dir=home.data_dir), known_tools=BUILTIN_TOOLS
    )
    assert all(f"`{name}`" in PAGE for name in default.subagents)


def test_every_prompt_variable_is_on_the_page(home: SessionEnv) -> None:
    known = PromptVariables.collect(home.work_dir).by_name()
    assert set(known) == set(re.findall(r"\$\{(KIMI_\w+)\}", PAGE)) - {"KIMI_AGENT_DIR"}


async def test_the_custom_agent_works(home: SessionEnv) -> None:
    for example in examples("agents.md"):
        example.put_into(home.work_dir)
    path = find_agent("reviewer", work_dir=home.work_dir, data_dir=home.data_dir)
    spec = load_agent_spec(path, known_tools=BUILTIN_TOOLS)
    assert [tool.name for tool in spec.tools] == ["ReadFile", "Grep", "Glob", "Shell"]
    assert f"Read {path.parent}/checklist.md first" in render_prompt(
        spec, PromptVariables.collect(home.work_dir)
    )
    reader = load_agent_spec(spec.subagents["reader"].path, known_tools=BUILTIN_TOOLS)
    assert render_prompt(reader, PromptVariables.collect(home.work_dir)).endswith("Be short.")
    home.script("text: fine")
    async with home.open_session(agent="reviewer") as front:
        assert front.of(SessionInfo)[0].agent == "reviewer"
        assert (await front.turn("review it")).outcome == "finished"


def test_the_kimi_cli_agent_file_loads(home: SessionEnv) -> None:
    path = next(it for it in examples("agents.md") if it.file == "ported.yaml").put_into(home.work_dir)
    spec = load_agent_spec(path, known_tools=BUILTIN_TOOLS)
    assert [tool.name for tool in spec.tools] == ["Shell", "ReadFile"]
    assert "Answer in rhymes." in render_prompt(spec, PromptVariables.collect(home.work_dir))
