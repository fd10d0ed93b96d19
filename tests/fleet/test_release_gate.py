"""examples/release-gate: 20 valid tasks, and a gate that opens and closes. `make fleet` runs them all."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kimi_tui.fleet.fleet_task import FolderSource, read_task_file
from tests.e2e.program import Program

EXAMPLE = Path(__file__).parents[2] / "examples" / "release-gate"


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)


@pytest.fixture
def gate(program: Program) -> Path:
    """A copy of the example."""
    return Path(shutil.copytree(EXAMPLE, program.home / "gate"))


def run_gate(gate: Path, program: Program, version: str) -> int:
    """Run two of the tasks. Return the exit code."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(
        ["./gate.sh", version, "--demo", "--only", "fix-count,add-license"],
        cwd=gate,
        env={**program.environment(), "PATH": path},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    ).returncode


def test_the_example_has_twenty_tasks_with_sources_and_checks() -> None:
    file = read_task_file(EXAMPLE / "gate.jsonl")
    assert (len(file.tasks), file.invalid) == (20, ())
    for task in file.tasks:
        assert task.check
        assert isinstance(task.source, FolderSource)
        assert Path(task.source.folder).is_dir()


def test_the_gate_fails_when_a_task_fails_and_compares_with_the_last_release(
    gate: Path, program: Program
) -> None:
    assert run_gate(gate, program, "1.0") == 0
    with (gate / "cases" / "shop" / "cart.py").open("a") as file:
        file.write("\n\ndef count(items):\n    return 7\n")
    assert run_gate(gate, program, "1.1") == 1
    page = (gate / "results" / "1.1.html").read_text()
    assert "Compared with 1.0" in page
    assert "<td>Broken</td><td></td><td>fix-count</td>" in page
    assert json.loads((gate / "gate.jsonl").read_text().splitlines()[0])["id"] == "fix-count"
