"""The app: start, layout, errors, shutdown."""

import asyncio
import time
from dataclasses import replace
from typing import Any

import pytest
from textual import events
from textual.widgets import Input

from kimi_tui.base.content_parts import TextPart
from kimi_tui.base.errors import ConfigError
from kimi_tui.base.message import FunctionCall, ToolCall
from kimi_tui.tui.app import KimiTuiApp
from kimi_tui.tui.timeline.view import TimelineView
from kimi_tui.wire.background import BackgroundTask, TasksUpdate
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.commands import Interrupt, Prompt, RunSlash, SetModel, Shutdown
from kimi_tui.wire.display_blocks import TodoItem
from kimi_tui.wire.events import (
    CostUpdate,
    SessionInfo,
    SlashCommandInfo,
    SnapshotProgress,
    StatusUpdate,
    StepBegin,
    TodoUpdate,
    TurnBegin,
    TurnEnd,
)
from tests.timeouts import TEST_TIMEOUT_S
from tests.tui.app_driver import AppDriver
from tests.tui.conftest import SESSION
from tests.wire.hostile_messages import assert_harmless, every_message


async def test_a_response_is_shown(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.send(TurnBegin("hello"), StepBegin(1), TextPart("Good **morning**."), TurnEnd())
        await harness.wait_until(lambda: "Good morning." in harness.screen_text())


async def test_a_dialog_opened_while_blurred_gets_the_focus(open_app: Any) -> None:
    async with open_app() as harness:
        harness.app.post_message(events.AppBlur())
        await harness.wait_until(lambda: not harness.app.app_focus)
        await harness.app.action_palette()
        await harness.wait_until(
            lambda: harness.app.screen is not harness.screen and harness.app.screen.query("Input")
        )
        await harness.type_text("themes")
        await harness.wait_until(lambda: harness.app.screen.query_one("Input", Input).value == "themes")


async def test_the_initial_prompt_is_sent_automatically(open_app: Any) -> None:
    async with open_app(initial_prompt="fix it") as harness:
        await harness.wait_until(lambda: harness.commands_of(Prompt) == [Prompt("fix it")])


async def test_the_initial_prompt_can_be_a_command(open_app: Any) -> None:
    async with open_app(initial_prompt="/title my shop") as harness:
        await harness.wait_until(lambda: harness.commands_of(RunSlash) == [RunSlash("title my shop")])


async def test_the_header_shows_working_directory_title_and_model(open_app: Any) -> None:
    async with open_app(session=replace(SESSION, thinking=True)) as harness:
        header = harness.screen_text().split("\n")[0]
        for word in ("kimi-tui", "shop", "fix login", "kimi-k2", "thinking"):
            assert word in header


async def test_the_status_bar_shows_context_cost_and_tokens(open_app: Any) -> None:
    from kimi_tui.base.token_usage import TokenUsage

    async with open_app() as harness:
        usage = TokenUsage(1, 12_400)
        await harness.send(
            TurnBegin("x"),
            StepBegin(7),
            StatusUpdate(context_tokens=68_000, max_context_tokens=200_000, session_usage=usage),
            CostUpdate(0.11),
        )
        status = harness.screen_text().split("\n")[-1]
        for word in ("34%", "68k/200k", "step 7", "12.4k out", "$0.11", "ctrl+p palette", "f1 help"):
            assert word in status


async def test_the_git_branch_is_shown(open_app: Any, options: Any) -> None:
    (options.work_dir / ".git").mkdir()
    (options.work_dir / ".git" / "HEAD").write_text("ref: refs/heads/feature/x\n")
    async with open_app() as harness:
        await harness.wait_until(lambda: "feature/x" in harness.screen_text())


async def test_the_demo_is_labeled_as_a_demo(open_app: Any) -> None:
    async with open_app(session=replace(SESSION, model="demo", model_kind="demo")) as harness:
        assert "demo, no model" in harness.screen_text()
        assert "Type /login" in harness.unwrapped_text()
        await harness.driver.click("Banner", offset=(1, 0))
        assert "Offline demo" not in harness.unwrapped_text()


async def test_a_long_model_name_leaves_room_for_the_working_directory(open_app: Any) -> None:
    async with open_app(size=(80, 24), session=replace(SESSION, model="a-model-" * 8)) as harness:
        await harness.wait_until(lambda: "/shop " in harness.screen_text().split("\n")[0])
        assert harness.screen_text().split("\n")[0].rstrip().endswith("a-model-a-model-a-model-a-m…")


async def test_a_long_title_fills_the_available_space(open_app: Any) -> None:
    async with open_app(size=(120, 24), session=replace(SESSION, title="fix the login " * 9)) as harness:
        await harness.wait_until(lambda: "fix the login fix" in harness.screen_text().split("\n")[0])
        header = harness.screen_text().split("\n")[0].rstrip()
        assert header.endswith(f"…  {SESSION.model}")


async def test_a_session_without_a_model_shows_how_to_connect_one(open_app: Any) -> None:
    async with open_app(session=replace(SESSION, model="", model_kind="")) as harness:
        assert "No model is configured" in harness.screen_text()


async def test_clicking_the_model_opens_the_model_picker(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.driver.click("HeaderLine", offset=(100 - 5, 0))
        await harness.wait_until(lambda: "opus" in harness.screen_text())
        await harness.type_text("op")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: harness.commands_of(SetModel) == [SetModel("opus")])


async def test_the_palette_runs_commands(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.driver.press("ctrl+p")
        await harness.wait_until(lambda: len(harness.app.screen_stack) == 2)
        await harness.type_text("clear")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: harness.commands_of(RunSlash) == [RunSlash("clear")])


async def test_help_lists_keys_and_finds_commands(open_app: Any) -> None:
    async with open_app(size=(100, 60), keymap={"panes.todo": "f9"}) as harness:
        await harness.driver.press("f1")
        await harness.wait_until(lambda: "f9                          todo list" in harness.screen_text())
        await harness.driver.press(*"quit")
        await harness.wait_until(lambda: "/exit /quit /q" in harness.screen_text())
        assert "ctrl+q                      quit" in harness.screen_text()
        assert "todo list" not in harness.screen_text()
        await harness.driver.press("escape")
        await harness.wait_until(lambda: "todo list" in harness.screen_text())
        await harness.driver.press("escape")
        await harness.wait_until(lambda: len(harness.app.screen_stack) == 1)


@pytest.mark.parametrize(
    ("words", "found"),
    [("rewind", "/revert"), ("shortcut", "/keys"), ("reset", "/clear"), ("clipboard paste", "ctrl+v")],
)
async def test_help_finds_what_people_mean(open_app: Any, words: str, found: str) -> None:
    async with open_app(size=(100, 60)) as harness:
        await harness.driver.press("f1")
        await harness.wait_until(lambda: harness.app.screen.query("#help-query"))
        await harness.type_text(words)
        await harness.wait_until(lambda: found in harness.screen_text())


async def test_help_opens_with_the_commands_and_keys_of_a_topic(open_app: Any) -> None:
    async with open_app(size=(100, 60)) as harness:
        await harness.type_text("/help timeline")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: "Commands: Timeline" in harness.screen_text())
        assert "/revert" in harness.screen_text()
        assert "timeline.undo" in harness.screen_text()
        assert "/model" not in harness.screen_text()
        await harness.driver.press("escape")
        await harness.wait_until(lambda: not harness.app.screen.query("#help-query"))


