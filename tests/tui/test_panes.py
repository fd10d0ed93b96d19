"""The panes, the pager and the search."""

from dataclasses import replace
from typing import Any

from kimi_tui.base.content import TextPart
from kimi_tui.base.message import FunctionCall, ToolCall, ToolCallPart
from kimi_tui.language.width import cells
from kimi_tui.tui.panes.search import SearchLine
from kimi_tui.tui.panes.tools import ToolsPane
from kimi_tui.wire.commands import Interrupt, ShowTimeline
from kimi_tui.wire.display import TodoItem
from kimi_tui.wire.events import StepBegin, TodoUpdate, ToolResult, ToolReturn, TurnBegin, TurnEnd
from tests.tui.conftest import SESSION, Desk
from tests.tui.timeline.story import TALK

LONG = "\n".join(f"test_{number} passed" for number in range(300))


async def worked(desk: Desk) -> None:
    await desk.say(
        TurnBegin("go"),
        StepBegin(1),
        ToolCall("c1", FunctionCall("ReadFile", '{"path": "src/auth.py"}')),
        ToolCall("c2", FunctionCall("Bash", '{"command": "pyt')),
        ToolCallPart('est -q"}', "c2"),
    )
    desk.clock.now += 2.5
    await desk.say(ToolResult("c1", ToolReturn(output="text")))
    await desk.say(ToolResult("c2", ToolReturn(is_error=True, output=LONG, message="failed")))


async def test_tool_calls_are_listed_with_argument_status_and_time(open_desk: Any) -> None:
    async with open_desk(size=(120, 30)) as desk:
        await worked(desk)
        await desk.pilot.press("ctrl+l")
        await desk.until(lambda: "tools 2" in desk.shown())
        text = desk.shown()
        assert "✔ ReadFile src/auth.py" in text
        assert "✗ Bash pytest -q" in text
        assert "2.5 s" in text


async def test_enter_opens_a_call_in_the_pager_and_escape_closes_it(open_desk: Any) -> None:
    async with open_desk(size=(120, 30)) as desk:
        await worked(desk)
        await desk.pilot.press("ctrl+l", "up", "up", "enter")
        await desk.until(lambda: "src/auth.py" in desk.shown() and len(desk.app.screen_stack) == 2)
        await desk.pilot.press("escape")
        await desk.until(lambda: len(desk.app.screen_stack) == 1)
        await desk.pilot.press("escape")
        await desk.until(lambda: desk.app.focused is desk.screen.prompt.editor)


async def test_a_double_click_opens_a_call(open_desk: Any) -> None:
    async with open_desk(size=(120, 30)) as desk:
        await worked(desk)
        await desk.pilot.press("ctrl+l")
        await desk.until(lambda: "tools 2" in desk.shown())
        await desk.pilot.click("ToolsPane", offset=(5, 2), times=2)
        await desk.until(lambda: "test_0 passed" in desk.shown() and len(desk.app.screen_stack) == 2)


async def test_the_pager_scrolls_searches_and_copies(open_desk: Any) -> None:
    async with open_desk(size=(100, 24)) as desk:
        await worked(desk)
        await desk.pilot.press("ctrl+l", "up", "down", "enter")
        await desk.until(lambda: "test_0 passed" in desk.shown())
        await desk.pilot.press("G")
        await desk.until(lambda: "test_299 passed" in desk.shown())
        await desk.pilot.press("g", "slash")
        await desk.write("test_25")
        await desk.pilot.press("enter")
        await desk.until(lambda: "match 1 of 11" in desk.shown())
        assert "test_25 passed" in desk.shown()
        await desk.pilot.press("n")
        await desk.until(lambda: "match 2 of 11" in desk.shown())
        await desk.until(lambda: "test_250 passed" in desk.shown())
        await desk.pilot.press("y")
        await desk.until(lambda: desk.clipboard.text is not None and "test_299 passed" in desk.clipboard.text)


