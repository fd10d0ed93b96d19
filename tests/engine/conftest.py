"""A home for sessions."""

from pathlib import Path

import pytest

from tests.engine.front import Home


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.fixture
def work_dir(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def share_dir(tmp_path: Path) -> Path:
    return tmp_path / "share"
