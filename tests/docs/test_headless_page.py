"""docs/headless.md: its scripts run, and its tables are complete."""

import json
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from kimi_tui.base.exit_codes import ExitCode
from kimi_tui.cli.options import PRINT_PANEL, CliOptions, option_flag
from tests.docs.pages import DOCS, Example, examples
from tests.e2e.program import KIMI_TUI, Program
from tests.timeouts import TEST_TIMEOUT_S

PAGE = "headless.md"
NAMED = {example.file: example for example in examples(PAGE) if example.file}


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)


def run_example(program: Program, example: Example, **env: str) -> "subprocess.CompletedProcess[str]":
    """Run a script of the page with the real program on the PATH."""
    environment = program.environment()
    environment["PATH"] = f"{Path(KIMI_TUI).parent}:{environment['PATH']}"
    return subprocess.run(
        ["bash", "-c", example.text],
        cwd=program.work_dir,
        env={**environment, **env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TEST_TIMEOUT_S,
    )


def test_structured_output_matches_the_schema_of_the_page(program: Program) -> None:
    NAMED["bugs.schema.json"].put_into(program.work_dir)
    response = {"bugs": [{"file": "a.py", "line": 3, "what": "off by one"}]}
    program.script('text: {"bugs": [{}]}', f"text: {json.dumps(response)}")
    finished = run_example(program, NAMED["schema"])
    assert (finished.returncode, finished.stdout) == (0, ""), finished.stderr
    assert json.loads((program.work_dir / "bugs.json").read_text()) == response


@pytest.mark.parametrize(("verdict", "code"), [("APPROVE: fine.", 0), ("REJECT: a typo.", 1)])
def test_a_review_in_ci(program: Program, verdict: str, code: int) -> None:
    program.script(f"text: {verdict}")
    git = ["git", "-c", "user.name=n", "-c", "user.email=e@example.com"]
    for command in (
        ["init", "-q"],
        ["commit", "-q", "--allow-empty", "-m", "first"],
        ["branch", "origin/main"],
    ):
        subprocess.run([*git, *command], cwd=program.work_dir, check=True, capture_output=True)
    finished = run_example(program, NAMED["ci"])
    assert finished.returncode == code, finished.stderr
    assert (program.work_dir / "review.md").read_text() == f"{verdict}\n"


def test_the_retry_script_retries_only_transient_errors(program: Program) -> None:
    program.script("error: 401 no", "text: never sent")
    finished = run_example(program, NAMED["retry"], PAUSE="0")
    assert finished.returncode == 1
    assert len(program.context_files) == 1


def test_a_daemon_answers_line_by_line(program: Program) -> None:
    program.script("text: It greets.", "text: By hand.")
    finished = run_example(program, NAMED["daemon"])
    assert [json.loads(line)["result"] for line in finished.stdout.splitlines()] == ["It greets.", "By hand."]


def test_the_client_talks_to_a_socket(program: Program) -> None:
    client = NAMED["client.py"].put_into(program.home)
    program.script("text: one", "text: two")
    path = str(program.home / "s")
    daemon = program.start("--daemon", "--socket", path)
    assert daemon.stderr is not None
    daemon.stderr.readline()
    finished = subprocess.run(
        [sys.executable, client, path, "a", "b"], capture_output=True, text=True, timeout=TEST_TIMEOUT_S
    )
    daemon.terminate()
    daemon.communicate(timeout=TEST_TIMEOUT_S)
    assert finished.stdout == "one\ntwo\n", finished.stderr


def test_a_result_has_the_fields_that_the_page_shows(program: Program) -> None:
    shown = next(it for it in examples(PAGE, language="json") if not it.file)
    program.script("text: done")
    result = program.run("-p", "hello", "--output-format", "stream-json").result
    assert result.keys() == json.loads(shown.text).keys()


def test_the_page_names_every_option_of_print_mode_and_every_exit_code() -> None:
    text = (DOCS / PAGE).read_text()
    options = [option_flag(item.name) for item in fields(CliOptions) if item.metadata["panel"] == PRINT_PANEL]
    missing = [name for name in options if name not in text and name != "--output"]
    assert missing == []
    exit_codes = {
        int(number)
        for row in re.findall(r"^\| ([\d, ]+) \|", text, re.MULTILINE)
        for number in row.split(",")
    }
    assert exit_codes == {code.value for code in ExitCode}