async def test_keys_lists_only_keys(open_app: Any) -> None:
    async with open_app(size=(100, 60), keymap={"panes.todo": "f9"}) as harness:
        await harness.type_text("/keys")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: "f9                          todo list" in harness.screen_text())
        await harness.type_text("/exit")
        await harness.wait_until(lambda: "“/exit” not found" in harness.screen_text())


async def test_keys_can_be_remapped(open_app: Any) -> None:
    async with open_app(
        keymap={"prompt.send": "ctrl+g", "prompt.newline": "enter", "prompt.focus": "f8"}
    ) as harness:
        await harness.type_text("a")
        await harness.driver.press("enter", "b", "ctrl+g")
        await harness.wait_until(lambda: harness.commands_of(Prompt) == [Prompt("a\nb")])


async def test_key_hints_of_pager_and_lists_use_the_users_keymap(open_app: Any) -> None:
    async with open_app(
        keymap={"pager.copy": "c", "pager.page_down": "f", "picker.close": "f9", "prompt.search": "f8"}
    ) as harness:
        await harness.type_text("sent before")
        await harness.driver.press("enter", "f8")
        await harness.wait_until(lambda: "f9 close" in harness.screen_text())
        await harness.driver.press("f9")
        await harness.wait_until(lambda: len(harness.app.screen_stack) == 1)
        await harness.type_text("/debug")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: "c copy all" in harness.screen_text())
        assert "f page down  b page up  / search" in harness.screen_text()


