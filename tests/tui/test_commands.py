"""Command registry and built-in commands."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest

from kimi_tui.frontend.command_usage import CommandUsage
from kimi_tui.frontend.parsed_command import ParsedCommand, parse_command
from kimi_tui.frontend.session_state import SessionViewState
from kimi_tui.tui.commands.builtin import COMMANDS
from kimi_tui.tui.commands.command_host import Severity
from kimi_tui.tui.commands.command_search import CommandSearch
from kimi_tui.tui.commands.registry import CommandRegistry
from kimi_tui.tui.commands.timeline import TIMELINE_COMMANDS
from kimi_tui.tui.dialogs.models import ModelChoice
from kimi_tui.tui.keys.keymap import KeyLabels
from kimi_tui.tui.widgets.choice_list import Choice
from kimi_tui.wire.bisect import BisectResult
from kimi_tui.wire.commands import Command, RunSlash, SetModel, SetThinking, SetYolo
from kimi_tui.wire.session import CacheMiss, SessionInfo, StatusUpdate
from kimi_tui.wire.timeline import ComparedFile, TimelineNode
from tests.tui.conftest import SESSION


class FakeHost:
    """Records what a command does."""

    def __init__(self, state: SessionViewState, *, choice: str | None = None) -> None:
        self.state = state
        self.choice = choice
        self.theme_name = "dark"
        self.last_response = "# Answer"
        self.commands: list[Command] = []
        self.notifications: list[tuple[str, Severity]] = []
        self.offered: list[str] = []
        self.actions: list[str] = []
        self.dialogs = self

    def command(self, command: Command) -> None:
        self.commands.append(command)

    def notify(self, message: str, *, severity: Severity = "information", topic: str = "") -> None:
        self.notifications.append((message, severity))

    async def choose(self, title: str, choices: Sequence[Choice], *, hint: str = "") -> str | None:
        self.offered = [choice.value for choice in choices]
        return self.choice

    async def choose_model(self, session: SessionInfo) -> ModelChoice | None:
        self.offered = list(session.models)
        return ModelChoice(self.choice, "medium") if self.choice is not None else None

    async def choose_theme(self) -> str | None:
        return self.choice

    def show_help(self, content: Literal["all", "keys"], query: str = "") -> None:
        self.actions.append(f"help {content} {query}".rstrip())

    def toggle_pane(self, name: Literal["todo", "tools"]) -> None:
        self.actions.append(f"pane {name}")

    def use_model(self, name: str) -> None:
        self.command(SetModel(name))

    def use_theme(self, name: str) -> None:
        self.actions.append(f"theme {name}")

    def copy(self, text: str) -> None:
        self.actions.append(f"copy {text}")

    def leave(self) -> None:
        self.actions.append("leave")


@pytest.fixture
def state() -> SessionViewState:
    return SessionViewState(session=SESSION)


def build_registry(host: FakeHost) -> CommandRegistry:
    search = CommandSearch(CommandUsage(Path("no-such-directory")), wall_clock=lambda: 0.0)
    return CommandRegistry(COMMANDS, session=host, search=search, key_labels=KeyLabels({}))


def registry(state: SessionViewState) -> CommandRegistry:
    return build_registry(FakeHost(state))


async def run(line: str, host: FakeHost) -> FakeHost:
    parsed = parse_command(line)
    assert parsed is not None
    command = registry(host.state).find(parsed.name)
    assert command is not None
    await command.run(host, parsed.argument)
    return host


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/model kimi", ParsedCommand("model", "kimi")),
        ("/help", ParsedCommand("help", "")),
        ("/usr/bin/env is missing", None),
        ("/", None),
        ("// comment", None),
        ("/a\nb", None),
        ("say /help", None),
    ],
)
def test_only_lines_with_a_command_name_are_commands(text: str, expected: ParsedCommand | None) -> None:
    assert parse_command(text) == expected


def test_the_registry_lists_commands_of_the_engine_and_the_screen(state: SessionViewState) -> None:
    names = [command.name for command in registry(state).all]
    assert {"clear", "title", "help", "exit"} <= set(names)
    assert names == sorted(names)


async def test_an_engine_command_is_sent_with_its_argument(state: SessionViewState) -> None:
    host = await run("/title my shop", FakeHost(state))
    assert host.commands == [RunSlash("title my shop")]


def test_a_command_of_the_screen_overrides_one_of_the_engine(state: SessionViewState) -> None:
    from kimi_tui.wire.events import SlashCommandInfo

    session = replace(SESSION, slash_commands=(SlashCommandInfo("help", "theirs"),))
    command = registry(SessionViewState(session=session)).find("help")
    assert command is not None
    assert command.summary != "theirs"


@pytest.mark.parametrize(
    ("typed", "expected"), [("modle", "model"), ("hlep", "help"), ("quti", "exit"), ("thnk", "thinking")]
)
def test_a_typo_finds_the_intended_command(state: SessionViewState, typed: str, expected: str) -> None:
    assert expected in [command.name for command in registry(state).nearest(typed)]


def test_completion_offers_commands_by_name_and_alias(state: SessionViewState) -> None:
    offered = registry(state).commands("qu")
    assert offered[0].value == "exit"
    assert registry(state).commands("mod")[0].label == "/model"


def test_completion_offers_arguments_until_one_is_typed(state: SessionViewState) -> None:
    assert [choice.value for choice in registry(state).arguments("model", "")] == ["kimi-k2", "opus"]
    assert [choice.value for choice in registry(state).arguments("model", "op")] == ["opus"]
    assert registry(state).arguments("model", "opus") == []
    assert registry(state).arguments("nonsense", "") == []


async def test_model_takes_a_name_or_shows_a_choice(state: SessionViewState) -> None:
    assert (await run("/model opus", FakeHost(state))).commands == [SetModel("opus")]
    host = await run("/model", FakeHost(state, choice="kimi-k2"))
    assert host.offered == ["kimi-k2", "opus"]
    assert host.commands == [SetModel("kimi-k2"), SetThinking(True, "medium")]
    assert (await run("/model opus low", FakeHost(state))).commands == [
        SetModel("opus"),
        SetThinking(True, "low"),
    ]
    host = await run("/model opus much", FakeHost(state))
    assert (host.commands, host.notifications[0][1]) == ([], "error")


async def test_an_unknown_model_is_rejected_with_the_available_ones(state: SessionViewState) -> None:
    host = await run("/model gpt", FakeHost(state))
    assert host.commands == []
    assert host.notifications == [("Unknown model “gpt”. Available models: kimi-k2, opus.", "error")]


async def test_without_models_the_command_points_to_login() -> None:
    host = await run("/model", FakeHost(SessionViewState(session=replace(SESSION, models=()))))
    assert "/login" in host.notifications[0][0]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("/thinking off", SetThinking(False, "off")),
        ("/thinking on", SetThinking(True, "high")),
        ("/thinking medium", SetThinking(True, "medium")),
        ("/yolo ON", SetYolo(True)),
    ],
)
async def test_switches_toggle_or_take_an_argument(
    state: SessionViewState, line: str, expected: Command
) -> None:
    assert (await run(line, FakeHost(state))).commands == [expected]


async def test_thinking_without_an_argument_offers_the_levels(state: SessionViewState) -> None:
    host = await run("/thinking", FakeHost(state, choice="low"))
    assert host.offered == ["off", "low", "medium", "high"]
    assert host.commands == [SetThinking(True, "low")]
    assert host.notifications == [("Thinking: low, from the next step", "information")]


async def test_thinking_toggles_for_a_model_with_two_levels() -> None:
    session = replace(SESSION, thinking_levels=("off", "high"))
    host = await run("/thinking", FakeHost(SessionViewState(session=session)))
    assert host.commands == [SetThinking(True, "high")]
    assert host.notifications == [("Thinking: on, from the next step", "information")]


async def test_a_level_that_the_model_lacks_becomes_the_next_higher_one() -> None:
    session = replace(SESSION, thinking_levels=("off", "high"))
    host = await run("/thinking low", FakeHost(SessionViewState(session=session)))
    assert host.notifications[0][0].startswith("Thinking: on, from the next step. The model doesn't have")


async def test_a_model_that_cannot_think_says_so() -> None:
    host = await run("/thinking on", FakeHost(SessionViewState(session=replace(SESSION, thinking_levels=()))))
    assert host.commands == []
    assert host.notifications == [("The model kimi-k2 doesn't support thinking.", "warning")]


async def test_a_switch_rejects_other_arguments(state: SessionViewState) -> None:
    host = await run("/yolo perhaps", FakeHost(state))
    assert host.commands == []
    assert host.notifications[0][1] == "error"


async def test_theme_takes_a_name_or_shows_a_choice(state: SessionViewState) -> None:
    assert (await run("/theme light", FakeHost(state))).actions == ["theme light"]
    assert (await run("/theme", FakeHost(state, choice="dark"))).actions == ["theme dark"]


@pytest.mark.parametrize(
    ("line", "action"),
    [
        ("/help", "help all"),
        ("/help timeline", "help all timeline"),
        ("/keys", "help keys"),
        ("/copy", "copy # Answer"),
        ("/todo", "pane todo"),
        ("/tools", "pane tools"),
        ("/quit", "leave"),
    ],
)
async def test_the_other_commands_run_their_action(state: SessionViewState, line: str, action: str) -> None:
    assert (await run(line, FakeHost(state))).actions == [action]


async def test_copy_without_a_response_shows_a_warning(state: SessionViewState) -> None:
    host = FakeHost(state)
    host.last_response = ""
    await run("/copy", host)
    assert host.actions == []
    assert host.notifications[0][1] == "warning"


def test_completions_of_the_engine_are_requested_once_and_then_listed() -> None:
    from kimi_tui.wire.argument_completion import ArgumentChoices, CompleteArgument
    from kimi_tui.wire.events import SlashCommandInfo

    review = SlashCommandInfo("mcp:odd:review", "Reviews.", completes=True)
    state = SessionViewState(session=replace(SESSION, slash_commands=(review,)))
    host = FakeHost(state)
    registry = build_registry(host)
    assert registry.arguments("mcp:odd:review", "sr") == []
    assert host.commands == [CompleteArgument("mcp:odd:review", "sr")]
    choices = ArgumentChoices("mcp:odd:review", "sr", ("src/a", "src/b"))
    host.state = replace(state, replies=state.replies.with_reply(choices))
    assert [it.value for it in registry.arguments("mcp:odd:review", "sr")] == ["src/a", "src/b"]
    assert len(host.commands) == 1
    assert [it.value for it in registry.arguments("mcp:odd:review", "src/b")] == []
    assert [it.value for it in registry.arguments("mcp:odd:review", "src/")] == ["src/a", "src/b"]
    assert [it.text for it in host.commands] == ["sr", "src/b", "src/"]


async def test_a_short_text_gets_a_panel_of_its_own_size(open_app: Any) -> None:
    async with open_app(size=(100, 30)) as harness:
        harness.screen.controllers.host.dialogs.show_text("Usage", "input  60,000")
        await harness.wait_until(lambda: "input  60,000" in harness.screen_text())
        assert harness.app.screen.query_one(".dialog").region.height < 15
        assert "page down" not in harness.screen_text()


async def test_the_usage_lists_cache_misses_with_their_causes(open_app: Any) -> None:
    async with open_app(size=(100, 30)) as harness:
        await harness.send(StatusUpdate(cache_miss=CacheMiss(68_000, "model")))
        await harness.type_text("/cost")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: "68k  the model changed" in harness.screen_text())


@pytest.mark.parametrize(
    ("typed", "shown"),
    [("/h", "Type to search keys"), ("/?", "Type to search keys"), ("/status", "no price")],
)
async def test_names_of_kimi_cli_open_the_same_screens(open_app: Any, typed: str, shown: str) -> None:
    async with open_app() as harness:
        await harness.type_text(typed)
        await harness.driver.press("enter")
        await harness.wait_until(lambda: shown in harness.screen_text())


STEP = TimelineNode(41, "u41", "step", "EditFile a.py")
CHANGED = (ComparedFile("a.py", "changed", 1, 1, by="agent"),)
FOUND = BisectResult(command="pytest", outcome="pass_to_fail", runs=6, step=STEP, until=42, files=CHANGED)


BISECT = next(command for command in TIMELINE_COMMANDS if command.name == "bisect")


@pytest.mark.parametrize(
    ("choice", "sent"),
    [("/bisect --send", [RunSlash("bisect --send")]), (None, [])],
)
async def test_bisect_without_a_command_offers_what_to_do_with_the_result(
    state: SessionViewState, choice: str | None, sent: list[Command]
) -> None:
    host = FakeHost(replace(state, bisect_result=FOUND), choice=choice)
    await BISECT.run(host, "")
    assert host.offered == ["/revert 41 turn", "/review 41 42", "/timeline 41", "/bisect --send"]
    assert host.commands == sent


@pytest.mark.parametrize("argument", ["pytest", ""])
async def test_bisect_with_a_command_or_without_a_result_is_sent(
    state: SessionViewState, argument: str
) -> None:
    host = FakeHost(state)
    await BISECT.run(host, argument)
    assert host.commands == [RunSlash(f"bisect {argument}".rstrip())]
