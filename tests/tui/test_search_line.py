"""Search input of the conversation."""

from typing import Any

from kimi_tui.base.content_parts import TextPart
from kimi_tui.base.message import FunctionCall, ToolCall
from kimi_tui.tui.transcript.transcript import Transcript
from kimi_tui.wire.events import ToolResult, ToolReturn, TurnBegin


async def test_the_query_is_visible(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.send(TurnBegin("a zebra crossing"))
        await harness.driver.press("ctrl+f")
        await harness.type_text("crossing")
        await harness.wait_until(lambda: "1 of 1" in harness.screen_text())
        line = next(line for line in harness.screen_text().split("\n") if "1 of 1" in line)
        assert "crossing" in line


async def test_the_number_of_the_current_match_is_shown_also_in_tool_output(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.send(
            TurnBegin("find the needle"),
            ToolCall("c1", FunctionCall("Bash", '{"command": "cat hay"}')),
            ToolResult("c1", ToolReturn(False, "hay\nneedle\nhay\nneedle\n", "", ())),
            TextPart("The needle is in hay."),
        )
        await harness.driver.press("ctrl+f")
        await harness.type_text("needle")
        await harness.wait_until(lambda: "4 of 4" in harness.screen_text())
        for number in ("3 of 4", "2 of 4", "1 of 4", "4 of 4"):
            await harness.driver.press("up")
            await harness.wait_until(lambda number=number: number in harness.screen_text())


async def test_escape_returns_to_where_the_search_was_opened(open_app: Any) -> None:
    async with open_app(size=(80, 24)) as harness:
        await harness.send(TurnBegin("a zebra crossing"))
        await harness.driver.press("ctrl+f", "escape")
        await harness.wait_until(lambda: harness.screen.prompt.editor.has_focus)
        await harness.type_text("and then")
        assert harness.prompt_text == "and then"
        transcript = harness.screen.query_one(Transcript)
        transcript.focus()
        await harness.driver.press("slash", "x", "escape")
        await harness.wait_until(lambda: transcript.has_focus)
