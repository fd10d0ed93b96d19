"""A home for sessions in which the documentation's examples run."""

from pathlib import Path

import pytest

from tests.engine.front import Home


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)
