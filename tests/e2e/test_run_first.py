"""Commands that run first, in every entry point of the real program: the questions, and what answers do."""

import socket
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from kimi_tui.workspaces.workspaces import Workspaces
from tests.acp.test_program import start_program
from tests.e2e.program import KIMI_TUI, FinishedRun, Program, script, tool_call
from tests.e2e.run_first_clients import (
    FEEDBACK,
    AppClient,
    EditorClient,
    LinearClient,
    RunFirstClient,
    WireClient,
    configure,
    wait_until_exists,
)
from tests.e2e.screen import Screen
from tests.timeouts import TEST_TIMEOUT_S
from tests.wireserver.client import WireTestClient

CONNECT = """import pathlib, socket
pathlib.Path("log").open("a").write("run\\n")
socket.create_connection(("127.0.0.1", int(pathlib.Path("port").read_text())), 5)
"""


@pytest.fixture(autouse=True)
async def _needs_bounds(tmp_path: Path) -> None:
    workspaces = Workspaces(tmp_path / "probe")
    problem = await workspaces.find_bounds_problem()
    await workspaces.close()
    if problem:
        pytest.skip(f"no bounded workspaces: {problem}")


@pytest.fixture
def server() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening


@asynccontextmanager
async def connect(program: Program, entry_point: str) -> AsyncIterator[RunFirstClient]:
    """Start the program as one of the entry points in which a user can answer."""
    match entry_point:
        case "acp":
            async with start_program(program, "acp") as (harness, _):
                session_id = await harness.editor.new(program.work_dir)
                yield EditorClient(harness.editor, session_id)
        case "wire":
            client = WireTestClient(program)
            try:
                yield WireClient(client)
            finally:
                client.close()
        case _:
            screen = Screen(program, *(["--screen-reader"] if entry_point == "linear" else []))
            try:
                yield LinearClient(screen) if entry_point == "linear" else AppClient(screen)
            finally:
                screen.close()


def command(number: int, text: str) -> str:
    return script(tool_call(f"c{number}", "Bash", command=text))


def file(program: Program, name: str) -> Path:
    return program.work_dir / name


@pytest.mark.parametrize("entry_point", ["app", "linear", "acp", "wire"])
async def test_answers_keep_or_discard_what_a_command_did(
    program: Program, server: socket.socket, entry_point: str
) -> None:
    file(program, "listed").write_text("before\n")
    file(program, "mine").write_text("mine\n")
    file(program, "port").write_text(str(server.getsockname()[1]))
    file(program, "connect.py").write_text(CONNECT)
    configure(
        program,
        [
            command(1, "cat listed; true"), command(2, "echo agent > kept"), "text: end-1",
            command(3, "echo agent > listed; echo agent > other"), "text: end-2",
            command(4, "python3 connect.py"), "text: end-3",
            command(5, "echo run >> real"), "text: end-4",
            command(6, "echo agent > refused"),
        ],
    )  # fmt: skip
    async with connect(program, entry_point) as user:
        await user.start_turn()
        shown = await user.question("kept")
        assert "echo agent" in shown, "the command is part of the question"
        assert "cat listed" not in shown, "a command without effects needs no question"
        assert not file(program, "kept").exists()
        await user.answer("yes")
        await user.end_of_turn("end-1")
        assert file(program, "kept").read_text() == "agent\n"

        await user.start_turn()
        await user.question("other")
        file(program, "listed").write_text("edited\n")
        await user.answer("yes")
        await user.question("changed since" if entry_point == "wire" else "your version is kept")
        assert file(program, "listed").read_text() == "edited\n"
        assert not file(program, "other").exists()
        await user.answer("yes")
        await user.end_of_turn("end-2")
        assert file(program, "listed").read_text() == "edited\n"
        assert file(program, "other").read_text() == "agent\n"

        await user.start_turn()
        await user.question("it tried to reach the network")
        assert not file(program, "log").exists()
        await user.answer("yes")
        await user.end_of_turn("end-3")
        assert file(program, "log").read_text() == "run\n"

        await user.start_turn()
        await user.question("real")
        await user.answer("direct")
        await user.end_of_turn("end-4")
        assert file(program, "real").read_text() == "run\n"

        await user.start_turn()
        await user.question("refused")
        await user.answer("no")
        await user.end_of_turn()
    assert not file(program, "refused").exists()


