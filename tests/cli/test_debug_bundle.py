"""The log, and `kimi-tui debug bundle`: what they contain, and what they must not contain."""

import json
import zipfile
from pathlib import Path

import pytest

from tests.e2e.program import Program, script, tool_call
from tests.mcp.odd_servers import config_entry

SECRETS = (
    "sk-config-123456789",
    "header-value-77",
    "stored-key-4242",
    "mcp-token-5151",
    "env-key-99999",
)


@pytest.fixture
def used(program: Program) -> Program:
    """Return a program that has run a turn with a tool, with secrets in all of its files."""
    program.script(script("text: secret plan", tool_call("c1", "Bash", command="echo visible")), "text: done")
    config = program.data_dir / "config.toml"
    config.write_text(
        f'{config.read_text()}\n[providers.other]\ntype = "openai"\napi_key = "{SECRETS[0]}"\n'
        f'custom_headers = {{ X-Team = "{SECRETS[1]}" }}\n'
    )
    (program.data_dir / "credentials.json").write_text(json.dumps({"other": {"api_key": SECRETS[2]}}))
    server = {"command": "true", "env": {"TEAM": SECRETS[3]}}
    (program.data_dir / "mcp.json").write_text(json.dumps({"mcpServers": {"one": server}}))
    program.env["OPENAI_API_KEY"] = SECRETS[4]
    done = program.run("--debug", "--yolo", "-p", "my private question")
    assert done.exit_code == 0, done.stderr
    return program


def log_of(program: Program) -> str:
    return (program.data_dir / "logs" / "kimi-tui.log").read_text()


def test_debug_logs_every_event_with_sizes_and_times_but_no_texts(used: Program) -> None:
    log = log_of(used)
    for event in (
        "turn_begin session=",
        "prompt_chars=19",
        "model_request model=scripted messages=",
        "model_response first_part_s=",
        "step_begin n=1",
        "tool_call id=c1 name=Bash arguments_chars=",
        "tool_result id=c1 seconds=",
        "is_error=false",
        "checkpoint id=0 kind=user",
        "mcp_loading_begin",
        "turn_end session=",
    ):
        assert event in log, event
    for text in ("private question", "secret plan", "echo visible", *SECRETS):
        assert text not in log


def test_reverts_and_retries_are_logged_at_the_default_level(program: Program) -> None:
    program.script("error: 503 busy", "text: one", "text: two")
    assert program.run("-p", "first").exit_code == 0
    program.run("--continue", "-p", "/revert 0 conversation")
    log = log_of(program)
    assert "retry step=1 attempt=2 error=APIStatusError status=503" in log
    assert "revert to=0 before=" in log
    assert "model_request" not in log


def test_a_full_log_rotates_and_the_bundle_contains_all_its_files(program: Program) -> None:
    folder = program.data_dir / "logs"
    folder.mkdir(parents=True)
    (folder / "kimi-tui.log").write_text("x" * 9_999_999 + "\n")
    for number in (1, 2, 3, 4):
        (folder / f"kimi-tui.log.{number}").write_text(f"old {number}\n")
    program.script("text: one")
    assert program.run("-p", "first").exit_code == 0
    assert "turn_begin session=" in log_of(program)
    assert (folder / "kimi-tui.log.1").stat().st_size == 10_000_000
    assert (folder / "kimi-tui.log.4").read_text() == "old 3\n"
    assert len(list(folder.iterdir())) == 5
    assert program.run("debug", "bundle", "-o", "report.zip").exit_code == 0
    with zipfile.ZipFile(program.work_dir / "report.zip") as archive:
        assert sum(name.startswith("logs/") for name in archive.namelist()) == 5


def test_connections_and_calls_of_mcp_servers_are_logged(program: Program) -> None:
    servers = {"odd": config_entry(), "gone": {"command": "no-such-program"}}
    program.data_dir.mkdir(exist_ok=True)
    (program.data_dir / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    program.script(tool_call("c1", "echo", text="secret words"), "text: done")
    assert program.run("--debug", "--yolo", "-p", "go").exit_code == 0
    log = log_of(program)
    assert "mcp_connected server=odd seconds=" in log
    assert "mcp_call server=odd tool=echo seconds=" in log
    assert "mcp_disconnected server=gone failures=0 persistence=" in log
    assert "secret words" not in log


def test_the_bundle_lists_its_contents_and_has_no_keys_and_no_conversation(used: Program) -> None:
    done = used.run("debug", "bundle", "-o", "report.zip")
    assert done.exit_code == 0, done.stderr
    with zipfile.ZipFile(used.work_dir / "report.zip") as archive:
        names = archive.namelist()
        text = "\n".join(archive.read(name).decode() for name in names)
    assert {"info.json", "config.toml", "mcp.json", "logs/kimi-tui.log"} <= set(names)
    assert all(name in done.stdout for name in names)
    (session,) = (name for name in names if name.startswith("sessions/"))
    assert '"assistant": 2' in text, session
    for secret in (*SECRETS, "private question", "secret plan"):
        assert secret not in text
    assert (used.work_dir / "report.zip").stat().st_mode & 0o777 == 0o600


def test_the_bundle_replaces_no_file(program: Program) -> None:
    Path(program.work_dir / "report.zip").write_text("mine")
    done = program.run("debug", "bundle", "-o", "report.zip")
    assert done.exit_code == 2
    assert (program.work_dir / "report.zip").read_text() == "mine"
