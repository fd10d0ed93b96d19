"""The life of the app: opening, failing, leaving."""

import asyncio
import time
from dataclasses import replace
from typing import Any

import pytest
from textual import events
from textual.widgets import Input

from kimi_tui.base.content import TextPart
from kimi_tui.base.errors import ConfigError
from kimi_tui.base.message import FunctionCall, ToolCall
from kimi_tui.tui.app import KimiTuiApp
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.commands import Interrupt, Prompt, RunSlash, SetModel, Shutdown
from kimi_tui.wire.display import TodoItem
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
from tests.patience import PATIENCE_S
from tests.tui.conftest import SESSION
from tests.tui.hand import Hand
from tests.wire.hostile import assert_harmless, every_message


async def test_an_answer_appears(open_desk: Any) -> None:
    async with open_desk() as desk:
        await desk.say(TurnBegin("hello"), StepBegin(1), TextPart("Good **morning**."), TurnEnd())
        await desk.until(lambda: "Good morning." in desk.shown())


async def test_what_opens_while_nobody_looks_takes_the_keys_when_somebody_does(open_desk: Any) -> None:
    async with open_desk() as desk:
        desk.app.post_message(events.AppBlur())
        await desk.until(lambda: not desk.app.app_focus)
        await desk.app.action_palette()
        await desk.until(lambda: desk.app.screen is not desk.screen and desk.app.screen.query("Input"))
        await desk.write("themes")
        await desk.until(lambda: desk.app.screen.query_one("Input", Input).value == "themes")


async def test_the_first_prompt_goes_out_by_itself(open_desk: Any) -> None:
    async with open_desk(initial_prompt="fix it") as desk:
        await desk.until(lambda: desk.told(Prompt) == [Prompt("fix it")])


async def test_a_first_prompt_may_be_a_command(open_desk: Any) -> None:
    async with open_desk(initial_prompt="/title my shop") as desk:
        await desk.until(lambda: desk.told(RunSlash) == [RunSlash("title my shop")])


async def test_the_header_names_work_dir_title_and_model(open_desk: Any) -> None:
    async with open_desk(session=replace(SESSION, thinking=True, yolo=True)) as desk:
        header = desk.shown().split("\n")[0]
        for word in ("kimi-tui", "shop", "fix login", "kimi-k2", "thinking", "yolo"):
            assert word in header


async def test_the_status_bar_shows_context_cost_and_tokens(open_desk: Any) -> None:
    from kimi_tui.base.usage import TokenUsage

    async with open_desk() as desk:
        usage = TokenUsage(1, 12_400)
        await desk.say(
            TurnBegin("x"),
            StepBegin(7),
            StatusUpdate(context_tokens=68_000, max_context_tokens=200_000, session_usage=usage),
            CostUpdate(0.11),
        )
        status = desk.shown().split("\n")[-1]
        for word in ("34%", "68k/200k", "step 7", "12.4k out", "$0.11", "ctrl+p palette", "f1 help"):
            assert word in status


async def test_the_branch_is_read_from_the_repository(open_desk: Any, options: Any) -> None:
    (options.work_dir / ".git").mkdir()
    (options.work_dir / ".git" / "HEAD").write_text("ref: refs/heads/feature/x\n")
    async with open_desk() as desk:
        await desk.until(lambda: "feature/x" in desk.shown())


async def test_the_demo_is_called_a_demo(open_desk: Any) -> None:
    async with open_desk(session=replace(SESSION, model="demo", model_kind="demo")) as desk:
        assert "demo, not a model" in desk.shown()
        assert "Type /login" in desk.words()
        await desk.pilot.click("Banner", offset=(1, 0))
        assert "scripted answers" not in desk.words()


async def test_a_long_name_of_a_model_leaves_room_for_the_work_dir(open_desk: Any) -> None:
    async with open_desk(size=(80, 24), session=replace(SESSION, model="a-model-" * 8)) as desk:
        await desk.until(lambda: "/shop " in desk.shown().split("\n")[0])
        assert desk.shown().split("\n")[0].rstrip().endswith("a-model-a-model-a-model-a-m…")


