"""The Bash tool: asks, runs, and tells how it went."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pydantic import ValidationError

from kimi_tui.base.child_environment import Environment, whole_environment, without_values
from kimi_tui.base.content import text_of
from kimi_tui.tools.approval import CommandSubject, Subject, ToolRejected
from kimi_tui.tools.background.tasks import BackgroundTasks
from kimi_tui.tools.shell.bash import Bash, BashParams
from kimi_tui.tools.shell.output import OutputFolder
from kimi_tui.tools.shell.process import Shell
from kimi_tui.tools.shell.terminals import NO_TERMINALS
from kimi_tui.tools.tool import RunningCall
from kimi_tui.tools.workspace import Workspace
from kimi_tui.wire.display import BriefBlock, DisplayBlock, ShellBlock
from kimi_tui.wire.events import ToolReturn
from kimi_tui.wire.requests import Proposal
from tests.clock import Clock
from tests.tools.calls import CallLog, running_call


class Consent:
    """A user who says yes, or no; keeps what was asked."""

    def __init__(self, log: CallLog, *, agrees: bool = True) -> None:
        self._log = log
        self._agrees = agrees
        self.asked: list[tuple[str, str, Subject, tuple[DisplayBlock, ...]]] = []
        self.asked_in_turn = False
        self.edits: str | None = None

    def may_read(self, path: Path) -> bool:
        return True

    async def request(
        self,
        call: RunningCall,
        *,
        action: str,
        description: str,
        subject: Subject,
        display: tuple[DisplayBlock, ...] = (),
        proposal: Proposal | None = None,
    ) -> str | None:
        self.asked.append((action, description, subject, display))
        self.asked_in_turn |= self._log.has_turn
        if not self._agrees:
            raise ToolRejected
        return self.edits


class Desk:
    """A Bash tool with all that it needs."""

    def __init__(
        self, folder: Path, *, agrees: bool = True, environment: Environment = whole_environment
    ) -> None:
        self.work_dir = folder / "work"
        self.work_dir.mkdir()
        self.output_dir = folder / "output"
        self.log = CallLog()
        self.consent = Consent(self.log, agrees=agrees)
        self.shell = Shell(environment=environment, term_grace_s=0.3)
        self.told: list[object] = []
        self.tasks = BackgroundTasks(folder / "tasks", send=self.told.append)
        self.bash = Bash(
            Workspace(self.work_dir),
            self.consent,
            self.shell,
            OutputFolder(self.output_dir),
            self.tasks,
            NO_TERMINALS,
        )

    async def run(self, command: str, **arguments: object) -> ToolReturn:
        params = BashParams.model_validate({"command": command, **arguments})
        return await self.bash.run(params, running_call(self.log))


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    desk = Desk(tmp_path)
    yield desk
    await desk.tasks.close()
    await desk.shell.close()


def brief(result: ToolReturn) -> str:
    return next(block.text for block in result.display if isinstance(block, BriefBlock))


async def test_a_command_is_run_and_its_output_given_back(desk: Desk) -> None:
    result = await desk.run("echo hello; pwd")
    assert not result.is_error
    assert result.output == f"hello\n{desk.work_dir.resolve()}\n"
    assert "Exit code 0" in result.message
    assert brief(result) == "2 lines"


async def test_the_user_is_asked_first_for_exactly_what_runs(desk: Desk) -> None:
    await desk.run("echo 'a  b'", description="greet\nthe world")
    assert desk.consent.asked == [
        (
            "run command",
            "greet the world: `echo 'a  b'`",
            CommandSubject("echo 'a  b'"),
            (ShellBlock("echo 'a  b'"),),
        )
    ]
    assert not desk.consent.asked_in_turn
    assert desk.log.turns == 1


async def test_a_dangerous_command_is_marked(desk: Desk) -> None:
    await desk.run("rm -rf build")
    (block,) = desk.consent.asked[0][3]
    assert isinstance(block, ShellBlock)
    assert block.danger == "deletes recursively"


async def test_a_rejected_command_does_not_run(tmp_path: Path) -> None:
    desk = Desk(tmp_path, agrees=False)
    with pytest.raises(ToolRejected):
        await desk.run("touch created")
    assert not list(desk.work_dir.iterdir())


@pytest.mark.parametrize(
    "command", ["", "  \n", "echo \x1b[2J", "echo a\rb", "echo a\0b", "echo \u202e", "echo \ud800", "a\u200b"]
)
async def test_what_the_user_could_not_see_is_not_even_asked_for(desk: Desk, command: str) -> None:
    result = await desk.run(command)
    assert result.is_error
    assert desk.consent.asked == []


async def test_windows_line_ends_are_plain_ones(desk: Desk) -> None:
    result = await desk.run("echo a\r\necho b")
    assert result.output == "a\nb\n"
    assert desk.consent.asked[0][2] == CommandSubject("echo a\necho b")


@pytest.mark.parametrize(
    ("command", "ending"),
    [
        ("echo out; exit 3", "exit code 3"),
        ("kill -9 $$", "SIGKILL"),
        ("bash -c 'kill -SEGV $$'; exit $?", "139 (SIGSEGV)"),
    ],
)
async def test_a_failing_command_says_how_it_ended(desk: Desk, command: str, ending: str) -> None:
    result = await desk.run(command)
    assert result.is_error
    assert ending in result.message
    assert ending in brief(result)


async def test_a_failing_command_gives_its_output_too(desk: Desk) -> None:
    assert (await desk.run("echo out; exit 3")).output == "out\n"


async def test_a_quiet_command_says_that_it_printed_nothing(desk: Desk) -> None:
    result = await desk.run("true")
    assert "printed nothing" in result.message
    assert brief(result) == "no output"


async def test_a_time_out_gives_what_was_printed_and_says_what_to_do(desk: Desk) -> None:
    clock = Clock()
    running = asyncio.ensure_future(desk.run("echo begun; sleep 1234", timeout=200))
    while desk.log.output != "begun\n":
        assert not running.done()
        await asyncio.sleep(0.005)
    result = await clock.forward_until(running, 200)
    assert result.is_error
    assert result.output == "begun\n"
    assert "stopped after 200 s" in result.message
    assert "300" in result.message


async def test_output_is_shown_while_the_command_runs(desk: Desk) -> None:
    running = asyncio.ensure_future(
        desk.run("echo first; while [ ! -e go ]; do sleep 0.01; done; echo second")
    )
    while desk.log.output != "first\n":
        assert not running.done()
        await asyncio.sleep(0.005)
    (desk.work_dir / "go").touch()
    await running
    assert desk.log.output == "first\nsecond\n"


async def test_neither_the_user_nor_the_model_gets_what_drives_a_terminal(desk: Desk) -> None:
    result = await desk.run(r"printf '\033[31mred\033[0m \033]0;title\007\000\377 50%%\r100%%\n'")
    assert result.output == desk.log.output == "100%\n"
    result = await desk.run(r"printf '\033[31mred\033[0m\033]0;title\007\000\377\n'")
    assert result.output == "red\ufffd\n"


async def test_long_output_is_cut_in_the_middle_and_kept_whole(desk: Desk) -> None:
    result = await desk.run("seq 100000")
    text = text_of(result.output)
    assert len(text) <= 50_000
    assert text.startswith("1\n2\n")
    assert text.endswith("\n100000\n")
    (path,) = desk.output_dir.iterdir()
    assert str(path) in text
    assert path.read_text().splitlines() == [str(number) for number in range(1, 100_001)]


async def test_a_flood_is_not_shown_for_ever(desk: Desk) -> None:
    result = await desk.run("yes 0123456789 | head -c 5000000")
    assert not result.is_error
    assert len(desk.log.output) < 1_100_000
    assert "more than is shown" in desk.log.output


async def test_what_is_left_running_is_told(desk: Desk) -> None:
    result = await desk.run("sleep 1234 &")
    assert not result.is_error
    assert "goes on until the session ends" in result.message


async def test_a_cancelled_call_gives_its_turn_back(desk: Desk) -> None:
    running = asyncio.ensure_future(desk.run("echo begun; sleep 1234"))
    while not desk.log.output:
        await asyncio.sleep(0.005)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert not desk.log.has_turn


async def test_a_command_that_can_not_start_is_an_error_the_model_can_read(desk: Desk) -> None:
    desk.work_dir.rmdir()
    result = await desk.run("true")
    assert result.is_error
    assert "is gone" in result.message


@pytest.mark.parametrize(
    "arguments", [{"timeout": 0}, {"timeout": 301}, {"background": True}, {"command": None}]
)
def test_parameters_out_of_range_are_refused(arguments: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        BashParams.model_validate({"command": "true", **arguments})


async def test_a_command_that_the_user_changed_is_what_runs_and_the_model_is_told(desk: Desk) -> None:
    desk.consent.edits = "echo theirs\n"
    result = await desk.run("echo mine")
    assert text_of(result.output) == "theirs\n"
    assert "The user changed the command before it ran. What ran is: `echo theirs`" in result.message
    assert "Exit code 0." in result.message


async def test_a_command_that_the_user_emptied_does_not_run(desk: Desk) -> None:
    desk.consent.edits = "\n"
    result = await desk.run("echo mine")
    assert result.is_error
    assert desk.log.has_turn is False


async def test_what_the_call_says_it_runs_is_what_the_user_made_of_it(desk: Desk) -> None:
    desk.consent.edits = "true"
    params = BashParams(command="false", timeout=60, description="")
    await desk.bash.run(params, running_call(desk.log))
    assert desk.bash.command(params) == "true"


async def test_a_command_that_misses_the_models_key_is_told_why_it_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-model")
    desk = Desk(tmp_path, environment=without_values(lambda: {"sk-of-the-model"}, but=()))
    try:
        result = await desk.run('test -n "$OPENAI_API_KEY"')
        assert result.is_error
        assert 'env = ["OPENAI_API_KEY"]' in result.message
        assert "sk-of-the-model" not in result.message
        assert "OPENAI" not in (await desk.run("false")).message
        assert "OPENAI" not in (await desk.run("echo OPENAI_API_KEY")).message
    finally:
        await desk.shell.close()