@pytest.mark.parametrize("entry_point", ["app", "linear", "acp", "wire"])
async def test_interrupting_and_refusing_leave_nothing_behind(program: Program, entry_point: str) -> None:
    file(program, "mine").write_text("mine\n")
    cache = program.home / "cache"
    cache.mkdir()
    file(program, "start.sh").write_text(f"touch {cache}/started; sleep 600")
    configure(
        program,
        [
            command(1, "echo agent > running; sh start.sh"),
            command(2, "echo agent > asked"),
            command(3, "echo agent > a"), "text: end-5",
            command(4, "echo agent > new; echo agent >> mine"), command(5, "rm mine"), "text: end-6",
        ],
        more=f'\n[sandbox]\nwrite = ["{cache}"]\n',
    )  # fmt: skip
    async with connect(program, entry_point) as user:
        await user.start_turn()
        await wait_until_exists(cache / "started")
        await user.interrupt()
        await user.end_of_turn()
        assert not file(program, "running").exists()

        await user.start_turn()
        await user.question("asked")
        await user.interrupt()
        await user.end_of_turn()
        assert not file(program, "asked").exists()

        await user.start_turn()
        await user.question("echo agent > a")
        await user.answer("feedback" if user.gives_feedback else "no")
        await user.end_of_turn()
        assert not file(program, "a").exists()
        if user.gives_feedback:
            assert FEEDBACK in program.context_files[-1].read_text()

        if user.has_modes and user.gives_feedback:
            await user.accept_edits()
            await user.start_turn()
            await user.question("rm mine")
            assert file(program, "mine").read_text() == "mine\nagent\n", "accepted without a question"
            assert file(program, "new").exists()
            await user.answer("no")
            await user.end_of_turn()
            assert file(program, "mine").exists()


def run_print(program: Program, *arguments: str) -> FinishedRun:
    return program.run("-p", "go", *arguments)


def test_print_mode_keeps_only_changes_that_rules_allow(program: Program, server: socket.socket) -> None:
    file(program, "listed").write_text("before\n")
    file(program, "port").write_text(str(server.getsockname()[1]))
    file(program, "connect.py").write_text(CONNECT)
    scripts = [
        command(1, "cat listed"), command(2, "echo agent > allowed"), command(3, "echo agent > other"),
        command(4, "python3 connect.py"), "text: done",
    ]  # fmt: skip
    configure(program, scripts)
    run = run_print(program, "--allow", "Edit(allowed)")
    assert run.exit_code == 4
    assert file(program, "allowed").read_text() == "agent\n"
    assert not file(program, "other").exists()
    assert not file(program, "log").exists()
    assert "other" in run.stderr
    configure(program, scripts[:2] + scripts[-1:])
    assert run_print(program, "--allow", "Edit(allowed)").exit_code == 0


def test_yolo_in_print_mode_runs_commands_for_real(program: Program, server: socket.socket) -> None:
    file(program, "port").write_text(str(server.getsockname()[1]))
    file(program, "connect.py").write_text(CONNECT)
    configure(program, [command(1, "python3 connect.py"), "text: done"])
    assert run_print(program, "--yolo").exit_code == 0
    assert file(program, "log").read_text() == "run\n"


NO_NAMESPACES = (
    "echo 0 > /proc/sys/user/max_user_namespaces; echo 0 > /proc/sys/user/max_mnt_namespaces; "
    'exec "$0" -p go --allow "Bash(touch allowed)"'
)


def test_without_namespaces_commands_need_approval_first_and_one_notice_explains_why(
    program: Program,
) -> None:
    configure(
        program,
        [
            command(1, "echo agent > a"), command(2, "echo agent > b"), command(3, "touch allowed"),
            command(4, "cat mine"), "text: done",
        ],
    )  # fmt: skip
    file(program, "mine").write_text("mine\n")
    run = subprocess.run(
        ["unshare", "-Ur", "sh", "-c", NO_NAMESPACES, KIMI_TUI],
        cwd=program.work_dir,
        env=program.environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=TEST_TIMEOUT_S,
    )
    if "unshare:" in run.stderr:
        pytest.skip(f"user namespaces can't be limited: {run.stderr}")
    assert run.returncode == 4, run.stderr
    assert run.stderr.count("They can't run in a workspace first") == 1
    assert not file(program, "a").exists()
    assert not file(program, "b").exists()
    assert file(program, "allowed").exists()


async def test_on_other_systems_commands_need_approval_first(tmp_path: Path) -> None:
    workspaces = Workspaces(tmp_path / "data", platform="darwin")
    assert await workspaces.find_bounds_problem() == "workspaces require Linux"
    await workspaces.close()


async def test_a_kill_during_the_question_discards_the_changes_and_the_next_start_says_so(
    program: Program,
) -> None:
    configure(program, [command(1, "echo agent > unanswered"), "text: done"])
    client = WireTestClient(program)
    try:
        user = WireClient(client)
        await user.start_turn()
        await user.question("unanswered")
        client.process.kill()
        client.wait_for_exit()
    finally:
        client.close()
    assert not file(program, "unanswered").exists()
    configure(program, ["text: done"])
    run = run_print(program, "--continue")
    assert "killed before you allowed the changes of a command" in run.stderr
    assert "echo agent > unanswered" in run.stderr
    assert not file(program, "unanswered").exists()
    assert "killed" not in run_print(program, "--continue").stderr
