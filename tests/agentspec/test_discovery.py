from collections.abc import Callable
from pathlib import Path

import pytest

from kimi_tui.agentspec.discovery import find_agent, list_agents
from kimi_tui.agentspec.project_agents import load_agent_by_name
from kimi_tui.agentspec.spec import ResolvedAgentSpec
from kimi_tui.base.assets import asset_path
from kimi_tui.base.errors import ConfigError

WriteFile = Callable[[str, str], Path]


@pytest.fixture
def work_dir(tmp_path: Path) -> Path:
    return tmp_path / "work"


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    return tmp_path / "data"


def test_agents_are_found_in_the_project_the_data_directory_and_among_the_bundled_ones(
    write: WriteFile, work_dir: Path, data_dir: Path
) -> None:
    project = write("work/.kimi-tui/agents/reviewer/agent.yaml", "")
    user = write("data/agents/mine/agent.yaml", "")
    assert find_agent("reviewer", work_dir=work_dir, data_dir=data_dir) == project
    assert find_agent("mine", work_dir=work_dir, data_dir=data_dir) == user
    bundled = asset_path("agents", "default", "agent.yaml")
    assert find_agent("default", work_dir=work_dir, data_dir=data_dir) == bundled


def test_the_user_may_replace_a_bundled_agent_but_a_project_may_not(
    write: WriteFile, work_dir: Path, data_dir: Path
) -> None:
    write("work/.kimi-tui/agents/default/agent.yaml", "")
    bundled = find_agent("default", work_dir=work_dir, data_dir=data_dir)
    assert bundled == asset_path("agents", "default", "agent.yaml")
    user = write("data/agents/default/agent.yaml", "")
    assert find_agent("default", work_dir=work_dir, data_dir=data_dir) == user


def test_the_list_has_each_name_once_with_its_origin(
    write: WriteFile, work_dir: Path, data_dir: Path
) -> None:
    write("work/.kimi-tui/agents/zebra/agent.yaml", "")
    write("work/.kimi-tui/agents/no-agent/readme.md", "")
    write("data/agents/okabe/agent.yaml", "")
    agents = list_agents(work_dir=work_dir, data_dir=data_dir)
    assert {agent.name: agent.origin for agent in agents} == {
        "ctfer": "bundled",
        "default": "bundled",
        "kimi": "bundled",
        "okabe": "user",
        "security": "bundled",
        "security_beta": "bundled",
        "zebra": "project",
    }
    assert [agent.name for agent in agents] == sorted(agent.name for agent in agents)


def test_the_error_for_an_unknown_name_suggests_the_closest_or_lists_all(
    work_dir: Path, data_dir: Path
) -> None:
    with pytest.raises(ConfigError) as typo:
        find_agent("defautl", work_dir=work_dir, data_dir=data_dir)
    assert "“defautl”" in typo.value.what
    assert "“default”" in typo.value.hint
    with pytest.raises(ConfigError) as unknown:
        find_agent("x", work_dir=work_dir, data_dir=data_dir)
    assert "default, kimi, okabe" in unknown.value.hint


@pytest.mark.parametrize("name", ["../default", "./agent.yaml", "", ".", ".."])
def test_a_path_is_not_a_name(write: WriteFile, work_dir: Path, data_dir: Path, name: str) -> None:
    write("data/agents/agent.yaml", "")
    write("data/agent.yaml", "")
    with pytest.raises(ConfigError) as caught:
        find_agent(name, work_dir=work_dir, data_dir=data_dir)
    if "/" in name:
        assert "--agent-file" in caught.value.hint


def load_by_name(name: str, work_dir: Path, data_dir: Path) -> ResolvedAgentSpec:
    return load_agent_by_name(name, work_dir=work_dir, data_dir=data_dir, known_tools={"Think", "ReadFile"})


PLAIN = "system_prompt: prompt.md\ntools: [Think]\n"


@pytest.mark.parametrize(
    ("agent", "what"),
    [
        ("system_prompt: prompt.md\ntools: [Think, 'evil.code:Tool as ReadFile']\n", "evil.code:Tool"),
        (f"{PLAIN}mcp: servers.json\n", "servers.json"),
        ("extend: ./base.yaml\n", "evil.base:Tool"),
        (f"{PLAIN}subagents:\n  a: {{path: sub.yaml, description: d}}\n", "evil.sub:Tool"),
    ],
)
def test_a_project_agent_that_runs_external_code_is_not_loaded_by_name(
    write: WriteFile, work_dir: Path, data_dir: Path, agent: str, what: str
) -> None:
    for folder in ("work/.kimi-tui/agents/helper", "data/agents/own"):
        write(f"{folder}/agent.yaml", agent)
        write(f"{folder}/prompt.md", "Be good.")
        write(f"{folder}/servers.json", "{}")
        write(f"{folder}/base.yaml", "system_prompt: prompt.md\ntools: ['evil.base:Tool']\n")
        write(f"{folder}/sub.yaml", "extend: ./deep.yaml\n")
        write(f"{folder}/deep.yaml", f"{PLAIN}subagents:\n  b: {{path: deepest.yaml, description: d}}\n")
        write(f"{folder}/deepest.yaml", "system_prompt: prompt.md\ntools: ['evil.sub:Tool']\n")
    with pytest.raises(ConfigError) as caught:
        load_by_name("helper", work_dir, data_dir)
    assert what in caught.value.what
    assert f"--agent-file {work_dir}" in caught.value.hint
    assert load_by_name("own", work_dir, data_dir).path.parent.name == "own"


def test_a_project_agent_without_external_code_is_loaded_by_name(
    write: WriteFile, work_dir: Path, data_dir: Path
) -> None:
    write(
        "work/.kimi-tui/agents/helper/agent.yaml",
        f"{PLAIN}subagents:\n  a: {{path: x.yaml, description: d}}\n",
    )
    write("work/.kimi-tui/agents/helper/x.yaml", "nonsense: 1\n")
    write("work/.kimi-tui/agents/helper/prompt.md", "Be good.")
    assert load_by_name("helper", work_dir, data_dir).name == "helper"


def test_in_the_home_folder_user_agents_are_not_project_agents(write: WriteFile, tmp_path: Path) -> None:
    write("home/.kimi-tui/agents/own/agent.yaml", f"{PLAIN}mcp: servers.json\n")
    write("home/.kimi-tui/agents/own/prompt.md", "Be good.")
    servers = write("home/.kimi-tui/agents/own/servers.json", "{}")
    assert load_by_name("own", tmp_path / "home", tmp_path / "home" / ".kimi-tui").mcp == servers
