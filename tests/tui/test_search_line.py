"""Search input of the conversation."""

from typing import Any

from kimi_tui.wire.events import TurnBegin


async def test_the_query_is_visible(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.send(TurnBegin("a zebra crossing"))
        await harness.driver.press("ctrl+f")
        await harness.type_text("crossing")
        await harness.wait_until(lambda: "1 match" in harness.screen_text())
        line = next(line for line in harness.screen_text().split("\n") if "1 match" in line)
        assert "crossing" in line
