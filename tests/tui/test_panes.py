"""Panes, the pager and the search."""

from dataclasses import replace
from typing import Any

import pytest
from rich.cells import cell_len

from kimi_tui.base.content_parts import TextPart
from kimi_tui.base.message import FunctionCall, ToolCall, ToolCallPart
from kimi_tui.tui.panes.search_line import SearchLine
from kimi_tui.tui.panes.todo import TodoPane
from kimi_tui.tui.panes.tools import ToolsPane
from kimi_tui.wire.commands import Interrupt, ShowTimeline
from kimi_tui.wire.display_blocks import TodoItem
from kimi_tui.wire.events import StepBegin, TodoUpdate, ToolResult, ToolReturn, TurnBegin, TurnEnd
from tests.tui.conftest import SESSION, AppHarness
from tests.tui.timeline.sample_timeline import MESSAGES

LONG = "\n".join(f"test_{number} passed" for number in range(300))


async def run_turn_with_tools(harness: AppHarness) -> None:
    await harness.send(
        TurnBegin("go"),
        StepBegin(1),
        ToolCall("c1", FunctionCall("ReadFile", '{"path": "src/auth.py"}')),
        ToolCall("c2", FunctionCall("Bash", '{"command": "pyt')),
        ToolCallPart('est -q"}', "c2"),
    )
    harness.clock.now += 2.5
    await harness.send(ToolResult("c1", ToolReturn(output="text")))
    await harness.send(ToolResult("c2", ToolReturn(is_error=True, output=LONG, message="failed")))


async def test_tool_calls_are_listed_with_argument_status_and_time(open_app: Any) -> None:
    async with open_app(size=(120, 30)) as harness:
        await run_turn_with_tools(harness)
        await harness.driver.press("ctrl+l")
        await harness.wait_until(lambda: "tools 2" in harness.screen_text())
        text = harness.screen_text()
        assert "✔ ReadFile src/auth.py" in text
        assert "✗ Bash pytest -q" in text
        assert "2.5 s" in text


async def test_enter_opens_a_call_in_the_pager_and_escape_closes_it(open_app: Any) -> None:
    async with open_app(size=(120, 30)) as harness:
        await run_turn_with_tools(harness)
        await harness.driver.press("ctrl+l", "up", "up", "enter")
        await harness.wait_until(
            lambda: "src/auth.py" in harness.screen_text() and len(harness.app.screen_stack) == 2
        )
        await harness.driver.press("escape")
        await harness.wait_until(lambda: len(harness.app.screen_stack) == 1)
        await harness.driver.press("escape")
        await harness.wait_until(lambda: harness.app.focused is harness.screen.prompt.editor)


async def test_a_double_click_opens_a_call(open_app: Any) -> None:
    async with open_app(size=(120, 30)) as harness:
        await run_turn_with_tools(harness)
        await harness.driver.press("ctrl+l")
        await harness.wait_until(lambda: "tools 2" in harness.screen_text())
        await harness.driver.click("ToolsPane", offset=(5, 2), times=2)
        await harness.wait_until(
            lambda: "test_0 passed" in harness.screen_text() and len(harness.app.screen_stack) == 2
        )


async def test_the_pager_scrolls_searches_and_copies(open_app: Any) -> None:
    async with open_app(size=(100, 24)) as harness:
        await run_turn_with_tools(harness)
        await harness.driver.press("ctrl+l", "up", "down", "enter")
        await harness.wait_until(lambda: "test_0 passed" in harness.screen_text())
        await harness.driver.press("G")
        await harness.wait_until(lambda: "test_299 passed" in harness.screen_text())
        await harness.driver.press("g", "slash")
        await harness.type_text("test_25")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: "match 1 of 11" in harness.screen_text())
        assert "test_25 passed" in harness.screen_text()
        await harness.driver.press("n")
        await harness.wait_until(lambda: "match 2 of 11" in harness.screen_text())
        await harness.wait_until(lambda: "test_250 passed" in harness.screen_text())
        await harness.driver.press("y")
        await harness.wait_until(
            lambda: harness.clipboard.text is not None and "test_299 passed" in harness.clipboard.text
        )