async def test_a_long_title_takes_the_room_there_is(open_desk: Any) -> None:
    async with open_desk(size=(120, 24), session=replace(SESSION, title="mend the login " * 9)) as desk:
        await desk.until(lambda: "mend the login mend" in desk.shown().split("\n")[0])
        header = desk.shown().split("\n")[0].rstrip()
        assert header.endswith(f"…  {SESSION.model}")


async def test_without_a_model_the_way_to_one_is_shown(open_desk: Any) -> None:
    async with open_desk(session=replace(SESSION, model="", model_kind="")) as desk:
        assert "No model is connected" in desk.shown()


async def test_a_click_on_the_model_lets_one_choose_another(open_desk: Any) -> None:
    async with open_desk() as desk:
        await desk.pilot.click("HeaderLine", offset=(100 - 5, 0))
        await desk.until(lambda: "opus" in desk.shown())
        await desk.write("op")
        await desk.pilot.press("enter")
        await desk.until(lambda: desk.told(SetModel) == [SetModel("opus")])


async def test_the_palette_runs_commands(open_desk: Any) -> None:
    async with open_desk() as desk:
        await desk.pilot.press("ctrl+p")
        await desk.until(lambda: len(desk.app.screen_stack) == 2)
        await desk.write("clear")
        await desk.pilot.press("enter")
        await desk.until(lambda: desk.told(RunSlash) == [RunSlash("clear")])


async def test_the_help_lists_commands_and_keys_and_closes(open_desk: Any) -> None:
    async with open_desk(size=(100, 60), keymap={"panes.todo": "f9"}) as desk:
        await desk.pilot.press("f1")
        await desk.until(lambda: "/exit /quit /q" in desk.shown())
        assert "/title" in desk.shown()
        await desk.pilot.press("escape")
        await desk.until(lambda: len(desk.app.screen_stack) == 1)
        await desk.write("/keys")
        await desk.pilot.press("enter")
        await desk.until(lambda: "f9" in desk.shown())


async def test_keys_can_be_remapped(open_desk: Any) -> None:
    async with open_desk(
        keymap={"prompt.send": "ctrl+g", "prompt.newline": "enter", "prompt.focus": "f8"}
    ) as desk:
        await desk.write("a")
        await desk.pilot.press("enter", "b", "ctrl+g")
        await desk.until(lambda: desk.told(Prompt) == [Prompt("a\nb")])


async def test_the_hints_of_the_pager_and_of_a_list_name_the_keys_of_the_users_map(open_desk: Any) -> None:
    async with open_desk(
        keymap={"pager.copy": "c", "pager.page_down": "f", "picker.close": "f9", "prompt.search": "f8"}
    ) as desk:
        await desk.write("sent before")
        await desk.pilot.press("enter", "f8")
        await desk.until(lambda: "f9 close" in desk.shown())
        await desk.pilot.press("f9")
        await desk.until(lambda: len(desk.app.screen_stack) == 1)
        await desk.write("/debug")
        await desk.pilot.press("enter")
        await desk.until(lambda: "c copy all of it" in desk.shown())
        assert "f a page down  b a page up  / search" in desk.shown()


async def test_unknown_names_in_the_key_map_are_reported(open_desk: Any) -> None:
    async with open_desk(keymap={"prompt.sned": "f5"}) as desk:
        await desk.until(lambda: "prompt.sned" in desk.shown())


@pytest.mark.parametrize("theme", ["dark", "light", "high-contrast"])
async def test_a_theme_can_be_asked_for(open_desk: Any, theme: str) -> None:
    async with open_desk(theme=theme) as desk:
        assert desk.app.theme == theme


