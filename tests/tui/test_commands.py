"""Commands: the registry, and what each does."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import pytest

from kimi_tui.tui.choices import Choice
from kimi_tui.tui.commands.builtin import COMMANDS, run_engine_command
from kimi_tui.tui.commands.line import Line, parsed
from kimi_tui.tui.commands.registry import Registry, Severity
from kimi_tui.tui.state import ScreenState
from kimi_tui.wire.commands import Command, RunSlash, SetModel, SetThinking, SetYolo
from tests.tui.conftest import SESSION


class FakeHost:
    """Writes down what a command did."""

    def __init__(self, state: ScreenState, *, chooses: str | None = None) -> None:
        self.state = state
        self.chooses = chooses
        self.theme_name = "dark"
        self.last_answer = "# Answer"
        self.commands: list[Command] = []
        self.said: list[tuple[str, Severity]] = []
        self.offered: list[str] = []
        self.did: list[str] = []

    def command(self, command: Command) -> None:
        self.commands.append(command)

    def say(self, message: str, *, severity: Severity = "information") -> None:
        self.said.append((message, severity))

    async def choose(self, title: str, choices: Sequence[Choice], *, hint: str = "") -> str | None:
        self.offered = [choice.value for choice in choices]
        return self.chooses

    def show_help(self, topic: Literal["commands", "keys"]) -> None:
        self.did.append(f"help {topic}")

    def toggle_pane(self, name: Literal["todo", "tools"]) -> None:
        self.did.append(f"pane {name}")

    def use_model(self, name: str) -> None:
        self.command(SetModel(name))

    def use_theme(self, name: str) -> None:
        self.did.append(f"theme {name}")

    def copy(self, text: str) -> None:
        self.did.append(f"copy {text}")

    def leave(self) -> None:
        self.did.append("leave")


@pytest.fixture
def state() -> ScreenState:
    return ScreenState(session=SESSION)


def registry(state: ScreenState) -> Registry:
    return Registry(COMMANDS, state=lambda: state, run_engine_command=run_engine_command)


async def run(line: str, host: FakeHost) -> FakeHost:
    found = parsed(line)
    assert found is not None
    command = registry(host.state).find(found.name)
    assert command is not None
    await command.run(host, found.argument)
    return host


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("/model kimi", Line("model", "kimi")),
        ("/help", Line("help", "")),
        ("/usr/bin/env is missing", None),
        ("/", None),
        ("// comment", None),
        ("/a\nb", None),
        ("say /help", None),
    ],
)
def test_what_reads_like_a_command(text: str, line: Line | None) -> None:
    assert parsed(text) == line


def test_the_engines_commands_stand_beside_the_screens(state: ScreenState) -> None:
    names = [command.name for command in registry(state).all]
    assert {"clear", "title", "help", "exit"} <= set(names)
    assert names == sorted(names)


async def test_an_engine_command_goes_out_whole(state: ScreenState) -> None:
    host = await run("/title my shop", FakeHost(state))
    assert host.commands == [RunSlash("title my shop")]


def test_the_screens_own_command_wins_over_the_engines(state: ScreenState) -> None:
    from kimi_tui.wire.events import SlashCommandInfo

    session = replace(SESSION, slash_commands=(SlashCommandInfo("help", "theirs"),))
    found = registry(ScreenState(session=session)).find("help")
    assert found is not None
    assert found.summary != "theirs"


@pytest.mark.parametrize(
    ("typed", "meant"), [("modle", "model"), ("hlep", "help"), ("quti", "exit"), ("thnk", "thinking")]
)
def test_a_slip_finds_what_was_meant(state: ScreenState, typed: str, meant: str) -> None:
    assert meant in [command.name for command in registry(state).nearest(typed)]


def test_completion_offers_commands_by_name_and_alias(state: ScreenState) -> None:
    offered = registry(state).commands("qu")
    assert offered[0].value == "exit"
    assert registry(state).commands("mod")[0].label == "/model"


def test_completion_offers_arguments_until_one_is_typed(state: ScreenState) -> None:
    assert [choice.value for choice in registry(state).arguments("model", "")] == ["kimi-k2", "opus"]
    assert [choice.value for choice in registry(state).arguments("model", "op")] == ["opus"]
    assert registry(state).arguments("model", "opus") == []
    assert registry(state).arguments("nonsense", "") == []


async def test_model_takes_a_name_or_lets_one_choose(state: ScreenState) -> None:
    assert (await run("/model opus", FakeHost(state))).commands == [SetModel("opus")]
    host = await run("/model", FakeHost(state, chooses="kimi-k2"))
    assert host.offered == ["kimi-k2", "opus"]
    assert host.commands == [SetModel("kimi-k2")]


async def test_an_unknown_model_is_refused_with_the_known_ones(state: ScreenState) -> None:
    host = await run("/model gpt", FakeHost(state))
    assert host.commands == []
    assert host.said == [("There is no model “gpt”. Configured are: kimi-k2, opus.", "error")]


async def test_without_models_the_way_to_one_is_told() -> None:
    host = await run("/model", FakeHost(ScreenState(session=replace(SESSION, models=()))))
    assert "/login" in host.said[0][0]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("/thinking", SetThinking(True)),
        ("/thinking off", SetThinking(False)),
        ("/yolo ON", SetYolo(True)),
    ],
)
async def test_switches_turn_over_or_take_a_word(state: ScreenState, line: str, expected: Command) -> None:
    assert (await run(line, FakeHost(state))).commands == [expected]


async def test_a_switch_refuses_other_words(state: ScreenState) -> None:
    host = await run("/yolo perhaps", FakeHost(state))
    assert host.commands == []
    assert host.said[0][1] == "error"


async def test_a_theme_is_named_or_chosen(state: ScreenState) -> None:
    assert (await run("/theme light", FakeHost(state))).did == ["theme light"]
    assert (await run("/theme", FakeHost(state, chooses="dark"))).did == ["theme dark"]
    assert (await run("/theme pink", FakeHost(state))).did == []


@pytest.mark.parametrize(
    ("line", "did"),
    [
        ("/help", "help commands"),
        ("/keys", "help keys"),
        ("/copy", "copy # Answer"),
        ("/todo", "pane todo"),
        ("/tools", "pane tools"),
        ("/quit", "leave"),
    ],
)
async def test_the_other_commands_do_what_they_say(state: ScreenState, line: str, did: str) -> None:
    assert (await run(line, FakeHost(state))).did == [did]


async def test_there_may_be_nothing_to_copy(state: ScreenState) -> None:
    host = FakeHost(state)
    host.last_answer = ""
    await run("/copy", host)
    assert host.did == []
    assert host.said[0][1] == "warning"


def test_what_only_the_engine_can_complete_is_asked_for_once_and_then_listed() -> None:
    from kimi_tui.wire.completion import ArgumentChoices, CompleteArgument
    from kimi_tui.wire.events import SlashCommandInfo

    review = SlashCommandInfo("mcp:odd:review", "Reviews.", completes=True)
    state = ScreenState(session=replace(SESSION, slash_commands=(review,)))
    asked: list[CompleteArgument] = []
    book = Registry(COMMANDS, state=lambda: state, run_engine_command=run_engine_command, ask=asked.append)
    assert book.arguments("mcp:odd:review", "sr") == []
    assert asked == [CompleteArgument("mcp:odd:review", "sr")]
    choices = ArgumentChoices("mcp:odd:review", "sr", ("src/a", "src/b"))
    state = replace(state, replies=state.replies.after(choices))
    assert [it.value for it in book.arguments("mcp:odd:review", "sr")] == ["src/a", "src/b"]
    assert len(asked) == 1
    assert [it.value for it in book.arguments("mcp:odd:review", "src/b")] == []
    assert [it.value for it in book.arguments("mcp:odd:review", "src/")] == ["src/a", "src/b"]
    assert [it.text for it in asked] == ["sr", "src/b", "src/"]
