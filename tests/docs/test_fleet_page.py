"""docs/fleet.md: its first example runs."""

import shlex
from pathlib import Path

from tests.docs.pages import examples
from tests.e2e.program import Program

NAMED = {example.file: example for example in examples("fleet.md") if example.file}


def test_three_tasks_run_with_the_demo_model(tmp_path: Path) -> None:
    program = Program(tmp_path)
    NAMED["demo.jsonl"].put_into(program.work_dir)
    _, *arguments = shlex.split(NAMED["demo"].text)
    finished = program.run(*arguments)
    assert finished.exit_code == 1, finished
    assert "3 of 3 done: 2 passed, 1 failed" in finished.stdout
    assert "✗ fail check failed" in finished.stderr
