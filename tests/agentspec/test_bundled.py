"""The bundled agents and tool descriptions."""

import re
from pathlib import Path

import pytest

from kimi_tui.agentspec.discovery import list_agents
from kimi_tui.agentspec.loader import load_agent_spec
from kimi_tui.agentspec.prompt import PromptVariables, render_prompt
from kimi_tui.agentspec.spec import ResolvedAgentSpec
from kimi_tui.base.assets import asset_path, read_asset
from kimi_tui.engine.build.tool_factory import BUILTIN_TOOLS

TOOLS = set(BUILTIN_TOOLS)
TOOLS_BY_OTHER_NAMES = {
    "StrReplaceFile",
    "ListMcpResources",
    "ReadMcpResource",
    "SearchMcpTools",
    "CallMcpTool",
}
"""Tools that no agent gets by its short name."""
BUNDLED = ["ctfer", "default", "kimi", "okabe", "security", "security_beta"]
SUBAGENTS = ["coder", "explore", "plan"]
BACKGROUND = {"TaskList", "TaskOutput", "TaskStop"}
"""Their descriptions mention each other: an agent has all of them or none."""
PLANNING = {"EnterPlanMode", "ExitPlanMode"}
READING = {"ReadFile", "ReadMediaFile", "Grep", "Glob", "LS", "SearchWeb", "FetchURL", "Think"}


def load_bundled(name: str) -> ResolvedAgentSpec:
    return load_agent_spec(asset_path("agents", name), known_tools=TOOLS)


def load_subagent(name: str) -> ResolvedAgentSpec:
    return load_agent_spec(load_bundled("default").subagents[name].path, known_tools=TOOLS)


def every_agent() -> list[ResolvedAgentSpec]:
    return [*map(load_bundled, BUNDLED), *map(load_subagent, SUBAGENTS)]


def tool_names(spec: ResolvedAgentSpec) -> set[str]:
    return {tool.name for tool in spec.tools}


def prompt_of(spec: ResolvedAgentSpec, work_dir: Path) -> str:
    return render_prompt(spec, PromptVariables.collect(work_dir))


def test_these_agents_are_bundled(tmp_path: Path) -> None:
    assert [agent.name for agent in list_agents(work_dir=tmp_path, data_dir=tmp_path)] == BUNDLED


@pytest.mark.parametrize("spec", every_agent(), ids=lambda spec: spec.name)
def test_each_agent_loads_and_renders_with_a_description(spec: ResolvedAgentSpec, tmp_path: Path) -> None:
    assert spec.description
    prompt = prompt_of(spec, tmp_path)
    assert str(tmp_path) in prompt
    assert "${" not in prompt
    assert not any(len(line) > 130 for line in prompt.splitlines() if str(tmp_path) not in line)


@pytest.mark.parametrize("spec", every_agent(), ids=lambda spec: spec.name)
def test_each_agent_s_prompt_mentions_only_tools_it_has(spec: ResolvedAgentSpec, tmp_path: Path) -> None:
    known_names = TOOLS | TOOLS_BY_OTHER_NAMES | {"Shell", "Agent"}
    prompt = prompt_of(spec, tmp_path).replace(" Shell: ", "")  # the variable, not the tool
    mentioned = set(re.findall(r"\b[A-Z][A-Za-z]+\b", prompt)) & known_names
    assert mentioned <= tool_names(spec)
    assert len(mentioned) >= 2


def test_only_okabe_can_send_d_mails_and_knows_checkpoints(tmp_path: Path) -> None:
    for spec in every_agent():
        can_send = "SendDMail" in tool_names(spec)
        assert can_send == ("CHECKPOINT n" in prompt_of(spec, tmp_path)) == (spec.name == "okabe")


def test_okabe_includes_the_tools_sub_agents_and_prompt_of_default(tmp_path: Path) -> None:
    okabe, default = load_bundled("okabe"), load_bundled("default")
    assert set(okabe.tools) > set(default.tools)
    assert okabe.subagents == default.subagents
    assert prompt_of(okabe, tmp_path).startswith(prompt_of(default, tmp_path))


def test_default_has_every_tool_except_send_d_mail() -> None:
    assert tool_names(load_bundled("default")) == TOOLS - {"SendDMail"}


def test_kimi_has_its_tools_under_kimi_cli_s_names() -> None:
    tools = {tool.name: tool.reference for tool in load_bundled("kimi").tools}
    assert tools["Shell"] == "Bash"
    assert tools["Agent"] == "Task"
    assert tools["StrReplaceFile"] == "kimi_tui.tools.file.str_replace:StrReplaceFile"
    assert not {"Bash", "Task", "EditFile"} & tools.keys()
    assert load_bundled("kimi").subagents == load_bundled("default").subagents


def test_default_has_a_coder_an_explorer_and_a_planner() -> None:
    assert list(load_bundled("default").subagents) == SUBAGENTS
    assert all(len(each.description) > 60 for each in load_bundled("default").subagents.values())


def test_sub_agents_cannot_start_sub_agents_or_ask_the_user() -> None:
    for name in SUBAGENTS:
        assert not {"Task", "AskUserQuestion", "SendDMail", *PLANNING} & tool_names(load_subagent(name))
        assert not load_subagent(name).declares_subagents
    assert {"EditFile", "Bash", "WriteFile"} <= tool_names(load_subagent("coder"))


@pytest.mark.parametrize("name", ["explore", "plan"])
def test_the_explorer_and_the_planner_have_only_read_only_tools(name: str) -> None:
    assert tool_names(load_subagent(name)) <= READING


@pytest.mark.parametrize("name", ["security", "security_beta"])
def test_an_auditor_can_write_a_report_but_not_edit_files(name: str, tmp_path: Path) -> None:
    assert "WriteFile" in tool_names(load_bundled(name))
    assert "EditFile" not in tool_names(load_bundled(name))
    assert "security-report.md" in prompt_of(load_bundled(name), tmp_path)


def test_the_beta_auditor_s_prompt_and_readme_describe_its_knowledge_base(tmp_path: Path) -> None:
    folder = asset_path("agents", "security_beta") / "knowledge"
    assert str(folder) in prompt_of(load_bundled("security_beta"), tmp_path)
    assert str(folder) not in prompt_of(load_bundled("security"), tmp_path)
    listed = set(re.findall(r"`([\w-]+\.md)`", (folder / "README.md").read_text()))
    assert listed == {file.name for file in folder.glob("*.md")} - {"README.md"}
    for name in listed:
        text = (folder / name).read_text()
        for part in ("What goes wrong", "Search for", "Real or harmless", "Confirm", "Fix"):
            assert f"**{part}.**" in text or f"**{part}**" in text, (name, part)


@pytest.mark.parametrize("name", sorted(TOOLS | TOOLS_BY_OTHER_NAMES))
def test_each_tool_has_a_short_description_that_names_no_other_tool(name: str) -> None:
    description = read_asset("prompts", "tools", f"{name}.md")
    assert 100 < len(description) < 1700
    others = (
        TOOLS - {name, "Think", "Task"} - (BACKGROUND if name in BACKGROUND | {"Task", "Bash"} else set())
    )
    others -= PLANNING | {"AskUserQuestion"} if name in PLANNING else set()
    mentioned = re.findall(rf"\b(?:{'|'.join(others)})\b", description)  # an agent may rename that tool
    assert not mentioned


def test_every_description_belongs_to_a_tool() -> None:
    described = {path.stem for path in asset_path("prompts", "tools").glob("*.md")}
    assert described <= TOOLS | TOOLS_BY_OTHER_NAMES
