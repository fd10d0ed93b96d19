"""`login` and `logout`: keys are tested, stored privately, used and removed."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Terminal
from tests.e2e.program import Program
from tests.llm.servers import Fault, ScriptedResponse, serving

KEY = "sk-test-key-123456"


def credentials_file(program: Program) -> Path:
    return program.data_dir / "credentials.json"


def test_a_working_key_is_stored_privately_and_used(program: Program) -> None:
    with serving("openai", [ScriptedResponse(text="ok"), ScriptedResponse(text="hello there")]) as server:
        done = program.run("login", "openai", "--base-url", server.base_url, stdin=f"{KEY}\n")
        assert done.exit_code == 0, done.stderr
        response = program.run("-p", "hello")
    assert response.stdout == "hello there\n", response.stderr
    assert credentials_file(program).stat().st_mode & 0o777 == 0o600
    assert all(request.headers["authorization"] == f"Bearer {KEY}" for request in server.requests)
    assert KEY not in done.stdout + done.stderr + response.stderr
    assert not any(KEY in log.read_text() for log in (program.data_dir / "logs").iterdir())


def test_a_rejected_key_is_not_stored(program: Program) -> None:
    with serving("openai", [Fault.status_is(401)]) as server:
        done = program.run("login", "openai", "--base-url", server.base_url, stdin=KEY)
    assert done.exit_code == 1
    assert "The server rejected the API key (HTTP 401). Nothing was stored." in done.stderr
    assert not credentials_file(program).exists()


def test_a_key_for_an_unreachable_server_can_be_stored_untested(program: Program) -> None:
    arguments = ("login", "anthropic", "--base-url", "http://127.0.0.1:9")
    done = program.run(*arguments, stdin=KEY)
    assert done.exit_code == 1
    assert "Can't test the key" in done.stderr
    assert "--untested" in done.stderr
    assert not credentials_file(program).exists()
    assert program.run(*arguments, "--untested", stdin=KEY).exit_code == 0
    assert json.loads(credentials_file(program).read_text())["anthropic"]["api_key"] == KEY


def test_the_key_is_not_echoed(program: Program, terminal: Terminal) -> None:
    child = terminal.start("login", "--untested")
    child.expect("Which provider")
    child.sendline("kimi")
    child.expect("\\(hidden\\)")
    child.sendline(KEY)
    child.expect("stored in")
    assert KEY not in str(child.before)
    child.wait()
    assert json.loads(credentials_file(program).read_text()) == {"kimi": {"api_key": KEY}}


@pytest.mark.parametrize(
    ("arguments", "stdin", "message"),
    [
        (["login"], KEY, "No provider given."),
        (["login", "nobody"], KEY, "Unknown provider “nobody”"),
        (["login", "kimi"], "\n", "No API key given."),
        (["login", "kimi"], "two words", "The API key contains spaces"),
        (["login", "kimi", "--base-url", "example.com"], KEY, "isn't a URL"),
        (["logout", "kimi", "more"], "", "Got unexpected extra argument"),
    ],
)
def test_a_usage_error_is_reported(program: Program, arguments: list[str], stdin: str, message: str) -> None:
    done = program.run(*arguments, stdin=stdin)
    assert done.exit_code == 2
    assert message in done.stderr


def test_logging_out_removes_a_key(program: Program) -> None:
    assert program.run("logout").stdout == "No API keys stored.\n"
    for name in ("kimi", "openai"):
        program.run("login", name, "--untested", stdin=KEY)
    assert program.run("logout").exit_code == 2
    assert program.run("logout", "anthropic").exit_code == 2
    assert program.run("logout", "kimi").exit_code == 0
    assert list(json.loads(credentials_file(program).read_text())) == ["openai"]
    program.run("logout", "--all")
    assert not credentials_file(program).exists()
