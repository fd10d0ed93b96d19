"""The scroll bar painted by the view looks like the one drawn by Textual."""

import pytest
from textual.geometry import Region
from textual.strip import Strip

from kimi_tui.base.content_parts import TextPart
from kimi_tui.tui.terminal.screen_buffer import ScreenBuffer, color_system_of
from kimi_tui.tui.transcript.scrollbar_thumb import ScrollbarThumb
from tests.tui.transcript.conftest import OpenTranscript, TranscriptApp


def render_output(app: TranscriptApp, strips: dict[int, Strip]) -> str:
    placed = [(y, 0, strip) for y, strip in strips.items()]
    return ScreenBuffer().update(placed, app.size, color_system_of(app.console))


@pytest.mark.parametrize(("total", "offset"), [(10, 0), (20, 0), (60, 17), (4000, 3990)])
async def test_the_painted_thumb_matches_textuals_own(
    open_transcript: OpenTranscript, total: int, offset: int
) -> None:
    async with open_transcript(40, 10) as s:
        await s.feed(TextPart("\n\n".join(map(str, range(30)))))
        bar, style_cache = s.transcript.vertical_scrollbar, s.transcript._ensure_style_cache()
        thumb, painted = ScrollbarThumb(), dict[int, Strip]()
        for step_offset in (0, 1, offset):
            painted |= dict(thumb.update(bar, style_cache, total=total, height=10, offset=step_offset))
        expected = dict(enumerate(bar.render_lines(Region(0, 0, 1, 10))))
        assert sorted(painted) == sorted(expected)
        assert render_output(s.app, painted) == render_output(s.app, expected)
