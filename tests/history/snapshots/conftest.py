"""Fixtures for file histories."""

import ctypes  # noqa: F401  later, the unprivileged user may not be allowed to read it
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.history.snapshots.file_history_fixture import FileHistoryFixture

_NOBODY = 65534


@pytest.fixture
def project(tmp_path: Path) -> FileHistoryFixture:
    """An open file history of an empty working directory."""
    project = FileHistoryFixture(tmp_path)
    project.history.open()
    return project


@pytest.fixture
def unprivileged_dir() -> Iterator[Path]:
    """A directory of an unprivileged user, as whom the test runs, so that permissions apply."""
    with tempfile.TemporaryDirectory(prefix="kimi-tui-unprivileged-") as folder:
        was_root = os.geteuid() == 0
        if was_root:
            os.chown(folder, _NOBODY, _NOBODY)
            os.seteuid(_NOBODY)
        try:
            yield Path(folder)
        finally:
            if was_root:
                os.seteuid(0)