async def test_the_todo_list_comes_by_itself_on_a_wide_terminal(open_desk: Any) -> None:
    async with open_desk(size=(110, 30)) as desk:
        await desk.say(TodoUpdate((TodoItem("write the test", "in_progress"), TodoItem("run it"))))
        await desk.until(lambda: "todo 0/2" in desk.shown())
        await desk.pilot.press("ctrl+t")
        await desk.until(lambda: "todo 0/2" not in desk.shown())


async def test_the_todo_list_lies_over_a_narrow_terminal_when_asked_for(open_desk: Any) -> None:
    async with open_desk(size=(80, 24)) as desk:
        await desk.say(TodoUpdate((TodoItem("write the test"),)))
        assert "write the test" not in desk.shown()
        await desk.pilot.press("ctrl+t")
        await desk.until(lambda: "write the test" in desk.shown())


@pytest.mark.parametrize("size", [(39, 24), (80, 9)])
async def test_a_terminal_too_small_says_so_and_nothing_else(open_desk: Any, size: tuple[int, int]) -> None:
    async with open_desk(size=size) as desk:
        desk.app.notify("A notice, which is in the way.", timeout=3600)
        await desk.until(lambda: desk.app.screen.query("Toast"))
        await desk.pilot.pause()
        assert "needs 40 x 10" in desk.shown()
        assert "in the way" not in desk.shown()
        await desk.pilot.resize_terminal(80, 24)
        await desk.until(lambda: "Ask anything" in desk.shown() and "in the way" in desk.shown())


# failing and leaving


async def test_a_session_that_cannot_open_says_why_and_lets_one_leave(open_desk: Any) -> None:
    error = ConfigError("config.toml, line 3: theme is “drak”.", hint="Write dark or light.")
    async with open_desk(error=error) as desk:
        await desk.until(
            lambda: "theme is “drak”." in desk.shown() and "Write dark or light." in desk.shown()
        )
        await desk.write("hello")
        await desk.pilot.press("enter")
        await desk.until(lambda: "The session is over" in desk.shown())
        assert desk.prompt_text == "hello"
        await desk.pilot.press("ctrl+q")
        await desk.until(lambda: desk.app.return_code == 1)


async def test_leaving_lets_the_engine_save(open_desk: Any) -> None:
    async with open_desk() as desk:
        await desk.pilot.press("ctrl+d")
        await desk.until(lambda: desk.told(Shutdown) == [Shutdown()])
        await desk.until(lambda: desk.app.return_code == 0)


async def test_an_engine_that_does_not_answer_is_left_at_the_second_try(open_desk: Any) -> None:
    async with open_desk() as desk:
        desk.engine.deaf = True
        await desk.pilot.press("ctrl+q")
        await desk.until(lambda: desk.told(Shutdown))
        assert desk.app.return_code is None
        await desk.pilot.press("ctrl+q")
        await desk.until(lambda: desk.app.return_code == 0)


async def test_ctrl_c_clears_then_interrupts_then_leaves(open_desk: Any) -> None:
    async with open_desk() as desk:
        await desk.say(TurnBegin("x"), StepBegin(1))
        await desk.write("draft")
        await desk.pilot.press("ctrl+c")
        assert desk.prompt_text == ""
        assert desk.told(Interrupt) == []
        await desk.pilot.press("ctrl+c")
        await desk.until(lambda: desk.told(Interrupt))
        await desk.say(TurnEnd("cancelled"))
        await desk.pilot.press("ctrl+c")
        await desk.until(lambda: "Press ctrl+c again to leave." in desk.shown())
        await desk.pilot.press("ctrl+c")
        await desk.until(lambda: desk.app.return_code == 0)


async def test_a_cleared_draft_comes_back_with_undo(open_desk: Any) -> None:
    async with open_desk() as desk:
        await desk.write("precious")
        await desk.pilot.press("ctrl+c", "ctrl+z")
        assert desk.prompt_text == "precious"


async def test_ctrl_c_long_after_does_not_leave(open_desk: Any) -> None:
    async with open_desk() as desk:
        await desk.pilot.press("ctrl+c")
        desk.clock.now += 10
        await desk.pilot.press("ctrl+c")
        await desk.pilot.pause()
        assert desk.told(Shutdown) == []


