"""A place for a conversation."""

from pathlib import Path

import pytest


@pytest.fixture
def context_file(tmp_path: Path) -> Path:
    """A conversation's file in a folder that isn't there yet."""
    return tmp_path / "session" / "context.jsonl"
