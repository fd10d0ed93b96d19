"""Files that the client has open, and commands in its terminals."""

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

from tests.acp.editor import Desk, Editor, at_desk
from tests.engine.front import Home, bash, call, script

FILES = {"read_text_file": True, "write_text_file": True}
READ = call("r1", "ReadFile", path="a.py")
EDIT = call("e1", "EditFile", path="a.py", edit={"old": "two", "new": "2"})


@dataclass(eq=False)
class OpenFiles(Editor):
    """An editor with unsaved files."""

    unsaved: dict[str, str] = field(default_factory=dict)
    written: list[tuple[str, str]] = field(default_factory=list)
    saves: bool = True
    reads: int = 0
    ends_lines_with: str = "\n"

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


async def told_to_model(desk: Desk, home: Home) -> str:
    session = await desk.editor.new(home.work_dir)
    await desk.editor.prompt(session, "go")
    return home.journal


async def test_what_is_not_saved_yet_is_read_from_the_editor(home: Home) -> None:
    home.file("a.py").write_text("one\n")
    home.script(READ, "text: done")
    async with at_desk(home, editor=OpenFiles()) as desk:
        await desk.editor.initialize(fs=FILES)
        desk.editor.unsaved[str(home.file("a.py"))] = "one\ntwo\n"
        assert "two" in await told_to_model(desk, home)


async def test_an_edit_goes_to_the_editor_and_keeps_what_was_not_saved(home: Home) -> None:
    home.file("a.py").write_bytes(b"one\r\n")
    home.script(EDIT, "text: done")
    async with at_desk(home, editor=OpenFiles(), yolo=True) as desk:
        await desk.editor.initialize(fs=FILES)
        desk.editor.unsaved[str(home.file("a.py"))] = "one\ntwo\n"
        assert "Edited a.py" in await told_to_model(desk, home)
        assert desk.editor.written == [(str(home.file("a.py")), "one\r\n2\r\n")]
    assert home.file("a.py").read_bytes() == b"one\r\n2\r\n"


async def test_an_editor_that_knows_nothing_of_a_file_leaves_it_to_us(home: Home) -> None:
    home.file("a.py").write_text("two\n")
    home.script(script(EDIT), "text: done")
    async with at_desk(home, editor=OpenFiles(), yolo=True) as desk:
        await desk.editor.initialize(fs={"read_text_file": True, "write_text_file": False})
        await told_to_model(desk, home)
        assert desk.editor.reads
        assert desk.editor.written == []
    assert home.file("a.py").read_text() == "2\n"


async def test_what_is_not_saved_is_not_overwritten_behind_an_editor_that_only_reads(home: Home) -> None:
    home.file("a.py").write_text("one\n")
    home.script(script(EDIT), "text: done")
    async with at_desk(home, editor=OpenFiles(), yolo=True) as desk:
        await desk.editor.initialize(fs={"read_text_file": True})
        desk.editor.unsaved[str(home.file("a.py"))] = "one\ntwo\n"
        assert "that are not saved; nothing was written" in await told_to_model(desk, home)
    assert home.file("a.py").read_text() == "one\n"


async def test_an_editor_that_does_not_save_is_told_of(home: Home) -> None:
    home.file("a.py").write_text("two\n")
    home.script(script(EDIT), "text: done")
    async with at_desk(home, editor=OpenFiles(saves=False), yolo=True) as desk:
        await desk.editor.initialize(fs=FILES)
        assert "has not saved it" in await told_to_model(desk, home)


async def test_a_client_that_offers_no_files_is_asked_for_none(home: Home) -> None:
    home.file("a.py").write_text("two\n")
    home.script(READ, EDIT, "text: done")
    async with at_desk(home, editor=OpenFiles(), yolo=True) as desk:
        await told_to_model(desk, home)
        assert (desk.editor.reads, desk.editor.written) == (0, [])
    assert home.file("a.py").read_text() == "2\n"


@dataclass(eq=False)
class WithTerminals(Editor):
    """An editor that runs programs, without a shell of its own."""

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
        self.arrived.set()
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


async def test_a_command_runs_in_a_terminal_of_the_editors(home: Home) -> None:
    home.script(bash("b1", "echo hello; exit 3"), "text: done")
    async with at_desk(home, editor=WithTerminals(), yolo=True) as desk:
        editor = desk.editor
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


async def test_a_command_in_a_terminal_is_killed_when_the_turn_is_cancelled(home: Home) -> None:
    home.script(bash("b1", "sleep 60"))
    async with at_desk(home, editor=WithTerminals(), yolo=True) as desk:
        editor = desk.editor
        await editor.initialize(terminal=True)
        session = await editor.new(home.work_dir)
        turn = editor.begin(session, "run")
        process = await editor.until(lambda: editor.process)
        await editor.connection.cancel(session)
        assert (await turn).stop_reason == "cancelled"
        await process.wait()
        assert editor.steps[0] == "killed"
        assert "released" in editor.steps


async def test_a_command_in_a_terminal_is_killed_when_its_time_is_over(home: Home) -> None:
    home.script(call("b1", "Bash", command="sleep 60", timeout=1), "text: done")
    async with at_desk(home, editor=WithTerminals(), yolo=True) as desk:
        await desk.editor.initialize(terminal=True)
        await told_to_model(desk, home)
        assert desk.editor.steps[0] == "killed"
    assert "stopped after 1 s" in home.journal


async def test_a_client_that_refuses_a_terminal_leaves_the_command_to_us(home: Home) -> None:
    home.script(bash("b1", "echo hello"), "text: done")
    async with at_desk(home, editor=WithTerminals(refuses=True), yolo=True) as desk:
        await desk.editor.initialize(terminal=True)
        assert "hello" in await told_to_model(desk, home)


async def test_a_command_in_the_sandbox_is_not_lent_to_a_terminal_of_the_editors(home: Home) -> None:
    home.script(bash("b1", "touch created"), "text: done")
    settings = home.settings(sandbox={"enabled": True})
    async with at_desk(home, editor=WithTerminals(), yolo=True, settings=settings) as desk:
        editor = desk.editor
        await editor.initialize(terminal=True)
        await told_to_model(desk, home)
        assert editor.created == []
