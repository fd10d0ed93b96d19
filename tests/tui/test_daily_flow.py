"""A day's work at 80x24, with the mouse alone and with the keyboard alone."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import pytest
from textual.events import MouseScrollDown

from kimi_tui.base.message import FunctionCall
from kimi_tui.tui.dialogs.command_palette import CommandPalette
from kimi_tui.tui.dialogs.help import Help
from kimi_tui.tui.dialogs.models import ModelPicker
from kimi_tui.tui.dialogs.sessions import SessionsDialog
from kimi_tui.tui.dialogs.settings import SettingsDialog
from kimi_tui.tui.dialogs.themes import ThemePicker
from kimi_tui.tui.timeline.plan_dialog import PlanDialog
from kimi_tui.tui.widgets.choice_list import ChoiceList
from kimi_tui.wire.commands import (
    ListSessions,
    MoveToBackground,
    PlanRevert,
    SetAcceptEdits,
    SetModel,
    ShowTimeline,
)
from kimi_tui.wire.display_blocks import TodoItem
from kimi_tui.wire.events import StepBegin, TextPart, TodoUpdate, ToolCall, TurnBegin, TurnEnd
from kimi_tui.wire.requests import ApprovalResponse
from kimi_tui.wire.settings import ListSettings, Setting, SettingsList
from tests.tui.conftest import AppHarness
from tests.tui.test_sessions import SESSION_LIST, SessionServer, session_id
from tests.tui.test_snapshots import EDIT
from tests.tui.timeline.sample_timeline import TIMELINE

_SETTINGS = SettingsList(
    (Setting("theme", "", "choice", "The colors.", "dark", "auto", choices=("auto", "dark")),), "config.toml"
)


class User(Protocol):
    """Someone who uses the app in one way."""

    harness: AppHarness

    async def run(self, command: str, key: str = "") -> None:
        """Run a command that has `key`, if it has one."""

    async def press(self, key: str, label: str) -> None:
        """Use a key or its label on the screen."""

    async def choose(self, text: str) -> None:
        """Choose an entry of the list."""

    async def close(self) -> None:
        """Close the pane or dialog in front."""


@dataclass
class MouseUser:
    """Only clicks and scrolls."""

    harness: AppHarness

    async def run(self, command: str, key: str = "") -> None:
        harness = self.harness
        await self._click("palette")
        await harness.wait_until(lambda: isinstance(harness.app.screen, CommandPalette))
        await harness.driver.pause()
        choices = harness.app.screen.query_one(ChoiceList)
        for _ in range(100):
            if any(f"/{command} " in line for line in harness.screen_text().split("\n")):
                break
            await harness.driver._post_mouse_events([MouseScrollDown], widget=choices)
            await harness.driver.pause()
        await self._click(f"/{command} ")

    async def press(self, key: str, label: str) -> None:
        await self._click(label)

    async def choose(self, text: str) -> None:
        before = self.harness.app.screen
        await self._click(text)
        await self.harness.driver.pause()
        if self.harness.app.screen is before:  # the first click selected it
            await self._click(text)

    async def close(self) -> None:
        await self.harness.driver.pause()
        text = self.harness.screen_text()
        await self._click(next(label for label in ("✕", "esc cancel", "close") if label in text))

    async def _click(self, text: str) -> None:
        await self.harness.wait_until(lambda: text in self.harness.screen_text())
        lines = self.harness.screen_text().split("\n")
        row = next(y for y, line in enumerate(lines) if text in line)
        await self.harness.driver.click(offset=(lines[row].index(text), row))


@dataclass
class KeyboardUser:
    """Only presses keys."""

    harness: AppHarness

    async def run(self, command: str, key: str = "") -> None:
        if key:
            await self.harness.driver.press(key)
        else:
            await self.harness.type_text(f"/{command}")
            await self.harness.driver.press("enter")

    async def press(self, key: str, label: str) -> None:
        await self.harness.driver.press(key)

    async def choose(self, text: str) -> None:
        choices = self.harness.app.screen.query_one(ChoiceList)

        def is_highlighted() -> bool:
            choice = choices.choice
            return choice is not None and text in f"{choice.row} {choice.label}"

        for _ in range(20):
            if is_highlighted():
                break
            await self.harness.driver.press("down")
        await self.harness.driver.press("enter")

    async def close(self) -> None:
        await self.harness.driver.press("escape")


@pytest.mark.parametrize("user_type", [MouseUser, KeyboardUser], ids=["mouse", "keyboard"])
async def test_a_mouse_only_and_a_keyboard_only_session_reach_everything(
    open_app: Any, user_type: Callable[[AppHarness], User]
) -> None:
    server = SessionServer()
    async with open_app(size=(80, 24), serve_session=server) as harness:
        user = user_type(harness)
        focused_prompt = lambda: harness.app.focused is harness.screen.prompt.editor  # noqa: E731
        main_screen = lambda: harness.app.screen is harness.screen  # noqa: E731

        # the model, the mode, the settings, the themes and the help
        await user.run("model", "alt+p")
        await harness.wait_until(lambda: isinstance(harness.app.screen, ModelPicker))
        await user.choose("opus")
        await harness.wait_until(lambda: harness.commands_of(SetModel) == [SetModel("opus")])
        await harness.wait_until(main_screen)
        await user.press("shift+tab", "ask")
        await harness.wait_until(lambda: harness.commands_of(SetAcceptEdits) == [SetAcceptEdits(True)])
        await user.run("settings", "f9")
        await harness.wait_until(lambda: isinstance(harness.app.screen, SettingsDialog))
        await harness.wait_until(lambda: harness.commands_of(ListSettings))
        harness.engine.send(_SETTINGS)
        await harness.wait_until(lambda: "Color theme" in harness.screen_text())
        await user.close()
        await harness.wait_until(main_screen)
        await user.run("theme")
        await harness.wait_until(lambda: isinstance(harness.app.screen, ThemePicker))
        await user.close()
        await harness.wait_until(main_screen)
        await user.run("help", "f1")
        await harness.wait_until(lambda: isinstance(harness.app.screen, Help))
        await user.close()
        await harness.wait_until(main_screen)

        # a permission request
        await harness.send(
            TurnBegin("fix it"),
            StepBegin(1),
            TextPart("The form returns 500."),
            ToolCall("c2", FunctionCall("EditFile", '{"path": "src/auth.py"}')),
        )
        harness.ask(EDIT)
        await harness.wait_until(lambda: "Allow" in harness.screen_text())
        await harness.driver.pause()
        harness.clock.now += 10
        await user.press("f2", "Allow EditFile")
        harness.clock.now += 10
        await user.press("y", "y Yes")
        await harness.wait_until(lambda: harness.engine.answers == [ApprovalResponse("r1", "approve")])

        # a command is moved to the background
        await harness.send(ToolCall("c3", FunctionCall("Bash", '{"command": "make"}')))
        await user.run("background", "ctrl+b")
        await harness.wait_until(lambda: harness.commands_of(MoveToBackground))
        await harness.send(TodoUpdate((TodoItem("reproduce", "done"), TodoItem("fix"))), TurnEnd())

        # the panes
        for name, key, shown in (("todo", "ctrl+t", "todo 1/2"), ("tools", "ctrl+l", "tools 2")):
            await user.run(name, key)
            await harness.wait_until(lambda shown=shown: shown in harness.screen_text())
            await user.close()
            await harness.wait_until(lambda shown=shown: shown not in harness.screen_text())
            await harness.wait_until(focused_prompt)
        await user.run("timeline", "f3")
        await harness.wait_until(lambda: harness.commands_of(ShowTimeline))
        harness.engine.send(TIMELINE)
        await harness.wait_until(lambda: "good" in harness.screen_text())
        await user.close()
        await harness.wait_until(lambda: "good" not in harness.screen_text())
        await harness.wait_until(focused_prompt)

        # context, cost, checkpoints, and a revert
        await user.run("context")
        await user.press("right", "Cost")
        await harness.wait_until(lambda: "no price" in harness.screen_text())
        await user.press("right", "Checkpoints")
        await harness.wait_until(lambda: "12 · All" in harness.screen_text())
        await user.press("enter", "enter revert")
        await harness.wait_until(lambda: harness.commands_of(PlanRevert))
        await harness.wait_until(lambda: isinstance(harness.app.screen, PlanDialog))
        await user.close()
        await harness.wait_until(main_screen)
        await user.close()
        await harness.wait_until(focused_prompt)

        # search, another session, and the end
        await user.run("find", "ctrl+f")
        await harness.wait_until(lambda: "search the conversation" in harness.screen_text())
        await user.close()
        await harness.wait_until(lambda: "search the conversation" not in harness.screen_text())
        await user.run("sessions", "alt+s")
        await harness.wait_until(lambda: isinstance(harness.app.screen, SessionsDialog))
        await harness.wait_until(lambda: harness.commands_of(ListSessions))
        harness.engine.send(SESSION_LIST)
        await harness.wait_until(lambda: "blue door" in harness.screen_text())
        await user.choose("blue door")
        await harness.wait_until(lambda: session_id(harness)() != "s1")
        await harness.wait_until(lambda: "another one" in harness.screen_text())
        await user.run("exit", "ctrl+q")
        await harness.wait_until(lambda: harness.app.return_code == 0)
