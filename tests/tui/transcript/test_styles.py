"""Colors come from the theme, and external text can't control the terminal."""

import pytest
from rich.cells import cell_len

from kimi_tui.base.assets import read_asset
from kimi_tui.base.content_parts import TextPart, ThinkPart
from kimi_tui.base.message import FunctionCall, ToolCall
from kimi_tui.tui.transcript.style_cache import ROLES
from kimi_tui.wire.display_blocks import BriefBlock, DiffBlock
from kimi_tui.wire.events import Notification, ToolOutput, ToolResult, ToolReturn, TurnBegin
from tests.tui.transcript.conftest import OpenTranscript, TranscriptHarness

HOSTILE = (
    "\x1b]0;title\x07\x1b[2J\x1b[31mred\x1b[0m \u202eflipped\u202c \x9b5A [bold]not markup[/bold] "
    "\u200b\u200d\ud800 \x00\x08 " + "x" * 3_000
)


def styles_of_row(s: TranscriptHarness, y: int) -> list[object]:
    return [segment.style for segment in s.transcript.render_line(y)]


async def test_changing_the_theme_recolors_without_a_new_layout(open_transcript: OpenTranscript) -> None:
    async with open_transcript() as s:
        await s.feed(TurnBegin("hello"), TextPart("# Title"))
        before, layouts = styles_of_row(s, 1), s.transcript.render_cache.layout_count
        s.app.theme = "textual-light"
        await s.driver.pause()
        await s.driver.pause()
        assert styles_of_row(s, 1) != before
        assert s.transcript.render_cache.layout_count == layouts


@pytest.mark.parametrize("theme", ["ansi-dark", "ansi-light", "textual-dark", "solarized-light"])
async def test_every_theme_draws_everything(open_transcript: OpenTranscript, theme: str) -> None:
    async with open_transcript(60, 30) as s:
        s.app.theme = theme
        await s.driver.pause()
        rows = await s.feed(
            TurnBegin("hello"),
            ThinkPart("hm"),
            ToolCall("c", FunctionCall("EditFile", '{"path": "a.py"}')),
            ToolResult("c", ToolReturn(display=(DiffBlock("a.py", "x = 1", "x = 2"),))),
            TextPart("# T\n\n`code` **bold** [l](https://a.b)\n\n| a |\n|---|\n| 1 |\n\n```py\nx = 1\n```"),
        )
        assert "x = 2" in "\n".join(rows)


async def test_text_attributes_remain_without_colors(
    open_transcript: OpenTranscript, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with open_transcript() as s:
        await s.feed(TextPart("plain **bold**"))
        segments = [segment for segment in s.transcript.render_line(1) if segment.text.strip()]
        assert [segment.style.bold or False for segment in segments if segment.style] == [False, True]
        for segment in segments:
            assert segment.style is not None
            for color in (segment.style.color, segment.style.bgcolor):
                if color is not None and color.triplet is not None:
                    assert len(set(color.triplet)) == 1


async def test_hostile_text_is_sanitized_everywhere(open_transcript: OpenTranscript) -> None:
    async with open_transcript(50, 30) as s:
        for messages in (
            [TurnBegin(HOSTILE)],
            [TextPart(HOSTILE)],
            [TextPart(f"```{HOSTILE}\n{HOSTILE}\n```")],
            [ThinkPart(HOSTILE)],
            [ToolCall("c", FunctionCall(HOSTILE, f'{{"command": "{HOSTILE}')), ToolOutput("c", HOSTILE)],
            [ToolResult("c", ToolReturn(is_error=True, output=HOSTILE, message=HOSTILE))],
            [
                ToolCall("d", FunctionCall("EditFile")),
                ToolResult("d", ToolReturn(display=(DiffBlock(HOSTILE, HOSTILE, "y"), BriefBlock(HOSTILE)))),
            ],
            [Notification("n", "", "", "", "", HOSTILE, HOSTILE, "error")],
        ):
            await s.feed(*messages)
            await s.press("z")
            for y in range(30):
                strip = s.transcript.render_line(y)
                assert strip.text.isprintable() or not set(strip.text) - set(
                    "\u200b\u200d\ufe0f"
                ) - _printable(strip.text)
                assert "\x1b" not in strip.text
                assert "\u202e" not in strip.text
                assert cell_len(strip.text) == 50


def _printable(text: str) -> set[str]:
    return {character for character in text if character.isprintable()}


async def test_rich_and_textual_markup_is_shown_as_text(open_transcript: OpenTranscript) -> None:
    async with open_transcript() as s:
        rows = await s.feed(TurnBegin("[red]hi[/red] [@click=app.quit]x[/]"))
        assert rows[2] == "  ▌ [red]hi[/red] [@click=app.quit]x[/]"


async def test_only_web_addresses_reach_the_terminal_as_links(open_transcript: OpenTranscript) -> None:
    async with open_transcript(60, 10) as s:
        await s.feed(TextPart("[a](https://example.org) `src/a.py`"))
        links = {segment.text: segment.style.link for segment in s.transcript.render_line(1) if segment.style}
        assert (links["a"], links["src/a.py"]) == ("https://example.org", None)


async def test_it_draws_at_any_size(open_transcript: OpenTranscript) -> None:
    async with open_transcript(40, 10) as s:
        await s.feed(
            TurnBegin("你好"), TextPart("| a | b |\n|---|---|\n| 中文 | x |\n\n1. **文字**\n   > quote")
        )
        for size in ((1, 1), (3, 2), (8, 4), (16, 3), (200, 60)):
            await s.driver.resize_terminal(*size)
            while s.transcript.size != size:
                await s.driver.pause(0.005)
            assert all(s.transcript.render_line(y).cell_length == size[0] for y in range(size[1]))


async def test_changed_lines_are_green_and_red_in_ansi_themes(
    open_transcript: OpenTranscript,
) -> None:
    async with open_transcript(60, 10) as s:
        s.app.theme = "ansi-dark"
        await s.driver.pause()
        await s.feed(
            ToolCall("c", FunctionCall("EditFile", '{"path": "a.py"}')),
            ToolResult("c", ToolReturn(display=(DiffBlock("a.py", "x = 1", "x = 2"),))),
        )
        colors = [
            {
                segment.style.color.number
                for segment in s.transcript.render_line(y)
                if "x" in segment.text and segment.style
            }
            for y in (2, 3)
        ]
        assert colors == [{1}, {2}]


def test_every_role_is_defined_in_the_style_sheet() -> None:
    sheet = read_asset("styles", "transcript.tcss")
    assert [role for role in ROLES if f".transcript--{role} {{" not in sheet] == []
