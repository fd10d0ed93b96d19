"""The GitHub Action, its examples, the workflows and the Dockerfile, checked without GitHub."""

import os
import re
import shlex
import stat
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.timeouts import TEST_TIMEOUT_S

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "docs" / "github").glob("*.yml"))
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
REQUIREMENTS = (ROOT / "requirements.txt").read_text()


def load(path: Path) -> dict[str, Any]:
    document = yaml.safe_load(path.read_text())
    assert isinstance(document, dict)
    return document


def iter_steps(path: Path) -> Iterator[dict[str, Any]]:
    document = load(path)
    if "runs" in document:
        yield from document["runs"]["steps"]
    for job in document.get("jobs", {}).values():
        yield from job["steps"]


def run_schema_check(schema: str, path: Path) -> None:
    pytest.importorskip("check_jsonschema", reason="check-jsonschema isn't installed")
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TEST_TIMEOUT_S, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("path", [*EXAMPLES, *WORKFLOWS], ids=lambda path: path.name)
def test_workflows_match_the_schema(path: Path) -> None:
    run_schema_check("vendor.github-workflows", path)


def test_the_action_matches_the_schema() -> None:
    run_schema_check("vendor.github-actions", ROOT / "action.yml")


@pytest.mark.parametrize("path", [ROOT / "action.yml", *EXAMPLES, *WORKFLOWS], ids=lambda path: path.name)
def test_scripts_of_workflows_are_valid_and_contain_no_expressions(path: Path) -> None:
    """An expression in a script is replaced before the shell sees it, so its text could be a command."""
    scripts = [step["run"] for step in iter_steps(path) if "run" in step]
    assert scripts
    for script in scripts:
        assert "${{" not in script
        subprocess.run(["bash", "-n"], input=script, text=True, check=True, timeout=TEST_TIMEOUT_S)


@pytest.mark.parametrize("path", [*EXAMPLES, *WORKFLOWS], ids=lambda path: path.name)
def test_workflows_restrict_the_permissions_of_their_token(path: Path) -> None:
    assert load(path)["permissions"]["contents"] in ("read", "write")
    assert "pull_request_target" not in path.read_text()


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_the_examples_use_inputs_and_outputs_that_the_action_has(path: Path) -> None:
    action = load(ROOT / "action.yml")
    (step,) = [step for step in iter_steps(path) if "/kimi-tui@" in step.get("uses", "")]
    assert "prompt" in step["with"]
    assert set(step["with"]) <= set(action["inputs"])
    assert set(re.findall(r"steps\.agent\.outputs\.([\w-]+)", path.read_text())) <= set(action["outputs"])


def run_action(tmp_path: Path, **inputs: str) -> tuple[int, str, Path]:
    """Run the script of the action with the demo. Return its exit code, its outputs and the program's log."""
    program = tmp_path / "kimi-tui"
    log = tmp_path / "arguments"
    program.write_text(
        f'#!/bin/sh\nprintf "%s\\n" "$@" > {shlex.quote(str(log))}\n'
        f'exec {shlex.quote(str(Path(sys.executable).with_name("kimi-tui")))} --demo "$@"\n'
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    output = tmp_path / "output"
    variables = {"MODEL": "", "MAX_TIME": "60", "MAX_COST": "", "YOLO": "false", "ALLOW": "", **inputs}
    environment = {
        **os.environ,
        **{f"INPUT_{name}": value for name, value in variables.items()},
        "KIMI_TUI": str(program),
        "KIMI_SHARE_DIR": str(tmp_path / "data"),
        "RUNNER_TEMP": str(tmp_path),
        "GITHUB_OUTPUT": str(output),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
    }
    script = ROOT / "scripts" / "run_action.sh"
    done = subprocess.run(
        ["bash", script],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=TEST_TIMEOUT_S,
        check=False,
    )
    assert output.exists(), done.stderr
    return done.returncode, output.read_text(), log


def test_the_action_runs_a_prompt_and_writes_the_response_to_its_outputs(tmp_path: Path) -> None:
    code, output, log = run_action(
        tmp_path, PROMPT="hello; touch injected $(touch injected)", ALLOW="Read(/tmp/**)\nEdit(**)\n"
    )
    assert code == 0
    name, rest = output.split("response<<", 1)
    assert name == "exit-code=0\n"
    delimiter, *lines, last = rest.rstrip("\n").split("\n")
    assert last == delimiter
    assert len(delimiter) == 32
    assert "".join(lines).strip()
    assert (tmp_path / "summary").read_text().strip() == "\n".join(lines).strip()
    assert log.read_text().split("\n")[:-1] == [
        *("--quiet", "--max-time", "60"), *("--allow", "Read(/tmp/**)", "--allow", "Edit(**)"),
    ]  # fmt: skip
    assert not (tmp_path / "injected").exists()


def test_the_action_fails_with_the_exit_code_of_the_program(tmp_path: Path) -> None:
    code, output, _ = run_action(tmp_path, PROMPT="hello", ALLOW="No such rule((")
    assert code != 0
    assert output.startswith(f"exit-code={code}\n")


def test_the_image_is_built_from_files_that_exist_and_are_sent_to_the_builder() -> None:
    sent = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    assert all((ROOT / name).exists() for name in sent)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    needed = {
        *wheel["packages"],
        *wheel["force-include"],
        *wheel["shared-data"],
        "pyproject.toml",
        "requirements.txt",
    }
    assert needed | {project["project"]["readme"], *project["project"]["license-files"]} <= set(sent)
    instructions = (ROOT / "Dockerfile").read_text()
    assert 'ENTRYPOINT ["kimi-tui"]' in instructions
    last_user = re.findall(r"^USER (\w+)", instructions, re.MULTILINE)[-1]
    assert last_user != "root"


def test_the_locked_requirements_have_a_version_and_hashes_of_every_dependency_and_no_addresses() -> None:
    assert "://" not in REQUIREMENTS
    assert "--index-url" not in REQUIREMENTS
    pinned = dict(re.findall(r"^([\w.-]+)==(\S+)", REQUIREMENTS, re.MULTILINE))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for requirement in project["dependencies"]:
        name = re.match(r"[\w.-]+", requirement)
        assert name is not None
        assert name[0] in pinned
    entries = re.split(r"^(?=[\w.-]+==)", REQUIREMENTS, flags=re.MULTILINE)[1:]
    assert all("--hash=sha256:" in entry for entry in entries)


def test_each_python_in_the_classifiers_is_checked_by_the_workflow() -> None:
    classifiers = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["classifiers"]
    versions = {it.rsplit(" ", 1)[1] for it in classifiers if "Python :: 3." in it}
    job = load(ROOT / ".github" / "workflows" / "ci.yml")["jobs"]["check"]
    assert set(job["strategy"]["matrix"]["python-version"]) == versions
