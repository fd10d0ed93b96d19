"""Bad input: one clear sentence that says what to do, and the right exit code; with a screen and without."""

import socket
import subprocess

import pytest

from tests.e2e.program import KIMI_TUI
from tests.llm.servers import Answer, Fault, serving

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


def told(done, code: int, *parts: str) -> None:
    """The run ended with `code`, said nothing on stdout, and `parts` in one line on stderr."""
    assert done.exit_code == code, done
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1, done.stderr
    for part in parts:
        assert part in done.stderr
    assert "Traceback" not in done.stderr


def test_without_a_config_one_is_told_how_to_connect_a_model(program):
    told(
        program.run("-p", "hi"),
        1,
        "No model is configured.",
        "KIMI_API_KEY, OPENAI_API_KEY or ANTHROPIC_API_KEY",
        "--demo",
    )


def test_a_mistake_in_the_config_is_told_with_its_line(program):
    program.configure("default_modle = 'm'")
    told(
        program.run("-p", "hi"),
        1,
        "config.toml, line 1: there is no setting default_modle.",
        "default_model?",
    )
    program.configure("default_model = m")
    told(program.run("-p", "hi"), 1, "config.toml, line 1: this is not valid TOML")


def test_a_config_that_is_not_there_is_named(program):
    told(program.run("-p", "hi", "--config-file", "none.toml"), 1, "There is no config file none.toml")


def test_a_provider_without_a_key_is_told_with_what_to_set(program):
    program.configure(config(kind="anthropic", key=""))
    told(program.run("-p", "hi"), 1, "The provider p has no key.", "ANTHROPIC_API_KEY")
    program.configure(config(key="env:MY_KEY"))
    told(program.run("-p", "hi"), 1, "MY_KEY, which isn't set.", "export MY_KEY=")


@pytest.mark.parametrize("kind", ["openai", "kimi", "anthropic"])
def test_a_refused_key_is_told_and_stands_nowhere(program, kind):
    refusal = Fault.status_is(401, {"message": "invalid key", "type": "authentication_error"})
    with serving("anthropic" if kind == "anthropic" else "openai", [refusal]) as server:
        program.configure(config(kind=kind, url=server.base_url, key="sk-secret-key"))
        done = program.run("-p", "hi", "--log-level", "debug")
    told(done, 1, "401", "key")
    kept = [path for path in program.share_dir.rglob("*") if path.is_file() and path.name != "config.toml"]
    assert (program.share_dir / "logs" / "kimi-tui.log") in kept
    for text in (done.stderr.encode(), *(path.read_bytes() for path in kept)):
        assert b"sk-secret-key" not in text


def test_an_unknown_model_is_told_with_the_nearest_one(program):
    program.configure(config())
    told(program.run("-p", "hi", "-m", "mm"), 1, "There is no model “mm”.", "Did you mean m?")


def test_a_model_that_the_server_does_not_know_is_named(program):
    with serving("openai", [Fault.status_is(404, {"message": "no such model: some-model"})]) as server:
        program.configure(config(url=server.base_url))
        told(program.run("-p", "hi"), 1, "some-model")


def test_an_unknown_agent_is_told_with_the_nearest_one(program):
    told(program.run("-p", "hi", "--demo", "-a", "defualt"), 1, "There is no agent “defualt”.", "default")


def test_an_unknown_session_is_told(program):
    told(program.run("-p", "hi", "--demo", "-S", "nope"), 1, "There is no session “nope”.")


def test_an_unreachable_server_is_named_and_may_be_tried_again(program):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        program.configure(config(url=f"http://127.0.0.1:{unused.getsockname()[1]}/v1"))
        done = program.run("-p", "hi", "--max-retries-per-step", "1")
    told(done, 75, "127.0.0.1")


def test_a_server_that_has_no_time_may_be_tried_again(program):
    with serving("openai", [Fault.status_is(503), Answer(text="never asked")]) as server:
        program.configure(config(url=server.base_url))
        done = program.run("-p", "hi", "--max-retries-per-step", "1", "--output-format", "json")
    assert done.exit_code == 75
    assert done.result["retryable"]
    assert done.result["error"]["status_code"] == 503


@pytest.mark.parametrize("share_dir", ["/dev/null/share", "/proc/share"])
def test_a_share_dir_that_cannot_be_written_is_told_with_what_to_set(program, share_dir):
    program.env["KIMI_SHARE_DIR"] = share_dir
    told(program.run("-p", "hi", "--demo"), 1, share_dir, "can't be written", "Set KIMI_SHARE_DIR")


def test_a_work_dir_that_is_gone_is_told(program):
    script = f'cd "{program.work_dir}" && rmdir "{program.work_dir}" && exec "{KIMI_TUI}" -p hi --demo'
    done = subprocess.run(["sh", "-c", script], env=program.environment(), capture_output=True, text=True)
    assert done.returncode == 2
    assert "The current folder doesn't exist any more." in done.stderr


def test_the_app_tells_what_is_wrong_and_exits_with_1(program, terminal):
    program.configure(config())
    child = terminal.start("-m", "mm")
    child.expect("There is no model")
    child.send("\x11")
    child.expect_exact("\x1b[?1049l")
    child.wait()
    assert child.exitstatus == 1


def test_a_broken_config_is_told_before_the_screen_is_taken(program, terminal):
    program.configure("theme = ")
    child = terminal.start()
    text = child.read()
    child.wait()
    assert child.exitstatus == 1
    assert "config.toml, line 1: this is not valid TOML" in " ".join(text.split())
    assert "\x1b[?1049h" not in text
