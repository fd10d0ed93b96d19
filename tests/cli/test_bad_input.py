"""Bad input results in one clear message and the right exit code, in print mode and in the app."""

import socket
import subprocess

import pytest

from tests.e2e.program import KIMI_TUI
from tests.llm.servers import Fault, ScriptedResponse, serving

CONFIG = """
default_model = "m"
[providers.p]
type = "{kind}"
base_url = "{url}"
api_key = "{key}"
[models.m]
provider = "p"
model = "some-model"
max_context_size = 100000
"""


def config(*, kind: str = "openai", url: str = "http://127.0.0.1:9", key: str = "k-123456") -> str:
    return CONFIG.format(kind=kind, url=url, key=key)


def assert_error(done, code: int, *parts: str) -> None:
    """Check that the run exited with `code`, no stdout, and one line on stderr that contains `parts`."""
    assert done.exit_code == code, done
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1, done.stderr
    for part in parts:
        assert part in done.stderr
    assert "Traceback" not in done.stderr


def test_without_a_config_the_error_explains_how_to_connect_a_model(program):
    assert_error(
        program.run("-p", "hi"),
        1,
        "No model is configured.",
        "KIMI_API_KEY, OPENAI_API_KEY or ANTHROPIC_API_KEY",
        "--demo",
    )


def test_an_error_in_the_config_has_a_line_number(program):
    program.configure("default_modle = 'm'")
    assert_error(
        program.run("-p", "hi"),
        1,
        "config.toml, line 1: unknown setting default_modle.",
        "default_model?",
    )
    program.configure("default_model = m")
    assert_error(program.run("-p", "hi"), 1, "config.toml, line 1: invalid TOML")


def test_a_missing_config_file_is_named(program):
    assert_error(
        program.run("-p", "hi", "--config-file", "none.toml"), 1, "The config file none.toml doesn't exist."
    )


def test_a_missing_api_key_names_the_variable_to_set(program):
    program.configure(config(kind="anthropic", key=""))
    assert_error(program.run("-p", "hi"), 1, "Provider p has no API key.", "ANTHROPIC_API_KEY")
    program.configure(config(key="env:MY_KEY"))
    assert_error(program.run("-p", "hi"), 1, "MY_KEY, which isn't set.", "export MY_KEY=")


@pytest.mark.parametrize("kind", ["openai", "kimi", "anthropic"])
def test_a_rejected_key_is_reported_and_never_stored(program, kind):
    refusal = Fault.status_is(401, {"message": "invalid key", "type": "authentication_error"})
    with serving("anthropic" if kind == "anthropic" else "openai", [refusal]) as server:
        program.configure(config(kind=kind, url=server.base_url, key="sk-secret-key"))
        done = program.run("-p", "hi", "--log-level", "debug")
    assert_error(done, 1, "401", "key")
    files = [path for path in program.data_dir.rglob("*") if path.is_file() and path.name != "config.toml"]
    assert (program.data_dir / "logs" / "kimi-tui.log") in files
    for text in (done.stderr.encode(), *(path.read_bytes() for path in files)):
        assert b"sk-secret-key" not in text


def test_an_unknown_model_suggests_the_closest_one(program):
    program.configure(config())
    assert_error(program.run("-p", "hi", "-m", "mm"), 1, "Unknown model “mm”.", "Did you mean m?")


def test_a_model_unknown_to_the_server_is_named(program):
    with serving("openai", [Fault.status_is(404, {"message": "no such model: some-model"})]) as server:
        program.configure(config(url=server.base_url))
        assert_error(program.run("-p", "hi"), 1, "some-model")


def test_an_unknown_agent_suggests_the_closest_one(program):
    assert_error(program.run("-p", "hi", "--demo", "-a", "defualt"), 1, "Unknown agent “defualt”.", "default")


def test_an_unknown_session_is_reported(program):
    assert_error(program.run("-p", "hi", "--demo", "-S", "nope"), 1, "Session “nope” doesn't exist.")


def test_an_unreachable_server_is_named_and_retryable(program):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        program.configure(config(url=f"http://127.0.0.1:{unused.getsockname()[1]}/v1"))
        done = program.run("-p", "hi", "--max-retries-per-step", "1")
    assert_error(done, 75, "127.0.0.1")


def test_an_overloaded_server_is_retryable(program):
    with serving("openai", [Fault.status_is(503), ScriptedResponse(text="never asked")]) as server:
        program.configure(config(url=server.base_url))
        done = program.run("-p", "hi", "--max-retries-per-step", "1", "--output-format", "json")
    assert done.exit_code == 75
    assert done.result["retryable"]
    assert done.result["error"]["status_code"] == 503


@pytest.mark.parametrize("data_dir", ["/dev/null/share", "/proc/share"])
def test_an_unwritable_data_directory_names_the_variable_to_set(program, data_dir):
    program.env["KIMI_SHARE_DIR"] = data_dir
    assert_error(
        program.run("-p", "hi", "--demo"),
        1,
        data_dir,
        "Can't write to the data directory",
        "Set KIMI_SHARE_DIR",
    )


def test_a_deleted_working_directory_is_reported(program):
    script = f'cd "{program.work_dir}" && rmdir "{program.work_dir}" && exec "{KIMI_TUI}" -p hi --demo'
    done = subprocess.run(["sh", "-c", script], env=program.environment(), capture_output=True, text=True)
    assert done.returncode == 2
    assert "The current directory no longer exists." in done.stderr


def test_the_app_shows_the_error_and_exits_with_1(program, terminal):
    program.configure(config())
    child = terminal.start("-m", "mm")
    child.expect("Unknown model")
    child.send("\x11")
    child.expect_exact("\x1b[?1049l")
    child.wait()
    assert child.exitstatus == 1


def test_an_invalid_config_is_reported_before_the_app_opens(program, terminal):
    program.configure("theme = ")
    child = terminal.start()
    text = child.read()
    child.wait()
    assert child.exitstatus == 1
    assert "config.toml, line 1: invalid TOML" in " ".join(text.split())
    assert "\x1b[?1049h" not in text
