"""A place for files."""

from pathlib import Path

import pytest

from tests.history.snapshots.place import Place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """An opened file history of an empty work dir."""
    place = Place(tmp_path)
    place.history.open()
    return place
