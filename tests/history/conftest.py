"""Fixtures for conversations."""

from pathlib import Path

import pytest


@pytest.fixture
def context_file(tmp_path: Path) -> Path:
    """The path of a conversation, in a directory that doesn't exist yet."""
    return tmp_path / "session" / "context.jsonl"
