"""Tests of the real program with an editor in another process."""

import array
import asyncio
import fcntl
import json
import subprocess
import termios
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest
from acp.client import ClientSideConnection
from acp.schema import McpServerStdio

from kimi_tui.base.interrupt import ProcessInterrupt
from tests.acp.fake_editor import EditorHarness, FakeEditor, OutputRecorder
from tests.e2e.processes import is_alive
from tests.e2e.program import KIMI_TUI, Program, script, tool_call
from tests.timeouts import TEST_TIMEOUT_S

PIPE_BYTES = 65_536


def count_unread(descriptor: int) -> int:
    """Return how many bytes a pipe holds."""
    buffer = array.array("i", [0])
    fcntl.ioctl(descriptor, termios.FIONREAD, buffer)
    return buffer[0]


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)


@asynccontextmanager
async def start_program(
    program: Program, *arguments: str, editor: Any = None
) -> AsyncIterator[tuple[EditorHarness, asyncio.subprocess.Process]]:
    """Start the program with an editor connected to its pipes. Kill it at the end if it is still running."""
    process = await asyncio.create_subprocess_exec(
        KIMI_TUI, *arguments,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        cwd=program.work_dir, env=program.environment(), limit=1 << 27,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    editor = editor or FakeEditor()
    recorder = OutputRecorder(process.stdout, editor)
    recorder_task = asyncio.ensure_future(recorder.run())
    editor.connection = ClientSideConnection(
        cast("Any", editor), process.stdin, recorder.reader, use_unstable_protocol=True
    )
    try:
        yield EditorHarness(editor, recorder, process.stdin, ProcessInterrupt()), process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
        await recorder_task
        await editor.disconnect()


async def wait_until_gone(pid: int) -> None:
    async with asyncio.timeout(TEST_TIMEOUT_S):
        while is_alive(pid):
            await asyncio.sleep(0.02)


async def test_two_sessions_run_side_by_side_and_survive_invalid_input(program: Program) -> None:
    big = "y" * 1_000_000
    program.script(
        script("text: I run", tool_call("b1", "Bash", command="echo $$ > pid; echo begun; sleep 60")),
        f"text: {big}",
    )
    config = program.data_dir / "config.toml"
    config.write_text(config.read_text().replace("100000", "2000000"))
    other = program.home / "other"
    other.mkdir()
    async with start_program(program, "acp") as (harness, process):
        editor = harness.editor
        initialized = await editor.initialize()
        assert initialized.auth_methods == []
        broken = McpServerStdio(name="broken", command="/no/such/program", args=[], env=[])
        first = await editor.new(program.work_dir)
        second = await editor.new(other, mcp_servers=[broken])

        turns = {name: editor.start_prompt(name, "run it") for name in (first, second)}
        for _ in turns:
            prompt = await editor.next_permission_prompt()
            prompt.choose("allow_once" if prompt.session_id == first else "reject_once")
        assert (await turns[second]).stop_reason == "end_turn"
        assert editor.call(second).status == "failed"
        assert not (other / "pid").exists()

        await editor.wait_for(lambda: "begun" in str(editor.updates_of(first, "tool_call_update")))
        await harness.send_raw(b'[]\nnull\n"x"\n{"method": \n')
        await editor.connection.cancel(first)
        assert (await turns[first]).stop_reason == "cancelled"
        await wait_until_gone(int((program.work_dir / "pid").read_text()))

        await editor.wait_for(lambda: "broken" in editor.text_of(second))

        assert (await editor.prompt(first, big)).stop_reason == "end_turn"
        assert editor.text_of(first) == f"I run{big}"
        assert [error["code"] for error in harness.recorder.errors()] == [-32600, -32600, -32600, -32700]

        harness.writer.close()
        async with asyncio.timeout(TEST_TIMEOUT_S):
            assert await process.wait() == 0
        assert process.stderr is not None
        assert await process.stderr.read() == b""


async def test_the_agent_and_its_commands_end_when_the_editor_exits(program: Program) -> None:
    program.script(script(tool_call("b1", "Bash", command="echo $$ > pid; echo begun; sleep 60")))
    process = program.start("--mode", "acp", "--yolo", stdin=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None

    def call(number: int, method: str, **params: Any) -> None:
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        process.stdin.write(json.dumps(message).encode() + b"\n")  # type: ignore[union-attr]
        process.stdin.flush()  # type: ignore[union-attr]

    call(1, "session/new", cwd=str(program.work_dir), mcpServers=[])
    session = next(it for it in map(json.loads, process.stdout) if it.get("id") == 1)["result"]["sessionId"]
    call(2, "session/prompt", sessionId=session, prompt=[{"type": "text", "text": "run it"}])
    assert any(b"begun\\n" in line for line in process.stdout)
    process.stdin.close()
    process.stdout.close()

    assert await asyncio.to_thread(process.wait, TEST_TIMEOUT_S) in (0, 141)
    await wait_until_gone(int((program.work_dir / "pid").read_text()))
    assert process.stderr.read() == b""
    process.stderr.close()


async def test_without_a_model_a_session_requires_authentication(program: Program) -> None:
    async with start_program(program, "acp") as (harness, process):
        initialized = await harness.editor.initialize()
        assert initialized.auth_methods
        with pytest.raises(Exception, match="No model is configured") as raised:
            await harness.editor.new(program.work_dir)
        assert getattr(raised.value, "code", None) == -32000
        program.script("text: hello")
        await harness.editor.connection.authenticate("config")
        session = await harness.editor.new(program.work_dir)
        await harness.editor.prompt(session, "hi")
        assert harness.editor.text_of(session) == "hello"
        process.terminate()
        async with asyncio.timeout(TEST_TIMEOUT_S):
            assert await process.wait() == 143


@pytest.mark.parametrize("ending", ["signal", "end of input"])
async def test_the_agent_ends_even_if_the_editor_no_longer_reads(program: Program, ending: str) -> None:
    """More is pending than the pipe and the agent's buffer hold, so writers are waiting."""
    program.script(script(*[f"text: {'y' * 1_000_000}"] * 4))
    process = program.start("acp", "--yolo", stdin=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None

    def call(number: int, method: str, **params: Any) -> None:
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        process.stdin.write(json.dumps(message).encode() + b"\n")  # type: ignore[union-attr]
        process.stdin.flush()  # type: ignore[union-attr]

    call(1, "session/new", cwd=str(program.work_dir), mcpServers=[])
    session = next(it for it in map(json.loads, process.stdout) if it.get("id") == 1)["result"]["sessionId"]
    call(2, "session/prompt", sessionId=session, prompt=[{"type": "text", "text": "write"}])
    async with asyncio.timeout(TEST_TIMEOUT_S):
        while count_unread(process.stdout.fileno()) < PIPE_BYTES // 2:
            await asyncio.sleep(0.02)
    if ending == "signal":
        process.terminate()
    else:
        process.stdin.close()

    expected = 143 if ending == "signal" else 0
    assert await asyncio.to_thread(process.wait, TEST_TIMEOUT_S) == expected
    for stream in (process.stdin, process.stdout, process.stderr):
        stream.close()
