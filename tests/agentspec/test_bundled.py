"""The agents and tool descriptions that come with the program."""

import re
from pathlib import Path

import pytest

from kimi_tui.agentspec.finding import list_agents
from kimi_tui.agentspec.loading import load_agent_spec
from kimi_tui.agentspec.prompt import PromptVariables, render_prompt
from kimi_tui.agentspec.spec import ResolvedAgentSpec
from kimi_tui.base.assets import asset_path, read_asset

TOOLS = {
    "ReadFile", "WriteFile", "EditFile", "Bash", "Grep", "Glob", "LS", "Think", "SetTodoList", "SendDMail",
    "ReadMediaFile", "SearchWeb", "FetchURL",
}  # fmt: skip
BUNDLED = ["default", "kimi", "okabe"]


def bundled(name: str) -> ResolvedAgentSpec:
    return load_agent_spec(asset_path("agents", name), known_tools=TOOLS)


def prompt_of(name: str, work_dir: Path) -> str:
    return render_prompt(bundled(name), PromptVariables.collect(work_dir))


def test_these_agents_are_bundled(tmp_path: Path) -> None:
    assert [agent.name for agent in list_agents(work_dir=tmp_path, share_dir=tmp_path)] == BUNDLED


@pytest.mark.parametrize("name", BUNDLED)
def test_each_agent_loads_and_renders_with_a_description(name: str, tmp_path: Path) -> None:
    spec = bundled(name)
    assert spec.name == name
    assert spec.description
    prompt = prompt_of(name, tmp_path)
    assert str(tmp_path) in prompt
    assert "${" not in prompt


@pytest.mark.parametrize("name", BUNDLED)
def test_each_agent_s_prompt_speaks_only_of_tools_that_it_has(name: str, tmp_path: Path) -> None:
    spoken_of = set(
        re.findall(
            r"\b(?:[A-Z][a-z]+(?:[A-Z][A-Za-z]+)+|Bash|Shell|Grep|Glob|LS)\b", prompt_of(name, tmp_path)
        )
    )
    spoken_of -= {"CHECKPOINT", "Shell"} if name != "kimi" else set()
    assert spoken_of <= {tool.name for tool in bundled(name).tools}
    assert len(spoken_of) >= 6


def test_only_okabe_can_send_and_knows_of_d_mails(tmp_path: Path) -> None:
    for name in BUNDLED:
        has = any(tool.name == "SendDMail" for tool in bundled(name).tools)
        assert has == ("CHECKPOINT n" in prompt_of(name, tmp_path)) == (name == "okabe")


def test_okabe_has_all_that_default_has_and_says(tmp_path: Path) -> None:
    variables = PromptVariables.collect(tmp_path)
    assert set(bundled("okabe").tools) > set(bundled("default").tools)
    assert render_prompt(bundled("okabe"), variables).startswith(render_prompt(bundled("default"), variables))


def test_kimi_knows_its_tools_by_the_names_of_kimi_cli() -> None:
    renamed = {tool.reference: tool.name for tool in bundled("kimi").tools if tool.rename}
    assert renamed == {"Bash": "Shell", "EditFile": "StrReplaceFile"}


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_each_tool_has_a_description_that_is_short_and_names_no_other_tool(name: str) -> None:
    description = read_asset("prompts", "tools", f"{name}.md")
    assert 100 < len(description) < 1500
    others = TOOLS - {name, "Think"}
    assert not re.search(rf"\b(?:{'|'.join(others)})\b", description)  # an agent may call it otherwise


def test_no_description_is_without_its_tool() -> None:
    assert {path.stem for path in asset_path("prompts", "tools").glob("*.md")} == TOOLS
