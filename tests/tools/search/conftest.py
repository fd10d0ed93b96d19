"""A tree of files to search in."""

from pathlib import Path

import pytest

from tests.tools.desk import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    folder = tmp_path / "work"
    folder.mkdir()
    return Desk(folder)


@pytest.fixture
def project(desk: Desk) -> Desk:
    """A repository with sources, and what git ignores."""
    (desk.dir / ".git").mkdir()
    desk.put(".gitignore", "build/\n*.log\n")
    desk.put("src/a.py", "import os\n\nneedle = 1\nprint(needle)\n")
    desk.put("src/b.ts", "const needle = 2\n")
    desk.put("README.md", "Nothing here\n")
    desk.put(".github/workflow.yml", "needle: 3\n")
    desk.put("build/out.py", "needle = 4\n")
    desk.put("debug.log", "needle\n")
    desk.put(".git/config", "needle\n")
    return desk
