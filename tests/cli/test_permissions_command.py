"""`kimi-tui permissions test` and `permissions explain`, and what `config check` says about rules."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.e2e.program import Program

RULES = """
[permissions]
allow = ["Bash(git log *)", "Bash(mytool *)", "Bash(pytest *)", "Web(docs.python.org)"]
ask = ["Bash(git push *)"]
deny = ["Bash(rm -rf *)", "Read(private/**)"]
"""


@pytest.fixture
def program(tmp_path: Path) -> Program:
    program = Program(tmp_path)
    program.script("text: hi")
    config = program.data_dir / "config.toml"
    config.write_text(config.read_text().replace("[permissions]", RULES.strip(), 1))
    return program


@pytest.mark.parametrize(
    ("arguments", "code", "shown"),
    [
        (["git log -5"], 0, ["Verdict: allowed", "Rule: Bash(git log *)"]),
        (["git push"], 4, ["Verdict: asks", "Rule: Bash(git push *)", "“Always allow” isn't offered"]),
        (["rm -rf build"], 4, ["Verdict: denied", "Rule: Bash(rm -rf *)"]),
        (["make test"], 4, ["Verdict: asks", "“Always allow” adds the rule Bash(make test *)"]),
        (["curl x | sh"], 4, ["Verdict: asks", "Dangerous: pipes into sh"]),
        (["--fetch", "https://docs.python.org/3/"], 0, ["Rule: Web(docs.python.org)"]),
        (["--fetch", "https://other.test/"], 4, ["adds the rule Web(other.test)"]),
        (["--read", "README.md"], 0, ["Verdict: allowed"]),
        (["--read", "private/a"], 4, ["Verdict: denied", "Rule: Read(private/**)"]),
        (["--read", ".env"], 4, ["Verdict: asks", "adds the rule Read(./.env)"]),
        (["--edit", "src/a.py"], 4, ["Verdict: asks", "adds the rule Edit(./src/a.py)"]),
        ([], 2, []),
        (["ls", "--read", "a"], 2, []),
    ],
)
def test_the_verdict_the_rule_and_the_question_are_shown(
    program: Program, arguments: Sequence[str], code: int, shown: Sequence[str]
) -> None:
    done = program.run("permissions", "test", *arguments)
    assert done.exit_code == code
    for text in shown:
        assert text in done.stdout


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("git log --output=x", "--output=x isn't known to be safe for git"),
        ("git log && pytest -p evil", "-p isn't known to be safe for pytest"),
        ("pytest ../x", "../x isn't known to be safe for pytest"),
        ("pytest /x/test_a.py", "/x/test_a.py is outside the directories"),
        ("pytest $x", "$x isn't known"),
        ("make", "no rule covers make"),
        ("pytest > log", "no Edit rule covers log"),
        ("f() { ls; }; f", "can't be parsed"),
    ],
)
def test_the_explanation_names_what_no_rule_covers(program: Program, command: str, reason: str) -> None:
    done = program.run("permissions", "explain", command)
    assert done.exit_code == 0
    assert reason in done.stdout


def test_the_explanation_lists_each_command(program: Program) -> None:
    done = program.run("permissions", "explain", "timeout 5 git log | head -5")
    assert "Runs: git log\nRuns: head -5\n" in done.stdout


def test_config_check_reports_wide_rules_and_rules_without_effect(tmp_path: Path) -> None:
    program = Program(tmp_path)
    program.script("text: hi")
    config = program.data_dir / "config.toml"
    wide = ["Bash(mytool *)", "Edit(~/**)", "Web(*)", "MCP(a:*)"]
    narrow = ["Bash(git log *)", "Bash(make)", "Edit(src/**)"]
    table = f'[permissions]\nallow = {json.dumps([*wide, *narrow])}\ndeny = ["Tool(ReadFile)"]\n'
    config.write_text(config.read_text().replace("[permissions]", table.strip(), 1))
    done = program.run("config", "check")
    assert done.exit_code == 0
    for rule in wide:
        assert f"Broad rule {rule}: " in done.stdout
    for rule in narrow:
        assert rule not in done.stdout
    assert "Tool(ReadFile) has no effect. Write Read(...) instead." in done.stdout


def test_the_rules_of_the_config_are_listed_with_their_lines(program: Program) -> None:
    result = program.run("permissions", "list")
    lines = result.stdout.splitlines()
    assert [line.partition(" (")[0] for line in lines[:2]] == ["deny Bash(rm -rf *)", "deny Read(private/**)"]
    number = (program.data_dir / "config.toml").read_text().splitlines().index(RULES.splitlines()[4]) + 1
    assert f"config.toml:{number}, file changed 20" in lines[0]
