"""kimi-tui does in each scenario what Kimi CLI 1.49 did, verbatim or at least by shape."""

from pathlib import Path
from typing import Any

import pytest

from tests.peers.comparison import agreement, best_agreement, can_be, read_recording, run_scenario
from tests.peers.normal_form import shape, without_mcp_loading
from tests.peers.peer_programs import find_kimi_cli, peer_kimi_cli, peer_kimi_tui
from tests.peers.scenarios import SCENARIOS

BY_SHAPE = {
    "handshake",  # more commands, and our own name
    "handshake_with_a_tool_of_a_builtin_name",
    "continued_session",  # our journal has more records
    "clear_command",
    "compact_command",  # says that nothing was compacted
    "mcp_commands_for_a_remote_server",  # our own errors; `auth` signs in to any server that wants it
}
"""Scenarios whose texts or lists differ. All others are the same verbatim."""
RECORDING = read_recording()


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_client_of_kimi_cli_sees_what_it_expects(name: str, tmp_path: Path) -> None:
    ours, theirs = run_scenario(name, peer_kimi_tui(tmp_path)), RECORDING[name]
    if name in BY_SHAPE:
        assert shape(ours) == shape(theirs)
        assert agreement(ours, theirs) == "shape"
    else:
        assert ours == theirs


@pytest.mark.skipif(find_kimi_cli() is None, reason="Kimi CLI isn't installed here; `make peers` installs it")
@pytest.mark.parametrize("name", SCENARIOS)
def test_the_recording_is_what_kimi_cli_does(name: str, tmp_path: Path) -> None:
    command = find_kimi_cli()
    assert command is not None
    assert can_be(run_scenario(name, peer_kimi_cli(tmp_path, command)), RECORDING[name])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": "x"}, {"b": "x"}),
        ({"a": "x"}, {"a": None}),
        (
            [{"method": "event", "type": "A", "payload": {}}],
            [{"method": "event", "type": "B", "payload": {}}],
        ),
    ],
)
def test_shapes_differ_by_keys_types_and_messages(one: Any, other: Any) -> None:
    assert agreement(one, other) == "different"
    assert agreement(one, one) == "verbatim"


def test_kimi_cli_announces_mcp_servers_only_if_they_connect_during_a_turn() -> None:
    recorded = RECORDING["mcp_tool"]
    connected_before = without_mcp_loading(recorded)
    kinds = [it["type"] for it in connected_before["messages"]]
    assert kinds[:2] == ["TurnBegin", "StepBegin"]
    assert "StatusUpdate" in kinds
    assert can_be(recorded, recorded)
    assert can_be(connected_before, recorded)
    assert not can_be({**recorded, "messages": recorded["messages"][1:]}, recorded)
    assert not can_be(RECORDING["handshake"], recorded)
    assert best_agreement(recorded, connected_before, recorded) == "verbatim"
    assert best_agreement(recorded, connected_before) == "different"
