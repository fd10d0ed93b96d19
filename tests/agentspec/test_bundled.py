"""The agents and tool descriptions that come with the program."""

import re
from pathlib import Path

import pytest

from kimi_tui.agentspec.finding import list_agents
from kimi_tui.agentspec.loading import load_agent_spec
from kimi_tui.agentspec.prompt import PromptVariables, render_prompt
from kimi_tui.agentspec.spec import ResolvedAgentSpec
from kimi_tui.base.assets import asset_path, read_asset
from kimi_tui.engine.toolbox import BUILTIN_TOOLS

TOOLS = set(BUILTIN_TOOLS)
TOOLS_OF_OTHER_NAMES = {"StrReplaceFile", "ListMcpResources", "ReadMcpResource"}
"""Those that no agent gets by its short name."""
BUNDLED = ["ctfer", "default", "kimi", "okabe", "security", "security_beta"]
SUBAGENTS = ["coder", "explore", "plan"]
BACKGROUND = {"TaskList", "TaskOutput", "TaskStop"}
"""They speak of each other: an agent has all of them or none."""
PLANNING = {"EnterPlanMode", "ExitPlanMode"}
READING = {"ReadFile", "ReadMediaFile", "Grep", "Glob", "LS", "SearchWeb", "FetchURL", "Think"}


def bundled(name: str) -> ResolvedAgentSpec:
    return load_agent_spec(asset_path("agents", name), known_tools=TOOLS)


def subagent(name: str) -> ResolvedAgentSpec:
    return load_agent_spec(bundled("default").subagents[name].path, known_tools=TOOLS)


def every_agent() -> list[ResolvedAgentSpec]:
    return [*map(bundled, BUNDLED), *map(subagent, SUBAGENTS)]


def names(spec: ResolvedAgentSpec) -> set[str]:
    return {tool.name for tool in spec.tools}


def prompt_of(spec: ResolvedAgentSpec, work_dir: Path) -> str:
    return render_prompt(spec, PromptVariables.collect(work_dir))


def test_these_agents_are_bundled(tmp_path: Path) -> None:
    assert [agent.name for agent in list_agents(work_dir=tmp_path, share_dir=tmp_path)] == BUNDLED


@pytest.mark.parametrize("spec", every_agent(), ids=lambda spec: spec.name)
def test_each_agent_loads_and_renders_with_a_description(spec: ResolvedAgentSpec, tmp_path: Path) -> None:
    assert spec.description
    prompt = prompt_of(spec, tmp_path)
    assert str(tmp_path) in prompt
    assert "${" not in prompt
    assert not any(len(line) > 130 for line in prompt.splitlines() if str(tmp_path) not in line)


@pytest.mark.parametrize("spec", every_agent(), ids=lambda spec: spec.name)
def test_each_agent_s_prompt_speaks_only_of_tools_that_it_has(
    spec: ResolvedAgentSpec, tmp_path: Path
) -> None:
    names_of_tools = TOOLS | TOOLS_OF_OTHER_NAMES | {"Shell", "Agent"}
    prompt = prompt_of(spec, tmp_path).replace(" Shell: ", "")  # of the variable, not the tool
    spoken_of = set(re.findall(r"\b[A-Z][A-Za-z]+\b", prompt)) & names_of_tools
    assert spoken_of <= names(spec)
    assert len(spoken_of) >= 2


def test_only_okabe_can_send_and_knows_of_d_mails(tmp_path: Path) -> None:
    for spec in every_agent():
        has = "SendDMail" in names(spec)
        assert has == ("CHECKPOINT n" in prompt_of(spec, tmp_path)) == (spec.name == "okabe")


def test_okabe_has_all_that_default_has_and_says(tmp_path: Path) -> None:
    okabe, default = bundled("okabe"), bundled("default")
    assert set(okabe.tools) > set(default.tools)
    assert okabe.subagents == default.subagents
    assert prompt_of(okabe, tmp_path).startswith(prompt_of(default, tmp_path))


def test_default_has_every_tool_but_the_d_mail() -> None:
    assert names(bundled("default")) == TOOLS - {"SendDMail"}


def test_kimi_knows_its_tools_by_the_names_of_kimi_cli() -> None:
    tools = {tool.name: tool.reference for tool in bundled("kimi").tools}
    assert tools["Shell"] == "Bash"
    assert tools["Agent"] == "Task"
    assert tools["StrReplaceFile"] == "kimi_tui.tools.file.str_replace:StrReplaceFile"
    assert not {"Bash", "Task", "EditFile"} & tools.keys()
    assert bundled("kimi").subagents == bundled("default").subagents


def test_default_gives_work_to_a_coder_an_explorer_and_a_planner() -> None:
    assert list(bundled("default").subagents) == SUBAGENTS
    assert all(len(each.description) > 60 for each in bundled("default").subagents.values())


def test_sub_agents_give_no_work_away_and_ask_nobody() -> None:
    for name in SUBAGENTS:
        assert not {"Task", "AskUserQuestion", "SendDMail", *PLANNING} & names(subagent(name))
        assert not subagent(name).names_subagents
    assert {"EditFile", "Bash", "WriteFile"} <= names(subagent("coder"))


@pytest.mark.parametrize("name", ["explore", "plan"])
def test_who_explores_or_plans_has_nothing_to_change_anything_with(name: str) -> None:
    assert names(subagent(name)) <= READING


@pytest.mark.parametrize("name", ["security", "security_beta"])
def test_an_auditor_writes_a_report_and_edits_nothing(name: str, tmp_path: Path) -> None:
    assert "WriteFile" in names(bundled(name))
    assert "EditFile" not in names(bundled(name))
    assert "security-report.md" in prompt_of(bundled(name), tmp_path)


def test_the_auditor_with_a_knowledge_base_knows_where_it_is_and_what_is_in_it(tmp_path: Path) -> None:
    folder = asset_path("agents", "security_beta") / "knowledge"
    assert str(folder) in prompt_of(bundled("security_beta"), tmp_path)
    assert str(folder) not in prompt_of(bundled("security"), tmp_path)
    listed = set(re.findall(r"`([\w-]+\.md)`", (folder / "README.md").read_text()))
    assert listed == {file.name for file in folder.glob("*.md")} - {"README.md"}
    for name in listed:
        text = (folder / name).read_text()
        for part in ("What goes wrong", "Search for", "Real or harmless", "Confirm", "Mend"):
            assert f"**{part}.**" in text or f"**{part}**" in text, (name, part)


@pytest.mark.parametrize("name", sorted(TOOLS | TOOLS_OF_OTHER_NAMES))
def test_each_tool_has_a_description_that_is_short_and_names_no_other_tool(name: str) -> None:
    description = read_asset("prompts", "tools", f"{name}.md")
    assert 100 < len(description) < 1700
    others = (
        TOOLS - {name, "Think", "Task"} - (BACKGROUND if name in BACKGROUND | {"Task", "Bash"} else set())
    )
    others -= PLANNING | {"AskUserQuestion"} if name in PLANNING else set()
    found = re.findall(rf"\b(?:{'|'.join(others)})\b", description)  # an agent may call it otherwise
    assert not found


def test_no_description_is_without_its_tool() -> None:
    described = {path.stem for path in asset_path("prompts", "tools").glob("*.md")}
    assert described <= TOOLS | TOOLS_OF_OTHER_NAMES
