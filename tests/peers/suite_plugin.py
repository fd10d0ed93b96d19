"""Pytest plugin for Kimi CLI's own end-to-end suite, loaded with `-p tests.peers.suite_plugin`.

It looks for sessions where kimi-tui stores them, next to a directory with their locks. The Wire's options
aren't passed to `mcp`. With KIMI_TUI_PEER_SHAPE=1, snapshots are compared by shape.
"""

import importlib.util
import os
import sys
import types
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.program import KIMI_TUI
from tests.peers.normal_form import shape


class ShapeSnapshot:
    """A snapshot that equals every value of its shape."""

    def __init__(self, expected: Any) -> None:
        self._shape = shape(expected)

    def __eq__(self, other: object) -> bool:
        return bool(shape(other) == self._shape)

    def __hash__(self) -> int:
        return hash(str(self._shape))

    def __repr__(self) -> str:
        return f"shape {self._shape}"


def pytest_configure() -> None:
    """Replace the package of the suite's snapshots, if it isn't installed: a snapshot is then its value."""
    if importlib.util.find_spec("inline_snapshot") is None:
        module = types.ModuleType("inline_snapshot")
        module.snapshot = lambda value: value  # type: ignore[attr-defined]
        sys.modules["inline_snapshot"] = module


def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    """Adapt the collected test modules."""
    for module in {item.module for item in items if isinstance(item, pytest.Function)}:
        if os.environ.get("KIMI_TUI_PEER_SHAPE") and hasattr(module, "snapshot"):
            module.snapshot = ShapeSnapshot
        if hasattr(module, "_session_dir"):
            module._session_dir = _redirect(module._session_dir)
        if hasattr(module, "base_command"):
            module.base_command = lambda: [KIMI_TUI]


class _SessionFolder(type(Path())):  # type: ignore[misc]  # the class of this system's paths
    """A directory that lists sessions only."""

    def iterdir(self) -> Iterator[Path]:
        return (path for path in super().iterdir() if path.name != "locks")


def _redirect(session_dir: Any) -> Any:
    def redirected(*arguments: Any) -> Path:
        path = Path(session_dir(*arguments))
        return _SessionFolder(*("tui-sessions" if part == "sessions" else part for part in path.parts))

    return redirected