async def test_the_conversation_can_be_searched(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.send(TurnBegin("go"), StepBegin(1), TextPart("alpha\n\nbeta alpha\n"))
        await harness.driver.press("ctrl+f")
        await harness.type_text("alpha")
        await harness.wait_until(lambda: "2 of 2" in harness.screen_text())
        await harness.driver.press("down", "escape")
        await harness.wait_until(lambda: "2 of 2" not in harness.screen_text())


async def test_the_timer_stops_once_every_call_has_ended(open_app: Any) -> None:
    async with open_app(size=(120, 30)) as harness:
        await harness.driver.press("ctrl+l")
        await harness.send(TurnBegin("go"), StepBegin(1), ToolCall("c1", FunctionCall("Bash", "{}")))
        pane = harness.app.screen.query_one("ToolsPane")
        await harness.wait_until(lambda: pane._timer is not None)  # type: ignore[attr-defined]
        await harness.send(ToolResult("c1", ToolReturn()))
        await harness.wait_until(lambda: pane._timer is None)  # type: ignore[attr-defined]


async def test_markup_in_names_and_arguments_is_shown_as_text(open_app: Any) -> None:
    async with open_app(size=(120, 30)) as harness:
        call = ToolCall("c1", FunctionCall("[b]Bash[/b]", '{"command": "echo [red]x[/]"}'))
        await harness.send(TurnBegin("go"), StepBegin(1), call)
        await harness.driver.press("ctrl+l")
        await harness.wait_until(lambda: "[b]Bash[/b] echo [red]x[/]" in harness.screen_text())


async def test_escape_returns_from_the_conversation_to_the_prompt(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.send(TurnBegin("hello"), StepBegin(1))
        transcript = harness.screen.controllers.session_view.transcript
        transcript.focus()
        await harness.driver.press("escape")
        await harness.wait_until(lambda: harness.commands_of(Interrupt))
        assert transcript.has_focus
        await harness.send(TurnEnd("cancelled"))
        await harness.driver.press("escape")
        await harness.wait_until(lambda: harness.screen.prompt.editor.has_focus)


async def test_escape_leaves_a_pane_without_interrupting(open_app: Any) -> None:
    async with open_app() as harness:
        await run_turn_with_tools(harness)
        await harness.driver.press("ctrl+l")
        await harness.wait_until(lambda: isinstance(harness.app.focused, ToolsPane))
        await harness.driver.press("escape")
        await harness.wait_until(lambda: harness.screen.prompt.editor.has_focus)
        assert not harness.commands_of(Interrupt)


async def test_escape_closes_a_covering_pane_without_interrupting(
    open_app: Any,
) -> None:
    async with open_app(size=(80, 24)) as harness:
        await run_turn_with_tools(harness)
        await harness.driver.press("ctrl+l")
        await harness.wait_until(lambda: isinstance(harness.app.focused, ToolsPane))
        await harness.driver.press("escape")
        await harness.wait_until(
            lambda: harness.screen.prompt.editor.has_focus and "╭─ tools" not in harness.screen_text()
        )
        await harness.driver.press("ctrl+t")
        await harness.wait_until(lambda: "╭─ todo" in harness.screen_text())
        await harness.driver.press("escape")
        await harness.wait_until(lambda: "╭─ todo" not in harness.screen_text())
        assert not harness.commands_of(Interrupt)


async def test_a_long_todo_list_scrolls_to_the_current_item(open_app: Any) -> None:
    async with open_app(size=(80, 24)) as harness:
        todos = [TodoItem(f"part {number} " + "with many words " * 4, "done") for number in range(100, 160)]
        todos += [TodoItem("part 160", "in_progress"), *(TodoItem(f"part {n}") for n in range(161, 300))]
        await harness.send(TodoUpdate(tuple(todos)))
        await harness.driver.press("ctrl+t")
        await harness.wait_until(
            lambda: "▸ part 160" in harness.screen_text() and "✔ part 159" in harness.screen_text()
        )
        done = replace(todos[60], status="done"), replace(todos[61], status="in_progress")
        await harness.send(TodoUpdate((*todos[:60], *done, *todos[62:])))
        await harness.wait_until(lambda: "▸ part 161" in harness.screen_text())


async def click_text(harness: AppHarness, text: str) -> None:
    """Click the first occurrence of `text`."""
    await harness.wait_until(lambda: text in harness.screen_text())
    lines = harness.screen_text().split("\n")
    y = next(y for y, line in enumerate(lines) if text in line)
    await harness.driver.click(offset=(cell_len(lines[y][: lines[y].index(text)]), y))


async def test_dialogs_open_and_close_by_click(open_app: Any) -> None:
    async with open_app(size=(80, 24)) as harness:
        for label in ("f1 help", "ctrl+p palette"):
            await click_text(harness, label)
            await harness.wait_until(lambda: len(harness.app.screen_stack) == 2)
            await click_text(harness, "esc close")
            await harness.wait_until(lambda: len(harness.app.screen_stack) == 1)
        await harness.driver.press("ctrl+f", "x")
        await click_text(harness, "esc close")
        await harness.wait_until(lambda: not harness.screen.query(SearchLine))


async def test_a_click_interrupts_the_agent_or_edits_a_queued_prompt(open_app: Any) -> None:
    async with open_app(size=(80, 24)) as harness:
        await harness.send(TurnBegin("hello"), StepBegin(1))
        await harness.type_text("later")
        await harness.driver.press("enter")
        await click_text(harness, "to edit it")
        await harness.wait_until(lambda: harness.screen.prompt.editor.text == "later")
        await click_text(harness, "esc to interrupt")
        await harness.wait_until(lambda: harness.commands_of(Interrupt))


async def test_actions_of_a_selected_block_are_listed_and_clickable(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.send(*MESSAGES)

        def status_bar() -> str:
            return harness.screen_text().splitlines()[-1]

        async def click(label: str) -> None:
            await harness.driver.click(offset=(status_bar().index(label), 29))

        assert "revert to before this" not in status_bar()
        lines = harness.screen_text().splitlines()
        await harness.driver.click(
            offset=(6, next(y for y, line in enumerate(lines) if "All tests pass" in line))
        )
        await harness.wait_until(lambda: "r revert to before this  y copy  o view" in status_bar())
        assert "fold" not in status_bar(), "a response can't be folded"
        await click("y copy")
        await harness.wait_until(lambda: harness.clipboard.text == "All tests pass now.")
        await click("r revert")
        await harness.wait_until(lambda: harness.commands_of(ShowTimeline))
        await harness.driver.press("escape")
        await harness.wait_until(lambda: "revert to before this" not in status_bar())


async def test_a_read_only_session_offers_no_revert(open_app: Any) -> None:
    async with open_app(session=replace(SESSION, read_only=True)) as harness:
        await harness.send(*MESSAGES)
        harness.screen.controllers.session_view.transcript.focus()
        await harness.driver.press("alt+up")
        await harness.wait_until(lambda: "y copy" in harness.screen_text())
        assert "revert to before this" not in harness.screen_text()


async def test_panes_do_not_cover_the_timeline_on_a_narrow_terminal(open_app: Any) -> None:
    async with open_app(size=(80, 24)) as harness:
        await harness.send(TurnBegin("hello"), TodoUpdate((TodoItem("fix it"),)), TurnEnd())
        await harness.driver.press("ctrl+t", "ctrl+l")
        await harness.wait_until(lambda: "todo" in harness.screen_text() and "tools" in harness.screen_text())
        await harness.driver.press("f3")
        await harness.wait_until(lambda: "timeline" in harness.screen_text().split("\n")[1])
        await harness.wait_until(
            lambda: "╭─ todo" not in harness.screen_text() and "╭─ tools" not in harness.screen_text()
        )
        await harness.driver.press("ctrl+t")
        await harness.wait_until(lambda: "╭─ todo" in harness.screen_text())


async def test_a_finished_todo_list_folds_away(open_app: Any) -> None:
    async with open_app(size=(120, 30)) as harness:
        await harness.send(TodoUpdate((TodoItem("write it", "in_progress"),)))
        await harness.wait_until(lambda: harness.screen.query_one(TodoPane).region.width > 0)
        await harness.send(TodoUpdate((TodoItem("write it", "done"),)))
        await harness.wait_until(lambda: harness.screen.query_one(TodoPane).region.width == 0)


async def test_escape_closes_the_focused_todo_list_and_does_not_interrupt(open_app: Any) -> None:
    async with open_app(size=(120, 30)) as harness:
        await harness.send(TurnBegin("go"), TodoUpdate((TodoItem("write it", "in_progress"),)))
        pane = harness.screen.query_one(TodoPane)
        await harness.wait_until(lambda: pane.region.width > 0)
        pane.focus()
        await harness.wait_until(lambda: pane.has_focus)
        await harness.driver.press("escape")
        await harness.wait_until(lambda: pane.region.width == 0 and harness.screen.prompt.editor.has_focus)
        assert not harness.commands_of(Interrupt)


@pytest.mark.parametrize(
    ("width", "covers"), [(100, True), (129, True), (130, False), (140, False), (170, False)]
)
async def test_the_conversation_keeps_60_columns_beside_two_panes(
    open_app: Any, width: int, covers: bool
) -> None:
    async with open_app(size=(width, 30)) as harness:
        await harness.driver.press("f3")
        await harness.wait_until(lambda: harness.screen.query("TimelinePane"))
        await harness.driver.press("ctrl+l")
        tools = harness.screen.query_one(ToolsPane)
        await harness.wait_until(lambda: tools.region.width > 0)
        conversation = harness.screen.query_one("#conversation").region
        assert conversation.width >= 60
        assert (tools.region.x < conversation.right) == covers
        assert tools.region.right == width


async def test_the_tools_pane_opens_at_the_newest_call(open_app: Any) -> None:
    async with open_app(size=(120, 20)) as harness:
        calls = [ToolCall(f"c{n}", FunctionCall("ReadFile", f'{{"path": "file{n}.py"}}')) for n in range(40)]
        await harness.send(TurnBegin("go"), StepBegin(1), *calls)
        await harness.driver.press("ctrl+l")
        pane = harness.screen.query_one(ToolsPane)
        await harness.wait_until(
            lambda: pane.region.height > 0 and pane.scroll_offset.y == pane.max_scroll_y > 0
        )