async def test_the_conversation_can_be_searched(open_desk: Any) -> None:
    async with open_desk() as desk:
        await desk.say(TurnBegin("go"), StepBegin(1), TextPart("alpha\n\nbeta alpha\n"))
        await desk.pilot.press("ctrl+f")
        await desk.write("alpha")
        await desk.until(lambda: "2 matches" in desk.shown())
        await desk.pilot.press("down", "escape")
        await desk.until(lambda: "2 matches" not in desk.shown())


async def test_nothing_ticks_once_every_call_has_ended(open_desk: Any) -> None:
    async with open_desk(size=(120, 30)) as desk:
        await desk.pilot.press("ctrl+l")
        await desk.say(TurnBegin("go"), StepBegin(1), ToolCall("c1", FunctionCall("Bash", "{}")))
        pane = desk.app.screen.query_one("ToolsPane")
        await desk.until(lambda: pane._timer is not None)  # type: ignore[attr-defined]
        await desk.say(ToolResult("c1", ToolReturn()))
        await desk.until(lambda: pane._timer is None)  # type: ignore[attr-defined]


async def test_markup_in_names_and_arguments_is_text(open_desk: Any) -> None:
    async with open_desk(size=(120, 30)) as desk:
        call = ToolCall("c1", FunctionCall("[b]Bash[/b]", '{"command": "echo [red]x[/]"}'))
        await desk.say(TurnBegin("go"), StepBegin(1), call)
        await desk.pilot.press("ctrl+l")
        await desk.until(lambda: "[b]Bash[/b] echo [red]x[/]" in desk.shown())


async def test_escape_leads_from_the_conversation_back_to_the_prompt(open_desk: Any) -> None:
    async with open_desk() as desk:
        await desk.say(TurnBegin("hello"), StepBegin(1))
        transcript = desk.screen.furnished.workbench.transcript
        transcript.focus()
        await desk.pilot.press("escape")
        await desk.until(lambda: desk.told(Interrupt))
        assert transcript.has_focus
        await desk.say(TurnEnd("cancelled"))
        await desk.pilot.press("escape")
        await desk.until(lambda: desk.screen.prompt.editor.has_focus)


async def test_escape_leaves_a_pane_and_interrupts_nothing(open_desk: Any) -> None:
    async with open_desk() as desk:
        await worked(desk)
        await desk.pilot.press("ctrl+l")
        await desk.until(lambda: isinstance(desk.app.focused, ToolsPane))
        await desk.pilot.press("escape")
        await desk.until(lambda: desk.screen.prompt.editor.has_focus)
        assert not desk.told(Interrupt)


async def test_escape_closes_a_pane_that_lies_over_a_narrow_terminal_and_interrupts_nothing(
    open_desk: Any,
) -> None:
    async with open_desk(size=(80, 24)) as desk:
        await worked(desk)
        await desk.pilot.press("ctrl+l")
        await desk.until(lambda: isinstance(desk.app.focused, ToolsPane))
        await desk.pilot.press("escape")
        await desk.until(lambda: desk.screen.prompt.editor.has_focus and "╭─ tools" not in desk.shown())
        await desk.pilot.press("ctrl+t")
        await desk.until(lambda: "╭─ todo" in desk.shown())
        await desk.pilot.press("escape")
        await desk.until(lambda: "╭─ todo" not in desk.shown())
        assert not desk.told(Interrupt)


async def test_a_long_todo_list_is_shown_where_the_work_is(open_desk: Any) -> None:
    async with open_desk(size=(80, 24)) as desk:
        todos = [TodoItem(f"part {number} " + "with many words " * 4, "done") for number in range(100, 160)]
        todos += [TodoItem("part 160", "in_progress"), *(TodoItem(f"part {at}") for at in range(161, 300))]
        await desk.say(TodoUpdate(tuple(todos)))
        await desk.pilot.press("ctrl+t")
        await desk.until(lambda: "▸ part 160" in desk.shown() and "✔ part 159" in desk.shown())
        done = replace(todos[60], status="done"), replace(todos[61], status="in_progress")
        await desk.say(TodoUpdate((*todos[:60], *done, *todos[62:])))
        await desk.until(lambda: "▸ part 161" in desk.shown())


