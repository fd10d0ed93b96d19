"""Width of text in terminal cells: the same with and without a screen."""

import pytest
from textual.content import Content

from kimi_tui.frontend.text.cell_width import cell_len, pad_left, pad_right

WIDTHS = {
    "abc": 3,
    "检查点": 6,
    "ｶﾞ": 2,
    "한국": 4,
    "\u1100\u1161": 2,  # a syllable in two parts
    "é": 1,
    "e\u0301": 1,
    "zero\u200bwidth": 9,
    "🙂": 2,
    "👍🏽": 2,  # with a skin tone
    "🇩🇪": 2,
    "👩\u200d💻": 2,
    "👨\u200d👩\u200d👧\u200d👦": 2,
    "❤": 1,
    "❤\ufe0f": 2,
    "1\ufe0f\u20e3": 2,
    "☎\ufe0e": 1,
}


@pytest.mark.parametrize(("text", "cells"), WIDTHS.items())
def test_text_takes_as_many_cells_as_on_the_screen(text: str, cells: int) -> None:
    assert cell_len(text) == Content(text).cell_length == cells


def test_text_is_padded_to_a_width_in_cells() -> None:
    assert pad_right("时间线", 8) == "时间线  "
    assert pad_left("👩\u200d💻", 4) == "  👩\u200d💻"
    assert pad_right("timeline", 4) == "timeline"
