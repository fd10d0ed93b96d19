"""docs/commands.md: every command is on the page, and each example runs."""

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from kimi_tui.frontend.command_usage import CommandUsage
from kimi_tui.frontend.parsed_command import parse_command
from kimi_tui.frontend.session_state import SessionViewState
from kimi_tui.tui.commands.command_search import CommandSearch
from kimi_tui.tui.commands.registry import CommandRegistry
from kimi_tui.tui.commands.screen_commands import SCREEN_COMMANDS
from kimi_tui.tui.keys.keymap import KeyLabels
from kimi_tui.wire.commands import RunSlash
from kimi_tui.wire.events import BtwEnd, Notification, SessionInfo, TurnEnd
from tests.docs.pages import Example, examples
from tests.engine.fake_front_end import SessionEnv, call, script, write

SECTIONS = examples("commands.md", language="slash")
CUSTOM_COMMANDS = "Custom commands"
LINES = [(example.heading, line) for example in SECTIONS for line in example.lines]


def name_of(line: str) -> str:
    command = parse_command(line)
    assert command is not None, line
    return command.name


class AnyAction:
    """Accepts any call, attribute access, iteration and `await`, and records the names of the calls."""

    def __init__(self, name: str, actions: list[str]) -> None:
        self._name = name
        self._actions = actions

    def __call__(self, *_: Any, **__: Any) -> "AnyAction":
        self._actions.append(self._name)
        return self

    def __await__(self) -> Generator[None, None, None]:
        yield from ()

    def __iter__(self) -> Iterator[Any]:
        yield from ()

    def __getattr__(self, name: str) -> "AnyAction":
        return AnyAction(name, self._actions)


class FakeScreen:
    """Screen that accepts every action and records the errors it shows."""

    def __init__(self) -> None:
        info = SessionInfo(
            "s", "/w", "", "scripted", "scripted", "default", models=("scripted",), resident=True
        )
        self.state = SessionViewState(session=info)
        self.theme_name = "dark"
        self.last_response = "Done."
        self.fleet_visit = None
        self.errors: list[str] = []
        self.actions: list[str] = []

    def notify(self, message: str, *, severity: str = "information", topic: str = "") -> None:
        if severity == "error":
            self.errors.append(message)

    async def choose(self, *_: Any, **__: Any) -> None:
        return None

    def __getattr__(self, name: str) -> "AnyAction":
        return AnyAction(name, self.actions)


def test_every_command_of_the_screen_is_on_the_page() -> None:
    shown = {name_of(line) for _, line in LINES}
    assert {command.name for command in SCREEN_COMMANDS} <= shown


async def test_every_command_of_a_session_is_on_the_page(home: SessionEnv) -> None:
    home.script("text: hi")
    async with home.open_session() as front:
        commands = {info.name for info in front.of(SessionInfo)[-1].slash_commands}
    assert commands <= {name_of(line) for _, line in LINES}


@pytest.mark.parametrize("line", [line for heading, line in LINES if heading != CUSTOM_COMMANDS])
async def test_each_example_of_a_screen_command_runs(line: str) -> None:
    screen = FakeScreen()
    own = {command.name for command in SCREEN_COMMANDS}
    search = CommandSearch(CommandUsage(Path("no-such-directory")), wall_clock=lambda: 0.0)
    registry = CommandRegistry(SCREEN_COMMANDS, session=screen, search=search, key_labels=KeyLabels({}))
    command = parse_command(line)
    assert command is not None
    if command.name in own:
        ui_command = registry.find(command.name)
        assert ui_command is not None
        await ui_command.run(screen, command.argument)  # type: ignore[arg-type]
        assert not screen.errors
        assert screen.actions or command.name in ("yolo", "thinking", "write", "fleet")


@pytest.mark.parametrize(
    "section",
    [section for section in SECTIONS if section.heading != CUSTOM_COMMANDS],
    ids=lambda it: it.heading,
)
async def test_the_examples_of_a_section_run_in_order(home: SessionEnv, section: Example) -> None:
    home.script(
        script("text: writing", write("w1", "a.txt", "one\n")),
        "text: written",
        script("text: reading", call("w2", "ReadFile", path="a.txt")),
        *["text: done"] * 20,
    )
    async with home.open_session(yolo=True) as front:
        for prompt in ("write", "read", "continue", "continue again"):
            await front.turn(prompt)
        known = {info.name: info for info in front.of(SessionInfo)[-1].slash_commands}
        for line in section.lines:
            info = known.get(name_of(line))
            if info is None:
                continue
            front.send(RunSlash(line.removeprefix("/")))
            if info.takes_turn:
                assert (await front.wait_for(TurnEnd)).outcome == "finished", line
            if info.name == "btw":
                assert (await front.wait_for(BtwEnd)).error is None
            front.send(RunSlash("hooks"))  # its response arrives once the previous command is done
            await front.wait_for(Notification, where=lambda notice: notice.title == "Hooks")
            errors = [notice for notice in front.of(Notification) if notice.severity == "error"]
            assert not errors, (line, errors)


async def test_the_custom_command_of_the_page_sends_its_prompt(home: SessionEnv) -> None:
    (file,) = examples("commands.md", language="markdown")
    file.put_into(home.work_dir)
    for name, text in (("src/login.py", "def login(): ...\n"), ("docs/style.md", "Be brief.\n")):
        home.file(name).parent.mkdir(exist_ok=True)
        home.file(name).write_text(text)
    (line,) = [line for heading, line in LINES if heading == CUSTOM_COMMANDS]
    home.script("text: reviewed")
    async with home.open_session() as front:
        info = next(it for it in front.of(SessionInfo)[-1].slash_commands if it.name == "bugs")
        assert (info.description, info.argument) == ("Review a file for bugs", "FILE [FOCUS]")
        front.send(RunSlash(line.removeprefix("/")))
        assert (await front.wait_for(TurnEnd)).outcome == "finished"
    assert "and focus on error handling" in home.journal
    assert "def login(): ..." in home.journal
    assert "Be brief." in home.journal
