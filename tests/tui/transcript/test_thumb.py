"""The scroll bar looks the same whoever draws it: the view past the compositor, or Textual."""

import pytest
from textual.geometry import Region
from textual.strip import Strip

from kimi_tui.base.content import TextPart
from kimi_tui.tui.terminal_mirror import TerminalMirror, colours_of
from kimi_tui.tui.transcript.thumb import Thumb
from tests.tui.transcript.conftest import Host, OpenStage


def sent(host: Host, strips: dict[int, Strip]) -> str:
    placed = [(y, 0, strip) for y, strip in strips.items()]
    return TerminalMirror().sequences(placed, host.size, colours_of(host.console))


@pytest.mark.parametrize(("total", "offset"), [(10, 0), (20, 0), (60, 17), (4000, 3990)])
async def test_the_painted_thumb_is_the_one_that_textual_draws(
    stage: OpenStage, total: int, offset: int
) -> None:
    async with stage(40, 10) as s:
        await s.feed(TextPart("\n\n".join(map(str, range(30)))))
        bar, palette = s.transcript.vertical_scrollbar, s.transcript._colours()
        thumb, painted = Thumb(), dict[int, Strip]()
        for at in (0, 1, offset):
            painted |= dict(thumb.follow(bar, palette, total=total, height=10, offset=at))
        drawn = dict(enumerate(bar.render_lines(Region(0, 0, 1, 10))))
        assert sorted(painted) == sorted(drawn)
        assert sent(s.host, painted) == sent(s.host, drawn)