async def test_unknown_ids_in_the_keymap_are_reported(open_app: Any) -> None:
    async with open_app(keymap={"prompt.sned": "f5"}) as harness:
        await harness.wait_until(lambda: "prompt.sned" in harness.screen_text())


@pytest.mark.parametrize("theme", ["dark", "light", "high-contrast"])
async def test_the_theme_option_sets_the_theme(open_app: Any, theme: str) -> None:
    async with open_app(theme=theme) as harness:
        assert harness.app.theme == theme


async def test_the_todo_list_opens_automatically_on_a_wide_terminal(open_app: Any) -> None:
    async with open_app(size=(110, 30)) as harness:
        await harness.send(TodoUpdate((TodoItem("write the test", "in_progress"), TodoItem("run it"))))
        await harness.wait_until(lambda: "todo 0/2" in harness.screen_text())
        await harness.driver.press("ctrl+t")
        await harness.wait_until(lambda: "todo 0/2" not in harness.screen_text())


async def test_the_todo_list_is_an_overlay_on_a_narrow_terminal(open_app: Any) -> None:
    async with open_app(size=(80, 24)) as harness:
        await harness.send(TodoUpdate((TodoItem("write the test"),)))
        assert "write the test" not in harness.screen_text()
        await harness.driver.press("ctrl+t")
        await harness.wait_until(lambda: "write the test" in harness.screen_text())


@pytest.mark.parametrize("size", [(39, 24), (80, 9)])
async def test_a_terminal_that_is_too_small_shows_only_a_message(
    open_app: Any, size: tuple[int, int]
) -> None:
    async with open_app(size=size) as harness:
        harness.app.notify("A notice, which is in the way.", timeout=3600)
        await harness.wait_until(lambda: harness.app.screen.query("Toast"))
        await harness.driver.pause()
        assert "needs 40 x 10" in harness.screen_text()
        assert "in the way" not in harness.screen_text()
        await harness.driver.resize_terminal(80, 24)
        await harness.wait_until(
            lambda: "Ask anything" in harness.screen_text() and "in the way" in harness.screen_text()
        )


@pytest.mark.parametrize("size", [(39, 24), (80, 9)])
async def test_the_prompt_accepts_text_while_and_after_the_terminal_was_too_small(
    open_app: Any, size: tuple[int, int]
) -> None:
    async with open_app() as harness:
        await harness.type_text("be")
        await harness.driver.resize_terminal(*size)
        await harness.wait_until(lambda: "needs 40 x 10" in harness.screen_text())
        await harness.driver.press("f", "o")
        await harness.driver.resize_terminal(80, 24)
        await harness.wait_until(lambda: "Ask anything" not in harness.screen_text())
        await harness.driver.press("r", "e")
        await harness.wait_until(lambda: harness.prompt_text == "before")


