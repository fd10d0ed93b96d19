"""Tests of the settings and options in docs/acp.md."""

import json
import re
from pathlib import Path

import pytest

from kimi_tui.cli.option_conflicts import check_conflicts
from kimi_tui.cli.parser import parse

PAGE = (Path(__file__).parents[2] / "docs" / "acp.md").read_text()
SETTINGS = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("text", SETTINGS)
def test_settings_are_json_and_start_an_acp_agent(text: str) -> None:
    servers = json.loads(text)["agent_servers"]
    assert servers
    for server in servers.values():
        assert server["command"] == "kimi-tui"
        parsed = parse(server["args"])
        assert parsed is not None
        check_conflicts(parsed)
        assert parsed.is_acp_mode


def test_the_page_has_settings_to_paste() -> None:
    assert len(SETTINGS) >= 3


def test_every_option_on_the_page_exists() -> None:
    options = set(re.findall(r"`(--[a-z-]+)", PAGE))
    assert options
    for option in options - {"--work-dir", "--session", "--continue"}:
        value = {"--yolo": [], "--thinking": [], "--demo": [], "--debug": [], "--no-resident": []}.get(
            option, ["1"]
        )
        parsed = parse(["--mode", "acp", option, *value])
        assert parsed is not None
        check_conflicts(parsed)
