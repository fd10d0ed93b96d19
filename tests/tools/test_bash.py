"""The Bash tool: approval, execution and results."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pydantic import ValidationError

from kimi_tui.base.child_environment import ChildEnvironment, FilteredEnvironment
from kimi_tui.base.content_parts import text_of
from kimi_tui.permission.subject import CommandSubject, Subject
from kimi_tui.tools.approval import CommandMode, ToolRejected
from kimi_tui.tools.background.tasks import BackgroundTasks
from kimi_tui.tools.file.created_files import CreatedFiles
from kimi_tui.tools.path_scope import PathScope
from kimi_tui.tools.shell.bash import Bash, BashParams
from kimi_tui.tools.shell.captured_output import OutputFolder
from kimi_tui.tools.shell.client_terminals import NO_TERMINALS
from kimi_tui.tools.shell.private_command import PrivateCommands
from kimi_tui.tools.shell.shell import Shell
from kimi_tui.tools.shell.trial_runs import TrialRuns
from kimi_tui.tools.tool import CallContext
from kimi_tui.wire.display_blocks import BriefBlock, DisplayBlock, ShellBlock
from kimi_tui.wire.event_sender import EventList
from kimi_tui.wire.events import ToolReturn
from kimi_tui.wire.requests import Proposal
from kimi_tui.workspaces.sandbox.policy import SandboxPolicy
from kimi_tui.workspaces.workspaces import Workspaces
from tests.base.test_child_environment import UsedKeys
from tests.loop_clock import LoopClock
from tests.timeouts import TEST_TIMEOUT_S
from tests.tools.call_context import CallLog, build_context


class FakeApproval:
    """A user who approves or rejects, and records the requests."""

    def __init__(self, log: CallLog, *, agrees: bool = True) -> None:
        self._log = log
        self._agrees = agrees
        self.requests: list[tuple[str, str, Subject, tuple[DisplayBlock, ...]]] = []
        self.requested_while_exclusive = False
        self.edited_command: str | None = None

    def may_read(self, path: Path, *, within: Path | None = None) -> bool:
        return True

    async def request(
        self,
        call: CallContext,
        *,
        action: str,
        description: str,
        subject: Subject,
        display: tuple[DisplayBlock, ...] = (),
        proposal: Proposal | None = None,
        reason: str = "",
    ) -> str | None:
        self.requests.append((action, description, subject, display))
        self.requested_while_exclusive |= self._log.is_exclusive
        if not self._agrees:
            raise ToolRejected
        return self.edited_command

    def is_allowed(self, subject: Subject) -> bool:
        return False

    def command_mode(self, subject: CommandSubject) -> CommandMode:
        return "ask"


class NoBounds:
    """Bounds that no test needs."""

    def build(self) -> SandboxPolicy:
        raise AssertionError


class BashEnv:
    """A Bash tool with its dependencies."""

    def __init__(
        self, folder: Path, *, agrees: bool = True, environment: ChildEnvironment = ChildEnvironment()
    ) -> None:
        self.work_dir = folder / "work"
        self.work_dir.mkdir()
        self.output_dir = folder / "output"
        self.log = CallLog()
        self.approval = FakeApproval(self.log, agrees=agrees)
        self.shell = Shell(environment=environment, term_grace_s=0.3)
        self.sent = EventList()
        self.tasks = BackgroundTasks(folder / "tasks", sender=self.sent)
        scope, output_folder = PathScope(self.work_dir), OutputFolder(self.output_dir)
        workspaces = Workspaces(folder / "data", choice="none")
        private_commands = PrivateCommands(workspaces, self.shell, scope, output_folder)
        self.bash = Bash(
            scope,
            self.approval,
            self.shell,
            output_folder,
            self.tasks,
            NO_TERMINALS,
            private_commands,
            TrialRuns(workspaces, self.shell, scope, private_commands, NoBounds(), CreatedFiles()),
        )

    async def run(self, command: str, **arguments: object) -> ToolReturn:
        params = BashParams.model_validate({"command": command, **arguments})
        return await self.bash.run(params, build_context(self.log))


@pytest.fixture
async def tool_env(tmp_path: Path) -> AsyncIterator[BashEnv]:
    tool_env = BashEnv(tmp_path)
    yield tool_env
    await tool_env.tasks.close()
    await tool_env.shell.close()


def brief_text(result: ToolReturn) -> str:
    return next(block.text for block in result.display if isinstance(block, BriefBlock))


async def test_a_command_runs_and_its_output_is_returned(tool_env: BashEnv) -> None:
    result = await tool_env.run("echo hello; pwd")
    assert not result.is_error
    assert result.output == f"hello\n{tool_env.work_dir.resolve()}\n"
    assert "Exit code 0" in result.message
    assert brief_text(result) == "2 lines"


async def test_the_user_approves_exactly_the_command_that_runs(tool_env: BashEnv) -> None:
    await tool_env.run("echo 'a  b'", description="greet\nthe world")
    assert tool_env.approval.requests == [
        (
            "run command",
            "greet the world: `echo 'a  b'`",
            CommandSubject.parse("echo 'a  b'"),
            (ShellBlock("echo 'a  b'"),),
        )
    ]
    assert not tool_env.approval.requested_while_exclusive
    assert tool_env.log.exclusive_count == 1


async def test_a_rejected_command_does_not_run(tmp_path: Path) -> None:
    tool_env = BashEnv(tmp_path, agrees=False)
    with pytest.raises(ToolRejected):
        await tool_env.run("touch created")
    assert not list(tool_env.work_dir.iterdir())


@pytest.mark.parametrize(
    "command", ["", "  \n", "echo \x1b[2J", "echo a\rb", "echo a\0b", "echo \u202e", "echo \ud800", "a\u200b"]
)
async def test_commands_with_invisible_characters_are_refused(tool_env: BashEnv, command: str) -> None:
    result = await tool_env.run(command)
    assert result.is_error
    assert tool_env.approval.requests == []


async def test_crlf_line_endings_are_normalized(tool_env: BashEnv) -> None:
    result = await tool_env.run("echo a\r\necho b")
    assert result.output == "a\nb\n"
    assert tool_env.approval.requests[0][2] == CommandSubject.parse("echo a\necho b")


@pytest.mark.parametrize(
    ("command", "ending"),
    [
        ("echo out; exit 3", "exit code 3"),
        ("kill -9 $$", "SIGKILL"),
        ("bash -c 'kill -SEGV $$'; exit $?", "139 (SIGSEGV)"),
    ],
)
async def test_the_result_of_a_failing_command_says_how_it_ended(
    tool_env: BashEnv, command: str, ending: str
) -> None:
    result = await tool_env.run(command)
    assert result.is_error
    assert ending in result.message
    assert ending in brief_text(result)


async def test_a_failing_command_returns_its_output(tool_env: BashEnv) -> None:
    assert (await tool_env.run("echo out; exit 3")).output == "out\n"


async def test_the_result_of_a_command_without_output_says_so(tool_env: BashEnv) -> None:
    result = await tool_env.run("true")
    assert "No output." in result.message
    assert brief_text(result) == "no output"


async def test_on_timeout_the_output_so_far_is_returned_with_a_hint(tool_env: BashEnv) -> None:
    clock = LoopClock()
    running = asyncio.ensure_future(tool_env.run("echo begun; sleep 1234", timeout=200))
    while tool_env.log.output != "begun\n":
        assert not running.done()
        await asyncio.sleep(0.005)
    result = await clock.advance_until(running, 200)
    assert result.is_error
    assert result.output == "begun\n"
    assert "stopped after 200 s" in result.message
    assert "300" in result.message


async def test_output_is_shown_while_the_command_runs(tool_env: BashEnv) -> None:
    running = asyncio.ensure_future(
        tool_env.run("echo first; while [ ! -e go ]; do sleep 0.01; done; echo second")
    )
    while tool_env.log.output != "first\n":
        assert not running.done()
        await asyncio.sleep(0.005)
    (tool_env.work_dir / "go").touch()
    await running
    assert tool_env.log.output == "first\nsecond\n"


async def test_terminal_control_sequences_are_removed(tool_env: BashEnv) -> None:
    result = await tool_env.run(r"printf '\033[31mred\033[0m \033]0;title\007\000\377 50%%\r100%%\n'")
    assert result.output == tool_env.log.output == "100%\n"
    result = await tool_env.run(r"printf '\033[31mred\033[0m\033]0;title\007\000\377\n'")
    assert result.output == "red\ufffd\n"


async def test_long_output_is_cut_in_the_middle_and_saved_in_full(tool_env: BashEnv) -> None:
    result = await tool_env.run("seq 100000")
    text = text_of(result.output)
    assert len(text) <= 50_000
    assert text.startswith("1\n2\n")
    assert text.endswith("\n100000\n")
    (path,) = tool_env.output_dir.iterdir()
    assert str(path) in text
    assert path.read_text().splitlines() == [str(number) for number in range(1, 100_001)]


async def test_endless_output_is_shown_up_to_a_limit(tool_env: BashEnv) -> None:
    result = await tool_env.run("yes 0123456789 | head -c 5000000")
    assert not result.is_error
    assert len(tool_env.log.output) < 1_100_000
    assert "rest of the output is not shown" in tool_env.log.output


async def test_the_result_mentions_processes_left_running(tool_env: BashEnv) -> None:
    result = await tool_env.run("sleep 1234 &")
    assert not result.is_error
    assert "keep running until the session ends" in result.message


async def test_a_canceled_call_leaves_its_exclusive_section(tool_env: BashEnv) -> None:
    running = asyncio.ensure_future(tool_env.run("echo begun; sleep 1234"))
    while not tool_env.log.output:
        await asyncio.sleep(0.005)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert not tool_env.log.is_exclusive


async def test_a_command_that_cannot_start_is_a_readable_error(tool_env: BashEnv) -> None:
    tool_env.work_dir.rmdir()
    result = await tool_env.run("true")
    assert result.is_error
    assert "doesn't exist" in result.message


@pytest.mark.parametrize(
    "arguments", [{"timeout": 0}, {"timeout": 301}, {"background": True}, {"command": None}]
)
def test_parameters_out_of_range_are_refused(arguments: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        BashParams.model_validate({"command": "true", **arguments})


async def test_a_command_edited_by_the_user_runs_and_the_model_is_notified(tool_env: BashEnv) -> None:
    tool_env.approval.edited_command = "echo theirs\n"
    result = await tool_env.run("echo mine")
    assert text_of(result.output) == "theirs\n"
    assert "The user changed the command before it ran. The new command: `echo theirs`" in result.message
    assert "Exit code 0." in result.message


async def test_a_command_emptied_by_the_user_does_not_run(tool_env: BashEnv) -> None:
    tool_env.approval.edited_command = "\n"
    result = await tool_env.run("echo mine")
    assert result.is_error
    assert tool_env.log.is_exclusive is False


async def test_the_reported_command_is_the_one_the_user_edited(tool_env: BashEnv) -> None:
    tool_env.approval.edited_command = "true"
    params = BashParams(command="false", timeout=60, description="")
    await tool_env.bash.run(params, build_context(tool_env.log))
    assert tool_env.bash.shell_command(params) == "true"


async def test_the_result_explains_why_the_models_key_is_hidden(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-model")
    tool_env = BashEnv(tmp_path, environment=FilteredEnvironment(UsedKeys("sk-of-the-model"), keep=()))
    try:
        result = await tool_env.run('test -n "$OPENAI_API_KEY"')
        assert result.is_error
        assert 'env = ["OPENAI_API_KEY"]' in result.message
        assert "sk-of-the-model" not in result.message
        assert "OPENAI" not in (await tool_env.run("false")).message
        assert "OPENAI" not in (await tool_env.run("echo OPENAI_API_KEY")).message
    finally:
        await tool_env.shell.close()


async def test_a_moved_command_continues_as_a_task_with_its_output_and_its_own_time_limit(
    tool_env: BashEnv,
) -> None:
    go = tool_env.work_dir / "go"
    command = "echo first; until [ -e go ]; do sleep 0.02; done; echo last > made; echo last"
    running = asyncio.create_task(tool_env.run(command, timeout=1))
    async with asyncio.timeout(TEST_TIMEOUT_S):
        while "first" not in tool_env.log.output:
            await asyncio.sleep(0.01)
        assert tool_env.tasks.movable.request_move()
        result = await running
    assert not result.is_error
    assert result.output == "first\n"
    assert "moved the command to the background. It continues as bash-1" in result.message
    (task,) = tool_env.tasks.running
    await asyncio.sleep(1.1)  # longer than the time limit of the call
    go.touch()
    ended = await tool_env.tasks.wait_for(task.id, timeout_s=TEST_TIMEOUT_S)
    assert ended is not None
    assert (ended.status, ended.outcome) == ("done", "exit code 0")
    assert (await tool_env.tasks.read(task.id, 0, 1000))[1] == "first\nlast\n"
    assert (tool_env.work_dir / "made").exists()


async def test_stopping_a_moved_command_ends_its_processes(tool_env: BashEnv) -> None:
    running = asyncio.create_task(tool_env.run("echo $$; sleep 600"))
    async with asyncio.timeout(TEST_TIMEOUT_S):
        while not tool_env.log.output.strip():
            await asyncio.sleep(0.01)
        tool_env.tasks.movable.request_move()
        await running
        (task,) = tool_env.tasks.running
        ended = await tool_env.tasks.stop(task.id, outcome="stopped by the user")
    assert ended is not None
    assert (ended.status, ended.outcome) == ("stopped", "stopped by the user")
    assert not Path(f"/proc/{tool_env.log.output.split()[0]}").exists()


async def test_without_a_running_command_nothing_moves(tool_env: BashEnv) -> None:
    await tool_env.run("true")
    assert not tool_env.tasks.movable.request_move()
