"""Tests of file access through the editor and of commands in its terminals."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

from acp import RequestError
from acp.schema import (
    CreateTerminalResponse,
    KillTerminalResponse,
    ReadTextFileResponse,
    ReleaseTerminalResponse,
    TerminalOutputResponse,
    WaitForTerminalExitResponse,
    WriteTextFileResponse,
)

from tests.acp.fake_editor import EditorHarness, FakeEditor, connect_editor
from tests.engine.fake_front_end import SessionEnv, bash, call, script

FILES = {"read_text_file": True, "write_text_file": True}
READ = call("r1", "ReadFile", path="a.py")
EDIT = call("e1", "EditFile", path="a.py", edit={"old": "two", "new": "2"})


@dataclass(eq=False)
class EditorWithOpenFiles(FakeEditor):
    """An editor with unsaved files."""

    unsaved: dict[str, str] = field(default_factory=dict)
    written: list[tuple[str, str]] = field(default_factory=list)
    saves: bool = True
    reads: int = 0

    async def read_text_file(self, session_id: str, path: str, **_: Any) -> ReadTextFileResponse:
        self.reads += 1
        if path not in self.unsaved:
            raise RequestError.resource_not_found(path)
        return ReadTextFileResponse(content=self.unsaved[path])

    async def write_text_file(self, session_id: str, path: str, content: str, **_: Any) -> Any:
        self.written.append((path, content))
        self.unsaved[path] = content
        if self.saves:
            with open(path, "w", newline="") as file:  # noqa: PTH123
                file.write(content)
        return WriteTextFileResponse()


async def model_input(harness: EditorHarness, home: SessionEnv) -> str:
    session = await harness.editor.new(home.work_dir)
    await harness.editor.prompt(session, "go")
    return home.journal


async def test_unsaved_text_is_read_from_the_editor(home: SessionEnv) -> None:
    home.file("a.py").write_text("one\n")
    home.script(READ, "text: done")
    async with connect_editor(home, editor=EditorWithOpenFiles()) as harness:
        await harness.editor.initialize(fs=FILES)
        harness.editor.unsaved[str(home.file("a.py"))] = "one\ntwo\n"
        assert "two" in await model_input(harness, home)


async def test_an_edit_goes_to_the_editor_and_keeps_unsaved_text(home: SessionEnv) -> None:
    home.file("a.py").write_bytes(b"one\r\n")
    home.script(EDIT, "text: done")
    async with connect_editor(home, editor=EditorWithOpenFiles(), yolo=True) as harness:
        await harness.editor.initialize(fs=FILES)
        harness.editor.unsaved[str(home.file("a.py"))] = "one\ntwo\n"
        assert "Edited a.py" in await model_input(harness, home)
        assert harness.editor.written == [(str(home.file("a.py")), "one\r\n2\r\n")]
    assert home.file("a.py").read_bytes() == b"one\r\n2\r\n"


async def test_a_file_unknown_to_the_editor_is_read_and_written_on_disk(home: SessionEnv) -> None:
    home.file("a.py").write_text("two\n")
    home.script(script(EDIT), "text: done")
    async with connect_editor(home, editor=EditorWithOpenFiles(), yolo=True) as harness:
        await harness.editor.initialize(fs={"read_text_file": True, "write_text_file": False})
        await model_input(harness, home)
        assert harness.editor.reads
        assert harness.editor.written == []
    assert home.file("a.py").read_text() == "2\n"


async def test_unsaved_text_is_not_overwritten_if_the_editor_cannot_write(
    home: SessionEnv,
) -> None:
    home.file("a.py").write_text("one\n")
    home.script(script(EDIT), "text: done")
    async with connect_editor(home, editor=EditorWithOpenFiles(), yolo=True) as harness:
        await harness.editor.initialize(fs={"read_text_file": True})
        harness.editor.unsaved[str(home.file("a.py"))] = "one\ntwo\n"
        assert "unsaved changes in the user's editor; nothing was written" in await model_input(harness, home)
    assert home.file("a.py").read_text() == "one\n"


async def test_the_model_is_notified_if_the_editor_does_not_save(home: SessionEnv) -> None:
    home.file("a.py").write_text("two\n")
    home.script(script(EDIT), "text: done")
    async with connect_editor(home, editor=EditorWithOpenFiles(saves=False), yolo=True) as harness:
        await harness.editor.initialize(fs=FILES)
        assert "has not saved it" in await model_input(harness, home)


async def test_a_client_without_file_access_gets_no_file_requests(home: SessionEnv) -> None:
    home.file("a.py").write_text("two\n")
    home.script(READ, EDIT, "text: done")
    async with connect_editor(home, editor=EditorWithOpenFiles(), yolo=True) as harness:
        await model_input(harness, home)
        assert (harness.editor.reads, harness.editor.written) == (0, [])
    assert home.file("a.py").read_text() == "2\n"


@dataclass(eq=False)
class EditorWithTerminals(FakeEditor):
    """An editor that runs programs but has no shell of its own."""

    created: list[dict[str, Any]] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    process: asyncio.subprocess.Process | None = None
    output: bytes = b""
    refuses: bool = False

    async def create_terminal(self, session_id: str, **request: Any) -> CreateTerminalResponse:
        if self.refuses:
            raise RequestError.internal_error()
        self.created.append(request)
        self.process = await asyncio.create_subprocess_exec(
            request["command"], *request["args"], cwd=request["cwd"], stdout=asyncio.subprocess.PIPE
        )
        self.update_event.set()
        return CreateTerminalResponse(terminal_id="t1")

    async def wait_for_terminal_exit(self, **_: Any) -> WaitForTerminalExitResponse:
        assert self.process is not None
        assert self.process.stdout is not None
        self.output += await self.process.stdout.read()
        code = await self.process.wait()
        self.steps.append("waited")
        if code < 0:
            return WaitForTerminalExitResponse(signal="SIGKILL")
        return WaitForTerminalExitResponse(exit_code=code)

    async def terminal_output(self, **_: Any) -> TerminalOutputResponse:
        self.steps.append("output")
        return TerminalOutputResponse(output=self.output.decode(), truncated=False)

    async def kill_terminal(self, **_: Any) -> KillTerminalResponse:
        assert self.process is not None
        self.process.kill()
        self.steps.append("killed")
        return KillTerminalResponse()

    async def release_terminal(self, **_: Any) -> ReleaseTerminalResponse:
        self.steps.append("released")
        return ReleaseTerminalResponse()


async def test_a_command_runs_in_a_terminal_of_the_editor(home: SessionEnv) -> None:
    home.script(bash("b1", "echo hello; exit 3"), "text: done")
    async with connect_editor(home, editor=EditorWithTerminals(), yolo=True) as harness:
        editor = harness.editor
        await editor.initialize(terminal=True)
        session = await editor.new(home.work_dir)
        await editor.prompt(session, "run")
        [created] = editor.created
        assert created["args"] == ["-c", "echo hello; exit 3"]
        assert created["cwd"] == str(home.work_dir)
        assert {it.name: it.value for it in created["env"]}["PAGER"] == "cat"
        call_ = editor.call(session)
        assert [(content.type, content.terminal_id) for content in call_.content or []] == [
            ("terminal", "t1")
        ]
        assert call_.status == "failed"
        assert editor.steps == ["waited", "output", "released"]
    assert "hello" in home.journal
    assert "exit code 3" in home.journal


async def test_a_command_in_a_terminal_is_killed_when_the_turn_is_cancelled(home: SessionEnv) -> None:
    home.script(bash("b1", "sleep 60"))
    async with connect_editor(home, editor=EditorWithTerminals(), yolo=True) as harness:
        editor = harness.editor
        await editor.initialize(terminal=True)
        session = await editor.new(home.work_dir)
        turn = editor.start_prompt(session, "run")
        process = await editor.wait_for(lambda: editor.process)
        await editor.connection.cancel(session)
        assert (await turn).stop_reason == "cancelled"
        await process.wait()
        assert editor.steps[0] == "killed"
        assert "released" in editor.steps


async def test_a_command_in_a_terminal_is_killed_after_its_timeout(home: SessionEnv) -> None:
    home.script(call("b1", "Bash", command="sleep 60", timeout=1), "text: done")
    async with connect_editor(home, editor=EditorWithTerminals(), yolo=True) as harness:
        await harness.editor.initialize(terminal=True)
        await model_input(harness, home)
        assert harness.editor.steps[0] == "killed"
    assert "stopped after 1 s" in home.journal


async def test_a_command_runs_locally_if_the_client_cannot_create_a_terminal(home: SessionEnv) -> None:
    home.script(bash("b1", "echo hello"), "text: done")
    async with connect_editor(home, editor=EditorWithTerminals(refuses=True), yolo=True) as harness:
        await harness.editor.initialize(terminal=True)
        assert "hello" in await model_input(harness, home)


async def test_a_sandboxed_command_does_not_run_in_a_terminal_of_the_editor(home: SessionEnv) -> None:
    home.script(bash("b1", "touch created"), "text: done")
    settings = home.settings(sandbox={"enabled": True})
    async with connect_editor(home, editor=EditorWithTerminals(), yolo=True, settings=settings) as harness:
        editor = harness.editor
        await editor.initialize(terminal=True)
        await model_input(harness, home)
        assert editor.created == []
