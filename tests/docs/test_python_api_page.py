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
from tests.timeouts import TEST_TIMEOUT_S

PAGE = "python-api.md"
PROGRAMS = {example.heading: example for example in examples(PAGE, language="python")}
SCRIPTS = {
    "Ask": ["text: A coding agent."],
    "Structured output": [
        'text: {"bugs": []}',
        'text: {"bugs": [{"file": "a.py", "line": 3, "what": "off by one"}], "verdict": "nearly"}',
    ],
    "Stream events": [
        script("text: Here it comes.", tool_call("c1", "WriteFile", path="haiku.txt", content="green\n")),
        "text: Written.",
    ],
    "Approve tool calls": [
        script("text: first", tool_call("c1", "Bash", command="touch made-by-bash")),
        script("text: then", tool_call("c2", "WriteFile", path="date.txt", content="today\n")),
        "text: Saved.",
    ],
    "Custom tools": [
        script(
            tool_call("c1", "stock", fruit="apples"),
            tool_call("c2", "stock", fruit="pears"),
            tool_call("c3", "order", fruit="pears"),
        ),
        "text: Pears are ordered.",
    ],
    "Revert": [
        script("text: ok", tool_call("c1", "WriteFile", path="draft.txt", content="draft\n")),
        "text: Written.",
    ],
    "Custom compaction": ["text: read"],
}


def run_example(program: Program, example: Example) -> str:
    program.script(*SCRIPTS[example.heading])
    file = program.home / "example.py"
    file.write_text(example.text)
    finished = subprocess.run(
        [sys.executable, str(file)],
        cwd=program.work_dir,
        env=program.environment(),
        capture_output=True,
        text=True,
        timeout=TEST_TIMEOUT_S,
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)


def test_every_program_of_the_page_has_a_script() -> None:
    assert list(PROGRAMS) == list(SCRIPTS)


def test_ask_prints_the_response(program: Program) -> None:
    assert run_example(program, PROGRAMS["Ask"]) == "A coding agent.\n"


def test_structured_output_returns_typed_values(program: Program) -> None:
    assert run_example(program, PROGRAMS["Structured output"]) == "a.py:3: off by one\nnearly\n"


def test_custom_tools_are_called(program: Program) -> None:
    assert run_example(program, PROGRAMS["Custom tools"]) == "Pears are ordered.\n{'pears': 10}\n"


def test_the_events_of_a_turn_are_streamed(program: Program) -> None:
    lines = run_example(program, PROGRAMS["Stream events"]).splitlines()
    assert lines[:2] == ["Here it comes.", "[WriteFile]"]
    assert lines[-1].startswith("Written.finished (")
    assert (program.work_dir / "haiku.txt").read_text() == "green\n"


def test_a_function_approves_and_rejects_tool_calls(program: Program) -> None:
    assert run_example(program, PROGRAMS["Approve tool calls"]) == "Saved.\n"
    assert [path.name for path in program.work_dir.iterdir()] == ["date.txt"]
    assert "No Bash here; use files only." in program.context_files[0].read_text()


def test_undoing_a_revert_restores_the_file(program: Program) -> None:
    lines = run_example(program, PROGRAMS["Revert"]).splitlines()
    assert lines[0] == "['delete draft.txt']"
    assert any("user" in line for line in lines[1:])
    assert (program.work_dir / "draft.txt").read_text() == "draft\n"


def test_a_custom_compaction_strategy_runs(program: Program) -> None:
    assert run_example(program, PROGRAMS["Custom compaction"]) == ""


def test_the_page_lists_every_option_and_every_field_of_a_result() -> None:
    text = (DOCS / PAGE).read_text()
    assert [name for name in inspect.signature(KimiTui.create).parameters if f"`{name}" not in text] == []
    assert [it.name for it in fields(TurnResult) if f"`{it.name}`" not in text] == []
