"""Fixtures for file histories."""

from pathlib import Path

import pytest

from tests.history.snapshots.file_history_fixture import FileHistoryFixture


@pytest.fixture
def project(tmp_path: Path) -> FileHistoryFixture:
    """An open file history of an empty working directory."""
    project = FileHistoryFixture(tmp_path)
    project.history.open()
    return project
