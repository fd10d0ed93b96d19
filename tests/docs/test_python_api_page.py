"""docs/python-api.md: its programs type-check, run, and do what the page says."""

import inspect
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from kimi_tui import KimiTui, TurnResult
from tests.docs.pages import DOCS, Example, examples
from tests.e2e.program import Program, script, tool_call
from tests.patience import PATIENCE_S

PAGE = "python-api.md"
PROGRAMS = {example.heading: example for example in examples(PAGE, language="python")}
SCRIPTS = {
    "Ask": ["text: A coding agent."],
    "Ask for a value": [
        'text: {"bugs": []}',
        'text: {"bugs": [{"file": "a.py", "line": 3, "what": "off by one"}], "verdict": "nearly"}',
    ],
    "Follow a turn": [
        script("text: Here it comes.", tool_call("c1", "WriteFile", path="haiku.txt", content="green\n")),
        "text: Written.",
    ],
    "Approve": [
        script("text: first", tool_call("c1", "Bash", command="touch made-by-bash")),
        script("text: then", tool_call("c2", "WriteFile", path="date.txt", content="today\n")),
        "text: Saved.",
    ],
    "Tools of your own": [
        script(
            tool_call("c1", "stock", fruit="apples"),
            tool_call("c2", "stock", fruit="pears"),
            tool_call("c3", "order", fruit="pears"),
        ),
        "text: Pears are ordered.",
    ],
    "Go back in time": [
        script("text: ok", tool_call("c1", "WriteFile", path="draft.txt", content="draft\n")),
        "text: Written.",
    ],
    "A compaction strategy of your own": ["text: read"],
}


def ran(program: Program, example: Example) -> str:
    program.script(*SCRIPTS[example.heading])
    file = program.home / "example.py"
    file.write_text(example.text)
    finished = subprocess.run(
        [sys.executable, str(file)],
        cwd=program.work_dir,
        env=program.environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)


def test_every_program_of_the_page_has_its_test() -> None:
    assert list(PROGRAMS) == list(SCRIPTS)


def test_asking_gives_the_answers_text(program: Program) -> None:
    assert ran(program, PROGRAMS["Ask"]) == "A coding agent.\n"


def test_asking_for_a_value_gives_one_of_its_type(program: Program) -> None:
    assert ran(program, PROGRAMS["Ask for a value"]) == "a.py:3: off by one\nnearly\n"


def test_tools_of_ones_own_are_called(program: Program) -> None:
    assert ran(program, PROGRAMS["Tools of your own"]) == "Pears are ordered.\n{'pears': 10}\n"


def test_a_turn_is_followed_event_by_event(program: Program) -> None:
    lines = ran(program, PROGRAMS["Follow a turn"]).splitlines()
    assert lines[:2] == ["Here it comes.", "[WriteFile]"]
    assert lines[-1].startswith("Written.finished (")
    assert (program.work_dir / "haiku.txt").read_text() == "green\n"


def test_a_function_approves_and_refuses(program: Program) -> None:
    assert ran(program, PROGRAMS["Approve"]) == "Saved.\n"
    assert [path.name for path in program.work_dir.iterdir()] == ["date.txt"]
    assert "No Bash here; use files only." in program.context_files[0].read_text()


def test_going_back_and_undoing_it_brings_the_file_back(program: Program) -> None:
    lines = ran(program, PROGRAMS["Go back in time"]).splitlines()
    assert lines[0] == "['delete draft.txt']"
    assert any("user" in line for line in lines[1:])
    assert (program.work_dir / "draft.txt").read_text() == "draft\n", "the undo brought it back"


def test_a_strategy_of_ones_own_compacts(program: Program) -> None:
    assert ran(program, PROGRAMS["A compaction strategy of your own"]) == ""


def test_the_page_names_every_option_and_every_field_of_a_result() -> None:
    text = (DOCS / PAGE).read_text()
    assert [name for name in inspect.signature(KimiTui.create).parameters if f"`{name}" not in text] == []
    assert [it.name for it in fields(TurnResult) if f"`{it.name}`" not in text] == []
