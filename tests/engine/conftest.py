"""Fixtures for engine tests."""

from pathlib import Path

import pytest

from tests.engine.fake_front_end import SessionEnv


@pytest.fixture
def home(tmp_path: Path) -> SessionEnv:
    return SessionEnv(tmp_path)


@pytest.fixture
def work_dir(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    return tmp_path / "share"
