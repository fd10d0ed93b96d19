from collections.abc import Callable
from pathlib import Path

import pytest

from kimi_tui.agentspec.finding import find_agent, list_agents
from kimi_tui.agentspec.foreign import named_agent_spec
from kimi_tui.agentspec.spec import ResolvedAgentSpec
from kimi_tui.base.assets import asset_path
from kimi_tui.base.errors import ConfigError

WriteFile = Callable[[str, str], Path]


@pytest.fixture
def work_dir(tmp_path: Path) -> Path:
    return tmp_path / "work"


@pytest.fixture
def share_dir(tmp_path: Path) -> Path:
    return tmp_path / "share"


def test_agents_are_found_in_the_project_the_share_dir_and_among_the_bundled_ones(
    write: WriteFile, work_dir: Path, share_dir: Path
) -> None:
    project = write("work/.kimi-tui/agents/reviewer/agent.yaml", "")
    user = write("share/agents/mine/agent.yaml", "")
    assert find_agent("reviewer", work_dir=work_dir, share_dir=share_dir) == project
    assert find_agent("mine", work_dir=work_dir, share_dir=share_dir) == user
    bundled = asset_path("agents", "default", "agent.yaml")
    assert find_agent("default", work_dir=work_dir, share_dir=share_dir) == bundled


def test_the_user_may_replace_a_bundled_agent_but_a_project_may_not(
    write: WriteFile, work_dir: Path, share_dir: Path
) -> None:
    write("work/.kimi-tui/agents/default/agent.yaml", "")
    bundled = find_agent("default", work_dir=work_dir, share_dir=share_dir)
    assert bundled == asset_path("agents", "default", "agent.yaml")
    own = write("share/agents/default/agent.yaml", "")
    assert find_agent("default", work_dir=work_dir, share_dir=share_dir) == own


def test_the_list_holds_each_name_once_with_where_it_comes_from(
    write: WriteFile, work_dir: Path, share_dir: Path
) -> None:
    write("work/.kimi-tui/agents/zebra/agent.yaml", "")
    write("work/.kimi-tui/agents/no-agent/readme.md", "")
    write("share/agents/okabe/agent.yaml", "")
    found = list_agents(work_dir=work_dir, share_dir=share_dir)
    assert {agent.name: agent.origin for agent in found} == {
        "ctfer": "bundled",
        "default": "bundled",
        "kimi": "bundled",
        "okabe": "user",
        "security": "bundled",
        "security_beta": "bundled",
        "zebra": "project",
    }
    assert [agent.name for agent in found] == sorted(agent.name for agent in found)


def test_an_unknown_name_is_answered_with_the_nearest_or_all(work_dir: Path, share_dir: Path) -> None:
    with pytest.raises(ConfigError) as near:
        find_agent("defautl", work_dir=work_dir, share_dir=share_dir)
    assert "“defautl”" in near.value.what
    assert "“default”" in near.value.hint
    with pytest.raises(ConfigError) as far:
        find_agent("x", work_dir=work_dir, share_dir=share_dir)
    assert "default, kimi, okabe" in far.value.hint


@pytest.mark.parametrize("name", ["../default", "./agent.yaml", "", ".", ".."])
def test_a_path_is_no_name(write: WriteFile, work_dir: Path, share_dir: Path, name: str) -> None:
    write("share/agents/agent.yaml", "")
    write("share/agent.yaml", "")
    with pytest.raises(ConfigError) as caught:
        find_agent(name, work_dir=work_dir, share_dir=share_dir)
    if "/" in name:
        assert "--agent-file" in caught.value.hint


def named(name: str, work_dir: Path, share_dir: Path) -> ResolvedAgentSpec:
    return named_agent_spec(name, work_dir=work_dir, share_dir=share_dir, known_tools={"Think", "ReadFile"})


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
def test_an_agent_of_the_project_that_runs_programs_is_not_started_by_its_name(
    write: WriteFile, work_dir: Path, share_dir: Path, agent: str, what: str
) -> None:
    for folder in ("work/.kimi-tui/agents/helper", "share/agents/own"):
        write(f"{folder}/agent.yaml", agent)
        write(f"{folder}/prompt.md", "Be good.")
        write(f"{folder}/servers.json", "{}")
        write(f"{folder}/base.yaml", "system_prompt: prompt.md\ntools: ['evil.base:Tool']\n")
        write(f"{folder}/sub.yaml", "extend: ./deep.yaml\n")
        write(f"{folder}/deep.yaml", f"{PLAIN}subagents:\n  b: {{path: deepest.yaml, description: d}}\n")
        write(f"{folder}/deepest.yaml", "system_prompt: prompt.md\ntools: ['evil.sub:Tool']\n")
    with pytest.raises(ConfigError) as caught:
        named("helper", work_dir, share_dir)
    assert what in caught.value.what
    assert f"--agent-file {work_dir}" in caught.value.hint
    assert named("own", work_dir, share_dir).path.parent.name == "own"


def test_an_agent_of_the_project_that_only_speaks_is_started_by_its_name(
    write: WriteFile, work_dir: Path, share_dir: Path
) -> None:
    write(
        "work/.kimi-tui/agents/helper/agent.yaml",
        f"{PLAIN}subagents:\n  a: {{path: x.yaml, description: d}}\n",
    )
    write("work/.kimi-tui/agents/helper/x.yaml", "nonsense: 1\n")
    write("work/.kimi-tui/agents/helper/prompt.md", "Be good.")
    assert named("helper", work_dir, share_dir).name == "helper"


def test_in_the_home_folder_the_users_own_agents_are_not_the_projects(
    write: WriteFile, tmp_path: Path
) -> None:
    write("home/.kimi-tui/agents/own/agent.yaml", f"{PLAIN}mcp: servers.json\n")
    write("home/.kimi-tui/agents/own/prompt.md", "Be good.")
    servers = write("home/.kimi-tui/agents/own/servers.json", "{}")
    assert named("own", tmp_path / "home", tmp_path / "home" / ".kimi-tui").mcp == servers