async def test_ctrl_c_copies_what_is_selected(open_desk: Any) -> None:
    async with open_desk() as desk:
        await desk.write("abc")
        await desk.pilot.press("shift+left", "shift+left", "ctrl+c")
        await desk.until(lambda: desk.clipboard.text == "bc")
        assert desk.prompt_text == "abc"
        await desk.until(lambda: "Copied 2 characters." in desk.shown())


async def test_a_copy_without_a_clipboard_is_honest(open_desk: Any) -> None:
    async with open_desk() as desk:
        desk.clipboard.works = False
        await desk.write("abc")
        await desk.pilot.press("shift+left", "ctrl+c")
        await desk.until(lambda: "Asked the terminal to copy 1 character" in desk.shown())
        assert desk.app.clipboard == "c"


async def test_the_engine_going_by_itself_is_noticed(open_desk: Any) -> None:
    async with open_desk() as desk:
        desk.engine._wire.close()
        await desk.write("hello")
        await desk.pilot.press("enter")
        await desk.until(lambda: "The session is over" in desk.shown())


async def test_an_engine_that_breaks_is_told_of(options: Any) -> None:
    wire = Wire()

    async def broken() -> None:
        wire.send(SessionInfo("s", "/w", "", "m", "kimi", "default"))
        await asyncio.sleep(0)
        raise ValueError("boom [red]")

    app = KimiTuiApp(wire=wire, start=broken, options=options)
    async with app.run_test(size=(100, 30), notifications=True):
        pilot = Hand(app)
        text, deadline = "", time.monotonic() + PATIENCE_S
        while "boom [red]" not in text:
            assert time.monotonic() < deadline, text
            await pilot.pause()
            await asyncio.sleep(0.005)
            text = "".join(strip.text for strip in app.screen._compositor.render_strips())
        await pilot.press("ctrl+q")
        assert app.return_code == 1


async def test_a_key_that_was_given_twice_is_reported(open_desk: Any) -> None:
    async with open_desk(keymap={"panes.todo": "ctrl+l"}) as desk:
        await desk.until(lambda: "The key map gives ctrl+l to panes.todo and" in desk.words())


HOSTILE = "[red]x[/red] \x1b]0;evil\x07\x1b[2J\u202egpj\u200b\r\n[link=http://evil]y"


async def test_hostile_text_in_any_field_is_shown_harmlessly(open_desk: Any) -> None:
    session = replace(
        SESSION,
        title=HOSTILE,
        model=HOSTILE,
        agent=HOSTILE,
        models=(HOSTILE,),
        slash_commands=(SlashCommandInfo("bad", HOSTILE),),
    )
    async with open_desk(size=(200, 50), session=session) as desk:
        await desk.say(
            TodoUpdate((TodoItem(HOSTILE, "in_progress"),)),
            TurnBegin(HOSTILE),
            StepBegin(1),
            TextPart(HOSTILE),
            ToolCall("c", FunctionCall(HOSTILE, '{"command": "\\u001b[31mred"}')),
        )
        await desk.pilot.press("ctrl+l")
        await desk.write("/bad")
        await desk.until(lambda: "tools 1" in desk.shown())
        await desk.pilot.press("ctrl+c", "ctrl+p")
        await desk.until(lambda: len(desk.app.screen_stack) == 2)
        text = desk.shown()
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert text.count("[red]x[/red]") >= 4
        assert desk.app.return_code is None


async def test_no_field_of_any_message_drives_the_terminal_or_costs_the_app(
    open_desk: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_desk(size=(200, 60)) as desk:
        await desk.pilot.press("f3", "ctrl+l")
        messages = list(every_message())
        for few in range(0, len(messages), 40):
            await desk.say(SnapshotProgress(few, -1), *messages[few : few + 40])
            assert_harmless(desk.shown())
        assert desk.app.return_code is None
    assert "could not be shown" not in caplog.text
