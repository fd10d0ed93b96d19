"""Compares kimi-tui with what Kimi CLI did in each scenario, verbatim and by shape."""

import contextlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.peers.normal_form import shape, without_mcp_loading
from tests.peers.peer_programs import Peer
from tests.peers.scenarios import SCENARIOS, PeerDriver

RECORDED = Path(__file__).parent / "kimi-cli-1.49.json"
"""What Kimi CLI 1.49 did, by scenario."""


def run_scenario(name: str, peer: Peer) -> Any:
    """Run a scenario and return its result."""
    try:
        return json.loads(json.dumps(SCENARIOS[name](PeerDriver(peer))))
    finally:
        for close in reversed(peer.closing):
            with contextlib.suppress(OSError):
                close()


def run_all(make_peer: Callable[[Path], Peer], folder: Path) -> dict[str, Any]:
    """Run all scenarios. The result of one that fails is the error's text."""
    results: dict[str, Any] = {}
    for name in SCENARIOS:
        home = folder / name
        home.mkdir(parents=True)
        try:
            results[name] = run_scenario(name, make_peer(home))
        except Exception as error:
            results[name] = f"failed: {type(error).__name__}: {error}"
    return results


def agreement(ours: Any, theirs: Any) -> str:
    """Return "verbatim", "shape" or "different"."""
    if ours == theirs:
        return "verbatim"
    return "shape" if shape(ours) == shape(theirs) else "different"


def best_agreement(ours: Any, *alternatives: Any) -> str:
    """Return the best agreement with one of several results of Kimi CLI, which differ by chance."""
    order = ("verbatim", "shape", "different")
    return min((agreement(ours, theirs) for theirs in alternatives), key=order.index)


def can_be(result: Any, recorded: Any) -> bool:
    """Return whether Kimi CLI could have done what was `recorded` as well.

    It sends when MCP servers connect only if they aren't connected yet when a turn begins.
    """
    return result in (recorded, without_mcp_loading(recorded))


def read_recording() -> dict[str, Any]:
    """Return what Kimi CLI did in each scenario."""
    recorded: dict[str, Any] = json.loads(RECORDED.read_text())
    return recorded


def write_recording(results: dict[str, Any]) -> None:
    """Replace the recording."""
    RECORDED.write_text(json.dumps(results, indent=1, ensure_ascii=False, sort_keys=True) + "\n")
