"""The real program and an editor in another process than it."""

import asyncio
import json
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest
from acp.client import ClientSideConnection
from acp.schema import McpServerStdio

from kimi_tui.base.interruption import Interruption
from tests.acp.editor import Desk, Editor, Wiretap
from tests.e2e.processes import is_alive
from tests.e2e.program import KIMI_TUI, Program, script, tool_call
from tests.patience import PATIENCE_S


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)


@asynccontextmanager
async def started(
    program: Program, *arguments: str
) -> AsyncIterator[tuple[Desk, asyncio.subprocess.Process]]:
    """The program with an editor at the other end of its pipes; what is left of it is killed."""
    process = await asyncio.create_subprocess_exec(
        KIMI_TUI, *arguments,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        cwd=program.work_dir, env=program.environment(), limit=1 << 27,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    editor = Editor()
    tap = Wiretap(process.stdout, editor)
    tapping = asyncio.ensure_future(tap.run())
    editor.connection = ClientSideConnection(
        cast("Any", editor), process.stdin, tap.reader, use_unstable_protocol=True
    )
    try:
        yield Desk(editor, tap, process.stdin, Interruption()), process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
        await tapping
        await editor.connection.close()


async def until_gone(pid: int) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while is_alive(pid):
            await asyncio.sleep(0.02)


async def test_a_conversation_with_everything_in_it(program: Program) -> None:
    big = "y" * 1_000_000
    program.script(
        script("text: I run", tool_call("b1", "Bash", command="echo $$ > pid; echo begun; sleep 60")),
        f"text: {big}",
    )
    config = program.share_dir / "config.toml"
    config.write_text(config.read_text().replace("100000", "2000000"))
    other = program.home / "other"
    other.mkdir()
    async with started(program, "acp") as (desk, process):
        editor = desk.editor
        told = await editor.initialize()
        assert told.auth_methods == []
        broken = McpServerStdio(name="broken", command="/no/such/program", args=[], env=[])
        first = await editor.new(program.work_dir)
        second = await editor.new(other, mcp_servers=[broken])

        turns = {name: editor.begin(name, "run it") for name in (first, second)}
        for _ in turns:
            asked = await editor.permission()
            asked.choose("allow_once" if asked.session_id == first else "reject_once")
        assert (await turns[second]).stop_reason == "end_turn"
        assert editor.call(second).status == "failed"
        assert not (other / "pid").exists()

        await editor.until(lambda: "begun" in str(editor.of(first, "tool_call_update")))
        await desk.raw(b'[]\nnull\n"x"\n{"method": \n')
        await editor.connection.cancel(first)
        assert (await turns[first]).stop_reason == "cancelled"
        await until_gone(int((program.work_dir / "pid").read_text()))

        await editor.until(lambda: "broken" in editor.said(second))

        assert (await editor.prompt(first, big)).stop_reason == "end_turn"
        assert editor.said(first) == f"I run{big}"
        assert [error["code"] for error in desk.tap.errors()] == [-32600, -32600, -32600, -32700]

        desk.writer.close()
        async with asyncio.timeout(PATIENCE_S):
            assert await process.wait() == 0
        assert process.stderr is not None
        assert await process.stderr.read() == b""


async def test_an_editor_that_dies_takes_the_agent_and_its_commands_along(program: Program) -> None:
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

    assert await asyncio.to_thread(process.wait, PATIENCE_S) in (0, 141)
    await until_gone(int((program.work_dir / "pid").read_text()))
    assert process.stderr.read() == b""
    process.stderr.close()


async def test_without_a_model_a_session_asks_to_log_in(program: Program) -> None:
    async with started(program, "acp") as (desk, process):
        told = await desk.editor.initialize()
        assert told.auth_methods
        with pytest.raises(Exception, match="No model is configured") as raised:
            await desk.editor.new(program.work_dir)
        assert getattr(raised.value, "code", None) == -32000
        program.script("text: hello")
        await desk.editor.connection.authenticate("config")
        session = await desk.editor.new(program.work_dir)
        await desk.editor.prompt(session, "hi")
        assert desk.editor.said(session) == "hello"
        process.terminate()
        async with asyncio.timeout(PATIENCE_S):
            assert await process.wait() == 143
