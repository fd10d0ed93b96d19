"""login and logout: a key is tried, kept for the user alone, used, and removed."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Terminal
from tests.e2e.program import Program
from tests.llm.servers import Answer, Fault, serving

KEY = "sk-test-key-123456"


def stored(program: Program) -> Path:
    return program.share_dir / "credentials.json"


def test_a_key_that_works_is_stored_for_the_owner_alone_and_used(program: Program) -> None:
    with serving("openai", [Answer(text="ok"), Answer(text="hello there")]) as server:
        done = program.run("login", "openai", "--base-url", server.base_url, stdin=f"{KEY}\n")
        assert done.exit_code == 0, done.stderr
        answered = program.run("-p", "hello")
    assert answered.stdout == "hello there\n", answered.stderr
    assert stored(program).stat().st_mode & 0o777 == 0o600
    assert all(request.headers["authorization"] == f"Bearer {KEY}" for request in server.requests)
    assert KEY not in done.stdout + done.stderr + answered.stderr
    assert not any(KEY in log.read_text() for log in (program.share_dir / "logs").iterdir())


def test_a_key_that_is_refused_is_not_stored(program: Program) -> None:
    with serving("openai", [Fault.status_is(401)]) as server:
        done = program.run("login", "openai", "--base-url", server.base_url, stdin=KEY)
    assert done.exit_code == 1
    assert "The server refused the key (HTTP 401). Nothing is stored." in done.stderr
    assert not stored(program).exists()


def test_a_server_that_cannot_be_reached_is_told_and_the_key_may_be_stored_untested(program: Program) -> None:
    there = ("login", "anthropic", "--base-url", "http://127.0.0.1:9")
    done = program.run(*there, stdin=KEY)
    assert done.exit_code == 1
    assert "couldn't be tried" in done.stderr
    assert "--untested" in done.stderr
    assert not stored(program).exists()
    assert program.run(*there, "--untested", stdin=KEY).exit_code == 0
    assert json.loads(stored(program).read_text())["anthropic"]["api_key"] == KEY


def test_the_key_is_asked_for_without_being_shown(program: Program, terminal: Terminal) -> None:
    child = terminal.start("login", "--untested")
    child.expect("Which provider")
    child.sendline("kimi")
    child.expect("it is not shown")
    child.sendline(KEY)
    child.expect("is stored in")
    assert KEY not in str(child.before)
    child.wait()
    assert json.loads(stored(program).read_text()) == {"kimi": {"api_key": KEY}}


@pytest.mark.parametrize(
    ("arguments", "stdin", "told"),
    [
        (["login"], KEY, "The provider is missing."),
        (["login", "nobody"], KEY, "There is no provider “nobody”"),
        (["login", "kimi"], "\n", "There is no key."),
        (["login", "kimi"], "two words", "That is no key"),
        (["login", "kimi", "--base-url", "example.com"], KEY, "is no address"),
        (["logout", "kimi", "more"], "", "Got unexpected extra argument"),
    ],
)
def test_nonsense_is_told(program: Program, arguments: list[str], stdin: str, told: str) -> None:
    done = program.run(*arguments, stdin=stdin)
    assert done.exit_code == 2
    assert told in done.stderr


def test_logging_out_removes_a_key(program: Program) -> None:
    assert program.run("logout").stdout == "No key is stored.\n"
    for name in ("kimi", "openai"):
        program.run("login", name, "--untested", stdin=KEY)
    assert program.run("logout").exit_code == 2
    assert program.run("logout", "anthropic").exit_code == 2
    assert program.run("logout", "kimi").exit_code == 0
    assert list(json.loads(stored(program).read_text())) == ["openai"]
    program.run("logout", "--all")
    assert not stored(program).exists()
