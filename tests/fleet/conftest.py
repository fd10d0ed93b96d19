"""Fixtures for fleets."""

from pathlib import Path

import pytest

from tests.e2e.program import Program
from tests.fleet.fleets import Fleet


@pytest.fixture
def fleet(tmp_path: Path) -> Fleet:
    return Fleet(Program(tmp_path))
