"""docs/commands.md: every command is there, and each example runs."""

from collections.abc import Generator, Iterator, Sequence
from typing import Any

import pytest

from kimi_tui.tui.commands.builtin import COMMANDS, run_engine_command
from kimi_tui.tui.commands.line import parsed
from kimi_tui.tui.commands.modes import MODE_COMMANDS
from kimi_tui.tui.commands.personal import personal_commands
from kimi_tui.tui.commands.registry import Registry, SlashCommand
from kimi_tui.tui.commands.sessions import session_commands
from kimi_tui.tui.commands.setting_up import SETUP_COMMANDS
from kimi_tui.tui.commands.time_travel import TIMELINE_COMMANDS
from kimi_tui.tui.state import ScreenState
from kimi_tui.wire.commands import RunSlash
from kimi_tui.wire.events import BtwEnd, Notification, SessionInfo, TurnEnd
from tests.docs.pages import Example, examples
from tests.engine.front import Home, call, script, write

SECTIONS = examples("commands.md", language="slash")
OF_FILES = "Commands of your own"
LINES = [(example.heading, line) for example in SECTIONS for line in example.lines]


def name_of(line: str) -> str:
    command = parsed(line)
    assert command is not None, line
    return command.name


class Deed:
    """Something that the screen can do, at once or awaited, or a part of it that can do things."""

    def __init__(self, name: str, did: list[str]) -> None:
        self._name = name
        self._did = did

    def __call__(self, *_: Any, **__: Any) -> "Deed":
        self._did.append(self._name)
        return self

    def __await__(self) -> Generator[None, None, None]:
        yield from ()

    def __iter__(self) -> Iterator[Any]:
        yield from ()

    def __getattr__(self, name: str) -> "Deed":
        return Deed(name, self._did)


class Screen:
    """A screen that does everything that is asked of it, and keeps what it was told to say."""

    def __init__(self) -> None:
        info = SessionInfo("s", "/w", "", "scripted", "scripted", "default", models=("scripted",))
        self.state = ScreenState(session=info)
        self.theme_name = "dark"
        self.last_answer = "It is done."
        self.errors: list[str] = []
        self.did: list[str] = []

    def say(self, message: str, *, severity: str = "information") -> None:
        if severity == "error":
            self.errors.append(message)

    async def choose(self, *_: Any, **__: Any) -> None:
        return None

    def __getattr__(self, name: str) -> "Deed":
        return Deed(name, self.did)


def commands_of(screen: Screen) -> Sequence[SlashCommand]:
    """What every screen has, and what this one has for its user alone."""
    acts: Any = Deed("acts", screen.did)
    return (
        *COMMANDS,
        *SETUP_COMMANDS,
        *MODE_COMMANDS,
        *TIMELINE_COMMANDS,
        *session_commands(acts),
        *personal_commands(acts),
    )


def test_every_command_of_the_screen_is_on_the_page() -> None:
    shown = {name_of(line) for _, line in LINES}
    assert {command.name for command in commands_of(Screen())} <= shown


async def test_every_command_of_a_session_is_on_the_page(home: Home) -> None:
    home.script("text: hi")
    async with home.opened() as front:
        commands = {info.name for info in front.of(SessionInfo)[-1].slash_commands}
    assert commands <= {name_of(line) for _, line in LINES}


@pytest.mark.parametrize("line", [line for heading, line in LINES if heading != OF_FILES])
async def test_each_example_means_something_to_the_screen_or_the_session(line: str) -> None:
    screen = Screen()
    commands = commands_of(screen)
    own = {command.name for command in commands}
    registry = Registry(
        commands,
        state=lambda: screen.state,
        run_engine_command=run_engine_command,
    )
    command = parsed(line)
    assert command is not None
    if command.name in own:
        found = registry.find(command.name)
        assert found is not None
        await found.run(screen, command.argument)  # type: ignore[arg-type]
        assert not screen.errors
        assert screen.did or command.name in ("yolo", "thinking", "write")


@pytest.mark.parametrize(
    "section", [section for section in SECTIONS if section.heading != OF_FILES], ids=lambda it: it.heading
)
async def test_the_examples_of_a_section_run_one_after_the_other(home: Home, section: Example) -> None:
    home.script(
        script("text: writing", write("w1", "a.txt", "one\n")),
        "text: written",
        script("text: reading", call("w2", "ReadFile", path="a.txt")),
        *["text: as you like"] * 20,
    )
    async with home.opened(yolo=True) as front:
        for prompt in ("write", "read", "go on", "and on"):
            await front.turn(prompt)
        known = {info.name: info for info in front.of(SessionInfo)[-1].slash_commands}
        for line in section.lines:
            info = known.get(name_of(line))
            if info is None:
                continue
            front.give(RunSlash(line.removeprefix("/")))
            if info.takes_turn:
                assert (await front.until(TurnEnd)).outcome == "finished", line
            if info.name == "btw":
                assert (await front.until(BtwEnd)).error is None
            front.give(RunSlash("hooks"))  # it answers when the command before it is done
            await front.until(Notification, where=lambda notice: notice.title == "Hooks")
            errors = [notice for notice in front.of(Notification) if notice.severity == "error"]
            assert not errors, (line, errors)


async def test_the_command_from_a_file_says_what_the_page_promises(home: Home) -> None:
    (file,) = examples("commands.md", language="markdown")
    file.put_into(home.work_dir)
    for name, text in (("src/login.py", "def login(): ...\n"), ("docs/style.md", "Be brief.\n")):
        home.file(name).parent.mkdir(exist_ok=True)
        home.file(name).write_text(text)
    (line,) = [line for heading, line in LINES if heading == OF_FILES]
    home.script("text: reviewed")
    async with home.opened() as front:
        info = next(it for it in front.of(SessionInfo)[-1].slash_commands if it.name == "review")
        assert (info.description, info.argument) == ("Review a file for bugs", "FILE [WHAT]")
        front.give(RunSlash(line.removeprefix("/")))
        assert (await front.until(TurnEnd)).outcome == "finished"
    assert "with an eye on error handling" in home.journal
    assert "def login(): ..." in home.journal
    assert "Be brief." in home.journal
