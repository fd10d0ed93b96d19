"""What docs/acp.md tells users to paste."""

import json
import re
from pathlib import Path

import pytest

from kimi_tui.cli.combinations import check_combination
from kimi_tui.cli.parsing import parse

PAGE = (Path(__file__).parents[2] / "docs" / "acp.md").read_text()
SETTINGS = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("text", SETTINGS)
def test_settings_are_json_and_start_an_agent_for_editors(text: str) -> None:
    servers = json.loads(text)["agent_servers"]
    assert servers
    for server in servers.values():
        assert server["command"] == "kimi-tui"
        line = parse(server["args"])
        assert line is not None
        check_combination(line)
        assert line.is_acp_mode


def test_there_are_settings_to_paste() -> None:
    assert len(SETTINGS) >= 3


def test_every_option_that_it_names_is_there() -> None:
    named = set(re.findall(r"`(--[a-z-]+)", PAGE))
    assert named
    for option in named - {"--work-dir", "--session", "--continue"}:
        value = {"--yolo": [], "--thinking": [], "--demo": [], "--debug": []}.get(option, ["1"])
        line = parse(["--mode", "acp", option, *value])
        assert line is not None
        check_combination(line)