async def click_on(desk: Any, text: str) -> None:
    """Click the letters `text`, where they stand first."""
    await desk.until(lambda: text in desk.shown())
    lines = desk.shown().split("\n")
    y = next(y for y, line in enumerate(lines) if text in line)
    await desk.pilot.click(offset=(cells(lines[y][: lines[y].index(text)]), y))


async def test_what_opens_by_a_click_can_be_left_by_one(open_desk: Any) -> None:
    async with open_desk(size=(80, 24)) as desk:
        for opened in ("f1 help", "ctrl+p palette"):
            await click_on(desk, opened)
            await desk.until(lambda: len(desk.app.screen_stack) == 2)
            await click_on(desk, "esc close")
            await desk.until(lambda: len(desk.app.screen_stack) == 1)
        await desk.pilot.press("ctrl+f", "x")
        await click_on(desk, "esc ends")
        await desk.until(lambda: not desk.screen.query(SearchLine))


async def test_the_agent_is_interrupted_by_a_click_and_a_queued_prompt_taken_back(open_desk: Any) -> None:
    async with open_desk(size=(80, 24)) as desk:
        await desk.say(TurnBegin("hello"), StepBegin(1))
        await desk.write("later")
        await desk.pilot.press("enter")
        await click_on(desk, "takes it back")
        await desk.until(lambda: desk.screen.prompt.editor.text == "later")
        await click_on(desk, "esc interrupts")
        await desk.until(lambda: desk.told(Interrupt))


async def test_what_can_be_done_with_a_selected_block_is_named_and_clicked(open_desk: Any) -> None:
    async with open_desk() as desk:
        await desk.say(*TALK)

        def foot() -> str:
            return desk.shown().splitlines()[-1]

        async def click(words: str) -> None:
            await desk.pilot.click(offset=(foot().index(words), 29))

        assert "back to before it" not in foot()
        lines = desk.shown().splitlines()
        await desk.pilot.click(
            offset=(6, next(y for y, line in enumerate(lines) if "All tests pass" in line))
        )
        await desk.until(lambda: "r back to before it  y copy  o read" in foot())
        assert "fold" not in foot(), "an answer can't be folded"
        await click("y copy")
        await desk.until(lambda: desk.clipboard.text == "All tests pass now.")
        await click("r back")
        await desk.until(lambda: desk.told(ShowTimeline))
        await desk.pilot.press("escape")
        await desk.until(lambda: "back to before it" not in foot())


async def test_nothing_goes_back_in_a_session_that_is_only_read(open_desk: Any) -> None:
    async with open_desk(session=replace(SESSION, read_only=True)) as desk:
        await desk.say(*TALK)
        desk.screen.transcript.focus()
        await desk.pilot.press("alt+up")
        await desk.until(lambda: "y copy" in desk.shown())
        assert "back to before it" not in desk.shown()


async def test_on_a_narrow_terminal_the_timeline_is_not_covered_by_panes(open_desk: Any) -> None:
    async with open_desk(size=(80, 24)) as desk:
        await desk.say(TurnBegin("hello"), TodoUpdate((TodoItem("mend it"),)), TurnEnd())
        await desk.pilot.press("ctrl+t", "ctrl+l")
        await desk.until(lambda: "todo" in desk.shown() and "tools" in desk.shown())
        await desk.pilot.press("f3")
        await desk.until(lambda: "timeline" in desk.shown().split("\n")[1])
        await desk.until(lambda: "╭─ todo" not in desk.shown() and "╭─ tools" not in desk.shown())
        await desk.pilot.press("ctrl+t")
        await desk.until(lambda: "╭─ todo" in desk.shown())
