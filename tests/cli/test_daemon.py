"""`--daemon` with the real program: signals, sockets and option conflicts."""

import json
import signal
import socket

import pytest

from tests.e2e.processes import is_alive
from tests.e2e.program import Program, script, tool_call
from tests.e2e.scenarios import wait_for
from tests.timeouts import TEST_TIMEOUT_S


def test_sigterm_ends_the_turn_and_its_processes(program: Program) -> None:
    begun = program.home / "begun"  # outside of the command's private view, so that it appears at once
    command = f"touch half; echo $$ > {begun}; sleep 300"
    program.script(script(tool_call("b", "Bash", command=command, timeout=300)))
    process = program.start("-d", "--yolo", stdin=-1)
    assert process.stdin is not None
    process.stdin.write(b"wait\n")
    process.stdin.flush()
    wait_for(lambda: begun.exists() and begun.read_text().endswith("\n"))
    process.send_signal(signal.SIGTERM)
    stdout, _ = process.communicate(timeout=TEST_TIMEOUT_S)
    assert process.returncode == 143
    (line,) = stdout.splitlines()
    assert json.loads(line)["outcome"] == "terminated"
    wait_for(lambda: not is_alive(int(begun.read_text())))
    assert (program.work_dir / "half").exists()


def test_a_socket_is_served_and_removed_afterwards(program: Program) -> None:
    program.script("text: hello there")
    path = program.home / "s"
    process = program.start("-d", "--socket", str(path))
    assert process.stderr is not None
    assert process.stderr.readline().startswith(b"Listening at ")
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))
        client.sendall(b"hello\n")
        with client.makefile("r") as lines:
            assert json.loads(lines.readline())["result"] == "hello there"
            process.terminate()
            assert lines.readline() == ""
    process.communicate(timeout=TEST_TIMEOUT_S)
    assert process.returncode == 143
    assert not path.exists()


@pytest.mark.parametrize(
    ("arguments", "flags"),
    [
        (["-d", "hello"], ["--daemon", "PROMPT"]),
        (["-d", "-p", "hello"], ["--daemon", "--prompt"]),
        (["-d", "-o", "x"], ["--daemon", "--output"]),
        (["--socket", "x", "-p", "hello"], ["--socket", "--daemon"]),
        (["-d", "--socket", "x", "--input", "y"], ["--socket", "--input"]),
        (["-d", "--socket", "x", "--output-format", "text"], ["--socket", "--output-format"]),
        (["--wire", "-d"], ["--daemon", "--wire"]),
    ],
)
def test_conflicting_options_are_reported(program: Program, arguments: list[str], flags: list[str]) -> None:
    finished = program.run(*arguments)
    assert finished.exit_code == 2
    assert all(name in finished.stderr for name in flags), finished.stderr
