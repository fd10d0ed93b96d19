"""The line in which one types what to search for."""

from typing import Any

from kimi_tui.wire.events import TurnBegin


async def test_what_is_searched_for_stands_in_the_line(open_desk: Any) -> None:
    async with open_desk() as desk:
        await desk.say(TurnBegin("a zebra crossing"))
        await desk.pilot.press("ctrl+f")
        await desk.write("crossing")
        await desk.until(lambda: "1 match" in desk.shown())
        line = next(line for line in desk.shown().split("\n") if "1 match" in line)
        assert "crossing" in line
