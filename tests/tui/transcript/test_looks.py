"""Colours come from the theme, and text from outside never drives the terminal."""

import pytest
from rich.cells import cell_len

from kimi_tui.base.assets import read_asset
from kimi_tui.base.content import TextPart, ThinkPart
from kimi_tui.base.message import FunctionCall, ToolCall
from kimi_tui.tui.transcript.palette import ROLES
from kimi_tui.wire.display import BriefBlock, DiffBlock
from kimi_tui.wire.events import Notification, ToolOutput, ToolResult, ToolReturn, TurnBegin
from tests.tui.transcript.conftest import OpenStage, Stage

HOSTILE = (
    "\x1b]0;title\x07\x1b[2J\x1b[31mred\x1b[0m \u202eflipped\u202c \x9b5A [bold]not markup[/bold] "
    "\u200b\u200d\ud800 \x00\x08 " + "x" * 3_000
)


def styles(s: Stage, y: int) -> list[object]:
    return [segment.style for segment in s.transcript.render_line(y)]


async def test_another_theme_recolours_without_laying_out_again(stage: OpenStage) -> None:
    async with stage() as s:
        await s.feed(TurnBegin("hello"), TextPart("# Title"))
        before, layouts = styles(s, 1), s.transcript.gallery.layouts
        s.host.theme = "textual-light"
        await s.pilot.pause()
        await s.pilot.pause()
        assert styles(s, 1) != before
        assert s.transcript.gallery.layouts == layouts


@pytest.mark.parametrize("theme", ["ansi-dark", "ansi-light", "textual-dark", "solarized-light"])
async def test_every_theme_draws_everything(stage: OpenStage, theme: str) -> None:
    async with stage(60, 30) as s:
        s.host.theme = theme
        await s.pilot.pause()
        rows = await s.feed(
            TurnBegin("hello"),
            ThinkPart("hm"),
            ToolCall("c", FunctionCall("EditFile", '{"path": "a.py"}')),
            ToolResult("c", ToolReturn(display=(DiffBlock("a.py", "x = 1", "x = 2"),))),
            TextPart("# T\n\n`code` **bold** [l](https://a.b)\n\n| a |\n|---|\n| 1 |\n\n```py\nx = 1\n```"),
        )
        assert "x = 2" in "\n".join(rows)


async def test_without_colours_the_words_still_differ(
    stage: OpenStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with stage() as s:
        await s.feed(TextPart("plain **bold**"))
        segments = [segment for segment in s.transcript.render_line(1) if segment.text.strip()]
        assert [segment.style.bold or False for segment in segments if segment.style] == [False, True]
        for segment in segments:
            assert segment.style is not None
            for colour in (segment.style.color, segment.style.bgcolor):
                if colour is not None and colour.triplet is not None:
                    assert len(set(colour.triplet)) == 1


async def test_hostile_text_is_shown_harmlessly_wherever_it_stands(stage: OpenStage) -> None:
    async with stage(50, 30) as s:
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


async def test_markup_of_rich_and_textual_is_text(stage: OpenStage) -> None:
    async with stage() as s:
        rows = await s.feed(TurnBegin("[red]hi[/red] [@click=app.quit]x[/]"))
        assert rows[2] == "  ▌ [red]hi[/red] [@click=app.quit]x[/]"


async def test_only_web_addresses_reach_the_terminal_as_links(stage: OpenStage) -> None:
    async with stage(60, 10) as s:
        await s.feed(TextPart("[a](https://example.org) `src/a.py`"))
        links = {segment.text: segment.style.link for segment in s.transcript.render_line(1) if segment.style}
        assert (links["a"], links["src/a.py"]) == ("https://example.org", None)


async def test_it_draws_at_any_size(stage: OpenStage) -> None:
    async with stage(40, 10) as s:
        await s.feed(
            TurnBegin("你好"), TextPart("| a | b |\n|---|---|\n| 中文 | x |\n\n1. **文字**\n   > quote")
        )
        for size in ((1, 1), (3, 2), (8, 4), (16, 3), (200, 60)):
            await s.pilot.resize_terminal(*size)
            while s.transcript.size != size:
                await s.pilot.pause(0.005)
            assert all(s.transcript.render_line(y).cell_length == size[0] for y in range(size[1]))


async def test_in_the_terminals_own_colours_changed_lines_are_green_and_red(stage: OpenStage) -> None:
    async with stage(60, 10) as s:
        s.host.theme = "ansi-dark"
        await s.pilot.pause()
        await s.feed(
            ToolCall("c", FunctionCall("EditFile", '{"path": "a.py"}')),
            ToolResult("c", ToolReturn(display=(DiffBlock("a.py", "x = 1", "x = 2"),))),
        )
        colours = [
            {
                segment.style.color.number
                for segment in s.transcript.render_line(y)
                if "x" in segment.text and segment.style
            }
            for y in (2, 3)
        ]
        assert colours == [{1}, {2}]


def test_every_role_has_its_looks_in_the_style_sheet() -> None:
    sheet = read_asset("styles", "transcript.tcss")
    assert [role for role in ROLES if f".transcript--{role} {{" not in sheet] == []
