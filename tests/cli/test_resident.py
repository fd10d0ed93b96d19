"""The resident engine as a user meets it: the real program, terminals and processes."""

import asyncio
import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kimi_tui.base.errors import UsageError
from kimi_tui.cli.commands.attach import choose_session
from kimi_tui.resident.connection import send_hello
from kimi_tui.resident.frames import Hello
from kimi_tui.version import __version__
from kimi_tui.wire.running_session import RunningSession
from tests.cli.conftest import Terminal
from tests.e2e.program import Program

ENTERED, LEFT = "\x1b[?1049h", "\x1b[?1049l"


def hosted(session_id: str, work_dir: str = "/work") -> RunningSession:
    return RunningSession(id=session_id, title="", work_dir=work_dir, state="idle", since_s=0.0)


@pytest.fixture
def engine_program(program: Program) -> Iterator[Program]:
    yield program
    program.run("serve", "--stop")


def test_a_session_is_left_listed_attached_to_and_stopped(
    engine_program: Program, terminal: Terminal
) -> None:
    first = terminal.start("--demo", "--resident", "write a.txt: one")
    first.expect_exact("Allow WriteFile")
    first.close(force=True)  # the terminal is lost during a turn
    listed = json.loads(engine_program.run("ps", "--json").stdout)
    assert [session["state"] for session in listed] == ["awaiting approval"]
    second = terminal.start("attach")
    second.expect_exact("Allow WriteFile")
    time.sleep(1)  # requests ignore keys at first
    second.send("y")
    second.expect_exact("I wrote")
    assert (engine_program.work_dir / "a.txt").read_text() == "one\n"
    second.send("/detach\r")
    second.expect_exact(LEFT)
    second.expect_exact(f"kimi-tui attach {listed[0]['id'][:8]}")
    stopped = engine_program.run("ps", "--stop", listed[0]["id"])
    assert stopped.stdout.startswith("Stopped: ")
    assert engine_program.run("ps").stdout == "No sessions are open.\n"


def test_a_resident_session_is_used_line_by_line_and_left(
    engine_program: Program, terminal: Terminal
) -> None:
    first = terminal.start("--demo", "--resident", "--screen-reader", "write a.txt: one")
    first.expect_exact("Allow WriteFile")
    first.close(force=True)
    second = terminal.start("attach", "--screen-reader")
    second.expect_exact("Answer: ")
    second.send("y\r")
    second.expect_exact("I wrote")
    second.expect_exact("You: ")
    second.send("/ps\r")
    second.expect_exact("write a.txt: one")
    second.expect_exact("Number")
    second.send("\r")
    second.expect_exact("You: ")
    second.send("/detach\r")
    second.expect_exact("Detached. Attach: kimi-tui attach")
    assert [it["state"] for it in json.loads(engine_program.run("ps", "--json").stdout)] == ["done"]


def test_a_session_continues_line_by_line_after_the_engine_was_killed(
    engine_program: Program, terminal: Terminal
) -> None:
    client = terminal.start("--demo", "--resident", "--screen-reader", "write a.txt: one")
    client.expect_exact("Allow WriteFile")
    reply = asyncio.run(send_hello(engine_program.data_dir, Hello(version=__version__, request="list")))
    os.kill(reply.pid, signal.SIGKILL)
    client.expect_exact("has ended unexpectedly")
    client.expect_exact("The request was closed")
    client.send("\r")
    client.expect_exact("You: ")
    client.send("hello\r")
    client.expect_exact("You: ")
    listed = json.loads(engine_program.run("ps", "--json").stdout)
    assert [(it["state"], it["clients"]) for it in listed] == [("done", 1)]
    client.send("/detach\r")
    client.expect_exact("Detached.")


def test_a_session_of_another_process_is_listed_without_an_engine(
    program: Program, terminal: Terminal
) -> None:
    app = terminal.start("--demo", "--no-resident", "hello")
    app.expect_exact("hello")
    deadline = time.monotonic() + 20
    while not (listed := json.loads(program.run("ps", "--json").stdout)):
        assert time.monotonic() < deadline
    assert (listed[0]["state"], listed[0]["is_resident"]) == ("open", False)
    assert listed[0]["work_dir"] == str(program.work_dir)
    app.send("/exit\r")
    app.expect_exact(LEFT)
    assert json.loads(program.run("ps", "--json").stdout) == []


def test_attaching_without_an_engine_names_the_alternatives(program: Program, terminal: Terminal) -> None:
    child = terminal.start("attach")
    child.expect_exact("The resident engine isn't running.")
    child.expect_exact("kimi-tui --resident")


def test_one_engine_serves_a_data_directory(engine_program: Program) -> None:
    running = engine_program.start("serve")
    assert running.stdout is not None
    assert b"attach" in running.stdout.readline()
    second = engine_program.run("serve")
    assert second.exit_code != 0
    assert "already running" in second.stderr
    assert engine_program.run("serve", "--stop").stdout == "The resident engine has stopped.\n"
    running.communicate()
    assert running.returncode == 0


def test_a_session_is_chosen_by_id_or_directory() -> None:
    one, two, here = hosted("aa1"), hosted("ab2"), hosted("b3", "/here")
    assert choose_session((one, two), "ab", Path("/here")) is two
    assert choose_session((one, here), None, Path("/here")) is here
    assert choose_session((one,), None, Path("/here")) is one


@pytest.mark.parametrize(
    ("sessions", "prefix", "problem"),
    [
        ((), None, "No sessions"),
        ((hosted("aa1"), hosted("ab2")), None, "Several sessions are running"),
        ((hosted("aa1"), hosted("ab2")), "a", "Several sessions begin"),
        ((hosted("aa1"),), "b", "isn't running"),
    ],
)
def test_an_ambiguous_or_unknown_session_is_an_error(
    sessions: tuple[RunningSession, ...], prefix: str | None, problem: str
) -> None:
    with pytest.raises(UsageError, match=problem):
        choose_session(sessions, prefix, Path("/here"))