async def test_the_timeline_keeps_the_focus_when_the_terminal_was_too_small_for_a_moment(
    open_app: Any,
) -> None:
    async with open_app(size=(120, 30)) as harness:
        await harness.driver.press("f3")
        await harness.wait_until(lambda: harness.screen.query(TimelineView))
        for size in [(30, 8), (120, 30)]:
            await harness.driver.resize_terminal(*size)
            await harness.driver.pause()
        await harness.wait_until(lambda: isinstance(harness.screen.focused, TimelineView))


# errors and shutdown


async def test_a_session_that_fails_to_open_shows_the_error_and_can_be_left(open_app: Any) -> None:
    error = ConfigError("config.toml, line 3: theme is “drak”.", hint="Write dark or light.")
    async with open_app(error=error) as harness:
        await harness.wait_until(
            lambda: (
                "theme is “drak”." in harness.screen_text()
                and "Write dark or light." in harness.screen_text()
            )
        )
        await harness.type_text("hello")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: "The session has ended" in harness.screen_text())
        assert harness.prompt_text == "hello"
        await harness.driver.press("ctrl+q")
        await harness.wait_until(lambda: harness.app.return_code == 1)


async def test_leaving_shuts_the_engine_down(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.driver.press("ctrl+d")
        await harness.wait_until(lambda: harness.commands_of(Shutdown) == [Shutdown()])
        await harness.wait_until(lambda: harness.app.return_code == 0)


async def test_leaving_asks_before_it_stops_background_tasks(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.send(TasksUpdate((BackgroundTask("t1", "bash", "serve the docs"),)))
        await harness.driver.press("ctrl+d")
        await harness.wait_until(lambda: "Quit and stop 1 background task?" in harness.screen_text())
        assert "serve the docs" in harness.screen_text()
        await harness.driver.press("escape")
        await harness.driver.pause()
        assert harness.commands_of(Shutdown) == []
        await harness.driver.press("ctrl+d")
        await harness.wait_until(lambda: "Quit and stop 1 background task?" in harness.screen_text())
        await harness.driver.press("down", "enter")
        await harness.wait_until(lambda: harness.commands_of(Shutdown) == [Shutdown()])


async def test_leaving_twice_exits_without_waiting_for_the_engine(open_app: Any) -> None:
    async with open_app() as harness:
        harness.engine.ignores_shutdown = True
        await harness.driver.press("ctrl+q")
        await harness.wait_until(lambda: harness.commands_of(Shutdown))
        assert harness.app.return_code is None
        await harness.driver.press("ctrl+q")
        await harness.wait_until(lambda: harness.app.return_code == 0)


async def test_ctrl_c_clears_then_interrupts_then_leaves(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.send(TurnBegin("x"), StepBegin(1))
        await harness.type_text("draft")
        await harness.driver.press("ctrl+c")
        assert harness.prompt_text == ""
        assert harness.commands_of(Interrupt) == []
        await harness.driver.press("ctrl+c")
        await harness.wait_until(lambda: harness.commands_of(Interrupt))
        await harness.send(TurnEnd("cancelled"))
        await harness.driver.press("ctrl+c")
        await harness.wait_until(lambda: "Press ctrl+c again to quit" in harness.screen_text())
        await harness.driver.press("ctrl+c")
        await harness.wait_until(lambda: harness.app.return_code == 0)


async def test_a_cleared_draft_is_restored_with_undo(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.type_text("precious")
        await harness.driver.press("ctrl+c", "ctrl+z")
        assert harness.prompt_text == "precious"


async def test_a_late_second_ctrl_c_does_not_leave(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.driver.press("ctrl+c")
        harness.clock.now += 10
        await harness.driver.press("ctrl+c")
        await harness.driver.pause()
        assert harness.commands_of(Shutdown) == []


async def test_ctrl_c_copies_the_selection(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.type_text("abc")
        await harness.driver.press("shift+left", "shift+left", "ctrl+c")
        await harness.wait_until(lambda: harness.clipboard.text == "bc")
        assert harness.prompt_text == "abc"
        await harness.wait_until(lambda: "Copied 2 characters." in harness.screen_text())


async def test_a_copy_without_a_clipboard_uses_the_terminal(open_app: Any) -> None:
    async with open_app() as harness:
        harness.clipboard.is_available = False
        await harness.type_text("abc")
        await harness.driver.press("shift+left", "ctrl+c")
        await harness.wait_until(
            lambda: "Sent 1 character to the terminal's clipboard" in harness.screen_text()
        )
        assert harness.app.clipboard == "c"


async def test_an_engine_that_ends_is_noticed(open_app: Any) -> None:
    async with open_app() as harness:
        harness.engine._wire.close()
        await harness.type_text("hello")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: "The session has ended" in harness.screen_text())


async def test_an_engine_error_is_shown(options: Any) -> None:
    wire = Wire()

    async def failing_engine() -> None:
        wire.send(SessionInfo("s", "/w", "", "m", "kimi", "default"))
        await asyncio.sleep(0)
        raise ValueError("boom [red]")

    app = KimiTuiApp(wire=wire, start=failing_engine, options=options)
    async with app.run_test(size=(100, 30), notifications=True):
        pilot = AppDriver(app)
        text, deadline = "", time.monotonic() + TEST_TIMEOUT_S
        while "boom [red]" not in text:
            assert time.monotonic() < deadline, text
            await pilot.pause()
            await asyncio.sleep(0.005)
            text = "".join(strip.text for strip in app.screen._compositor.render_strips())
        await pilot.press("ctrl+q")
        assert app.return_code == 1


async def test_a_key_bound_twice_is_reported(open_app: Any) -> None:
    async with open_app(keymap={"panes.todo": "ctrl+l"}) as harness:
        await harness.wait_until(
            lambda: "The keymap assigns ctrl+l to panes.todo and" in harness.unwrapped_text()
        )


HOSTILE = "[red]x[/red] \x1b]0;evil\x07\x1b[2J\u202egpj\u200b\r\n[link=http://evil]y"


async def test_hostile_text_in_any_field_is_sanitized(open_app: Any) -> None:
    session = replace(
        SESSION,
        title=HOSTILE,
        model=HOSTILE,
        agent=HOSTILE,
        models=(HOSTILE,),
        slash_commands=(SlashCommandInfo("bad", HOSTILE),),
    )
    async with open_app(size=(200, 50), session=session) as harness:
        await harness.send(
            TodoUpdate((TodoItem(HOSTILE, "in_progress"),)),
            TurnBegin(HOSTILE),
            StepBegin(1),
            TextPart(HOSTILE),
            ToolCall("c", FunctionCall(HOSTILE, '{"command": "\\u001b[31mred"}')),
        )
        await harness.driver.press("ctrl+l")
        await harness.type_text("/bad")
        await harness.wait_until(lambda: "tools 1" in harness.screen_text())
        await harness.driver.press("ctrl+c", "ctrl+p")
        await harness.wait_until(lambda: len(harness.app.screen_stack) == 2)
        text = harness.screen_text()
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert text.count("[red]x[/red]") >= 4
        assert harness.app.return_code is None


async def test_no_field_of_any_message_controls_the_terminal_or_crashes_the_app(
    open_app: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_app(size=(200, 60)) as harness:
        await harness.driver.press("f3", "ctrl+l")
        messages = list(every_message())
        for start in range(0, len(messages), 40):
            await harness.send(SnapshotProgress(start, -1), *messages[start : start + 40])
            assert_harmless(harness.screen_text())
        assert harness.app.return_code is None
    assert "could not be shown" not in caplog.text
