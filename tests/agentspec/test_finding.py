from collections.abc import Callable
from pathlib import Path

import pytest

from kimi_tui.agentspec.finding import find_agent, list_agents
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
