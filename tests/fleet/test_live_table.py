"""The live table of a fleet in a plain terminal."""

import io
from contextlib import closing
from pathlib import Path

import pytest
from rich.console import Console

from kimi_tui.fleet.live_table import render_progress
from kimi_tui.frontend.fleet.progress import read_progress
from tests.tui.test_fleet import create_fleet


@pytest.mark.parametrize("width", [80, 100])
def test_each_part_of_the_progress_has_its_own_lines(width: int, tmp_path: Path) -> None:
    with closing(create_fleet(tmp_path / "demo.fleet.db")):
        progress = read_progress(tmp_path / "demo.fleet.db")
    console = Console(file=io.StringIO(), width=width, height=24)
    console.print(render_progress(progress, height=24))
    assert isinstance(console.file, io.StringIO)
    lines = [line.rstrip() for line in console.file.getvalue().split("\n")]
    assert lines[0] == "demo"
    assert set(lines[1]) <= set("━╸╺ ")
    assert lines[2] == "3 of 5 done: 2 passed, 1 failed"
    assert lines[3] == "1 running, 1 pending"
    assert any(line.startswith("rename") and line.endswith("rename the file") for line in lines[4:])
