"""Fixture for sessions that run the documentation's examples."""

from pathlib import Path

import pytest

from tests.engine.fake_front_end import SessionEnv


@pytest.fixture
def home(tmp_path: Path) -> SessionEnv:
    return SessionEnv(tmp_path)
