"""docs/headless.md: its scripts run as they stand, and its tables are whole."""

import json
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from kimi_tui.base.exit_codes import ExitCode
from kimi_tui.cli.command_line import PRINT_PANEL, CommandLine, spelled
from tests.docs.pages import DOCS, Example, examples
from tests.e2e.program import KIMI_TUI, Program
from tests.patience import PATIENCE_S

PAGE = "headless.md"
NAMED = {example.file: example for example in examples(PAGE) if example.file}


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)


def ran(program: Program, example: Example, **env: str) -> "subprocess.CompletedProcess[str]":
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
        timeout=PATIENCE_S,
    )


def test_an_answer_of_the_shape_that_the_page_shows(program: Program) -> None:
    NAMED["bugs.schema.json"].put_into(program.work_dir)
    answer = {"bugs": [{"file": "a.py", "line": 3, "what": "off by one"}]}
    program.script('text: {"bugs": [{}]}', f"text: {json.dumps(answer)}")
    done = ran(program, NAMED["schema"])
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert json.loads((program.work_dir / "bugs.json").read_text()) == answer


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
    done = ran(program, NAMED["ci"])
    assert done.returncode == code, done.stderr
    assert (program.work_dir / "review.md").read_text() == f"{verdict}\n"


def test_a_job_tries_again_only_when_that_makes_sense(program: Program) -> None:
    program.script("error: 401 no", "text: never said")
    done = ran(program, NAMED["retry"], PAUSE="0")
    assert done.returncode == 1
    assert len(program.context_files) == 1


def test_a_daemon_answers_line_by_line(program: Program) -> None:
    program.script("text: It greets.", "text: By hand.")
    done = ran(program, NAMED["daemon"])
    assert [json.loads(line)["result"] for line in done.stdout.splitlines()] == ["It greets.", "By hand."]


def test_the_client_talks_to_a_socket(program: Program) -> None:
    client = NAMED["client.py"].put_into(program.home)
    program.script("text: one", "text: two")
    path = str(program.home / "s")
    daemon = program.start("--daemon", "--socket", path)
    assert daemon.stderr is not None
    daemon.stderr.readline()
    told = subprocess.run(
        [sys.executable, client, path, "a", "b"], capture_output=True, text=True, timeout=PATIENCE_S
    )
    daemon.terminate()
    daemon.communicate(timeout=PATIENCE_S)
    assert told.stdout == "one\ntwo\n", told.stderr


def test_a_result_has_what_the_page_shows(program: Program) -> None:
    shown = next(it for it in examples(PAGE, language="json") if not it.file)
    program.script("text: done")
    result = program.run("-p", "hello", "--output-format", "stream-json").result
    assert result.keys() == json.loads(shown.text).keys()


def test_the_page_names_every_option_of_print_mode_and_every_exit_code() -> None:
    text = (DOCS / PAGE).read_text()
    options = [spelled(item.name) for item in fields(CommandLine) if item.metadata["panel"] == PRINT_PANEL]
    missing = [name for name in options if name not in text and name != "--output"]
    assert missing == []
    told = {
        int(number)
        for row in re.findall(r"^\| ([\d, ]+) \|", text, re.MULTILINE)
        for number in row.split(",")
    }
    assert told == {code.value for code in ExitCode}
