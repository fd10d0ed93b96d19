"""Exit codes, streams and signals of the process before a session opens."""

import json
import os
import signal
import subprocess
import sys

import pytest

from tests.e2e.program import KIMI_TUI
from tests.timeouts import TEST_TIMEOUT_S


@pytest.mark.parametrize("arguments", [["-V"], ["--version"], ["-y", "--version"]])
def test_the_version_is_one_line(program, arguments):
    done = program.run(*arguments)
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.startswith("kimi-tui ")
    assert done.stdout.count("\n") == 1


def test_the_package_can_be_run_as_a_module(program):
    done = subprocess.run([sys.executable, "-m", "kimi_tui", "-V"], capture_output=True, check=True)
    assert done.stdout.startswith(b"kimi-tui ")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--nonsense"],
        ["--print", "--mode", "tui"],
        ["--print", "-w", "nowhere", "-p", "x"],
        ["--print", "--add-dir", "nowhere", "-p", "x"],
        ["--print", "--input", "nowhere"],
        ["-p", "x", "-o", "nowhere/out"],
        ["--print"],
        ["sessions", "nonsense"],
        ["info", "--nonsense"],
        ["config", "check", "a", "b"],
    ],
)
def test_a_usage_error_is_one_line_on_stderr_and_exits_2(program, arguments):
    done = program.run(*arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("output_format", ["json", "stream-json"])
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--print"], 2),
        (["-p", "x", "--fork"], 2),
        (["-p", "x", "-w", "nowhere"], 2),
        (["-p", "x", "--config", "theme = 'mauve'"], 1),
        (["-p", "x", "--config", "theme = "], 1),
    ],
)
def test_an_early_error_is_written_as_a_result(program, arguments, code, output_format):
    done = program.run("--output-format", output_format, *arguments)
    assert done.exit_code == code
    assert len(done.lines) == 1
    assert done.result["exit_code"] == code
    assert done.result["error"]["what"] in done.stderr


def test_without_a_terminal_the_app_exits_with_2(program):
    done = program.run()
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("kimi-tui needs a terminal, but standard input isn't one.")
    assert "-p" in done.stderr


def test_output_to_a_pipe_is_a_usage_error(program):
    ours, theirs = os.openpty()
    try:
        process = program.start(stdin=theirs)
        stdout, stderr = process.communicate(timeout=TEST_TIMEOUT_S)
    finally:
        os.close(ours)
        os.close(theirs)
    assert (process.returncode, stdout) == (2, b"")
    assert b"standard output isn't one" in stderr


@pytest.mark.parametrize("term", ["dumb", ""])
def test_an_unsuitable_terminal_is_a_usage_error(terminal, term):
    child = terminal.start(TERM=term)
    text = child.read()
    child.wait()
    assert child.exitstatus == 2
    assert "This terminal can't display the app: TERM is" in text


@pytest.mark.parametrize(("lines", "columns"), [(5, 100), (30, 20)])
def test_a_terminal_that_is_too_small_is_a_usage_error(terminal, lines, columns):
    child = terminal.start(lines=lines, columns=columns)
    text = child.read()
    child.wait()
    assert child.exitstatus == 2
    assert f"{columns}x{lines}" in " ".join(text.split())


def test_a_closed_pipe_ends_help_and_lists_quietly(program):
    reader, writer = os.pipe()
    os.close(reader)
    process = program.start("info", stdout=writer)
    os.close(writer)
    _, stderr = process.communicate(timeout=TEST_TIMEOUT_S)
    assert (process.returncode, stderr) == (141, b"")


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 129)]
)
def test_a_signal_while_stdin_is_read_gives_the_result(program, number, code):
    process = program.start("-p", "x", "--output-format", "stream-json", stdin=subprocess.PIPE)
    assert process.stderr.readline().startswith(b"Waiting for standard input to end.")
    process.send_signal(number)
    stdout, stderr = process.communicate(timeout=TEST_TIMEOUT_S)
    assert process.returncode == code
    (result,) = [json.loads(line) for line in stdout.splitlines()]
    assert (result["type"], result["exit_code"]) == ("result", code)
    assert stderr == b""


def test_closed_streams_are_a_usage_error(program):
    closed = ["sh", "-c", f'exec "{KIMI_TUI}" "$@" <&- 2>&-', "sh", "--print"]
    done = subprocess.run(closed, cwd=program.work_dir, env=program.environment(), capture_output=True)
    assert (done.returncode, done.stdout) == (2, b"")


@pytest.mark.parametrize("arguments", ["-p x --demo", "-p x --demo --output-format json", "--print"])
def test_a_closed_standard_output_is_reported(program, arguments):
    closed = ["sh", "-c", f'exec "{KIMI_TUI}" {arguments} >&-']
    done = subprocess.run(
        closed, cwd=program.work_dir, env=program.environment(), capture_output=True, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 2
    assert done.stderr.startswith(b"Standard output is closed.")


def test_the_first_frame_imports_no_slow_packages(program):
    code = (
        "import sys; from kimi_tui.cli.parser import parse; parse(['--demo', '--config', 'a = 1']);"
        "import kimi_tui.cli.run_tui, kimi_tui.tui.app; print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = set(done.stdout.split())
    assert not modules & {"pydantic", "typer", "yaml", "tomlkit", "httpx", "openai", "anthropic"}
    assert not [name for name in modules if name.startswith(("kimi_tui.engine", "kimi_tui.soul"))]


def test_print_mode_never_imports_textual_or_rich(program):
    run = "from kimi_tui.cli.main import main; main(sys.argv[1:])"
    code = f"import sys; {run}; print(*sys.modules, file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", code, "-p", "x", "-m", "none", "--output-format", "json"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        cwd=program.work_dir,
        env=program.environment(),
        text=True,
        check=True,
    )
    assert json.loads(done.stdout)["type"] == "result"
    modules = set(done.stderr.split())
    assert "kimi_tui.headless.print_mode" in modules
    assert not modules & {"textual", "rich", "typer"}


def test_a_prompt_keeps_its_bytes_in_a_locale_without_utf_8(program):
    program.script("text: naïve ✨")
    environment = {**program.environment(), "LC_ALL": "POSIX", "PYTHONUTF8": "0"}
    prompt = "déjà vu 你好".encode()
    done = subprocess.run(
        [KIMI_TUI.encode(), b"-p", prompt],
        cwd=program.work_dir,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=TEST_TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.decode() == "naïve ✨\n"
    (journal,) = program.context_files
    assert "déjà vu 你好" in journal.read_text("utf-8")
