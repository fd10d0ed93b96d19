"""Output of the screen buffer: the same screen as Textual's frames, in as few bytes as possible."""

import re
import unicodedata

import pyte
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.color import ColorSystem
from rich.segment import Segment
from rich.style import Style
from textual.geometry import Offset, Size
from textual.strip import Strip

from kimi_tui.tui.terminal.screen_buffer import ScreenBuffer
from kimi_tui.tui.terminal.sequence_writer import SequenceWriter

WIDTH, HEIGHT = 24, 12
SIZE = Size(WIDTH, HEIGHT)
TEXT = Style(color="#d9dee8", bgcolor="#0e1117")
BOLD = TEXT + Style(bold=True)


class ErasingScreen(pyte.Screen):
    """Erases with the background color, as most terminals do. pyte does so only in some places."""

    def index(self) -> None:
        bottom = self.margins.bottom if self.margins else self.lines - 1
        will_scroll = self.cursor.y == bottom
        super().index()
        if will_scroll:
            self._fill(bottom)

    def reverse_index(self) -> None:
        top = self.margins.top if self.margins else 0
        will_scroll = self.cursor.y == top
        super().reverse_index()
        if will_scroll:
            self._fill(top)

    def _fill(self, y: int) -> None:
        for x in range(self.columns):
            self.buffer[y][x] = self.cursor.attrs._replace(data=" ")


class FakeTerminal:
    """A terminal emulator behind a screen buffer."""

    def __init__(self, *, can_erase: bool = False) -> None:
        self.buffer = ScreenBuffer(SequenceWriter(can_erase=can_erase))
        self.screen = (ErasingScreen if can_erase else pyte.Screen)(WIDTH, HEIGHT)
        self.stream = pyte.Stream(self.screen)
        self.sent = ""

    def show(self, lines: list[str], *, style: Style = TEXT, first: int = 0) -> None:
        self.put([(y, 0, full_width_strip(line, style)) for y, line in enumerate(lines, first)])

    def put(self, placed: list[tuple[int, int, Strip]], *, cursor: Offset | None = None) -> None:
        self.sent = self.buffer.update(placed, SIZE, ColorSystem.TRUECOLOR, cursor=cursor)
        self.stream.feed(self.sent)

    @property
    def lines(self) -> list[str]:
        return [line.rstrip() for line in self.screen.display]


def full_width_strip(line: str, style: Style = TEXT) -> Strip:
    return Strip([Segment(line, style)]).adjust_cell_length(WIDTH, style)


def test_an_unchanged_frame_sends_nothing() -> None:
    terminal = FakeTerminal()
    terminal.show(["one", "two"])
    terminal.show(["one", "two"])
    assert terminal.sent == ""


def test_only_changed_cells_are_sent() -> None:
    terminal = FakeTerminal()
    terminal.show(["the quick fox", "jumps"])
    terminal.show(["the quick cat", "jumps"])
    assert "cat" in terminal.sent
    assert "quick" not in terminal.sent
    assert "jumps" not in terminal.sent
    assert terminal.lines[:2] == ["the quick cat", "jumps"]


def test_appended_text_is_sent_without_sequences() -> None:
    terminal = FakeTerminal()
    terminal.show(["the"])
    terminal.show(["the quick"])
    terminal.show(["the quick fox"])
    assert terminal.sent == " fox"


def test_the_cursor_is_left_at_the_given_position() -> None:
    terminal = FakeTerminal()
    terminal.put([(0, 0, full_width_strip("one"))], cursor=Offset(4, 11))
    assert (terminal.screen.cursor.x, terminal.screen.cursor.y) == (4, 11)
    terminal.put([(0, 0, full_width_strip("two"))], cursor=Offset(4, 11))
    assert (terminal.screen.cursor.x, terminal.screen.cursor.y) == (4, 11)
    terminal.put([(0, 0, full_width_strip("two"))], cursor=Offset(4, 11))
    assert terminal.sent == ""


def test_exposed_rows_need_no_blanks_if_the_terminal_erases_with_the_background() -> None:
    erasing, plain = FakeTerminal(can_erase=True), FakeTerminal()
    lines = [chr(ord("a") + n) * (WIDTH - 4) for n in range(HEIGHT)]
    for terminal in (erasing, plain):
        terminal.show(lines)
        terminal.show([*lines[2:], "z", ""])
        assert terminal.lines == [*lines[2:], "z", ""]
    assert len(erasing.sent) < len(plain.sent) - WIDTH
    assert erasing.screen.buffer[HEIGHT - 1][3].bg == "0e1117"


def test_a_change_of_style_is_sent() -> None:
    terminal = FakeTerminal()
    terminal.show(["word"])
    terminal.show(["word"], style=BOLD)
    assert terminal.screen.buffer[0][0].bold


def test_the_colors_of_text_are_not_repeated_around_the_scroll_bar() -> None:
    terminal = FakeTerminal()
    bar = Strip([Segment(" ", Style(bgcolor="#1f2531"))])
    terminal.show(["one", "two", "three"])
    rows = ["uno", "due", "tre"]
    placed = [(y, 0, full_width_strip(row)) for y, row in enumerate(rows)]
    terminal.put([*placed, *((y, WIDTH - 1, bar) for y in range(3))])
    assert terminal.lines[:3] == rows
    assert terminal.sent.count("48;2;31;37;49") == 1
    assert "48;2;14;17;23" not in terminal.sent


def test_rows_that_move_up_are_scrolled_by_the_terminal() -> None:
    terminal = FakeTerminal()
    lines = [f"row {n} {'x' * n}" for n in range(HEIGHT + 2)]
    terminal.show(lines[:HEIGHT])
    whole_frame = len(terminal.sent)
    terminal.show(lines[2 : HEIGHT + 2])
    assert terminal.lines == lines[2 : HEIGHT + 2]
    assert len(terminal.sent) < whole_frame / 2
    assert "row 5" not in terminal.sent


def test_rows_that_move_down_between_others_are_scrolled() -> None:
    terminal = FakeTerminal()
    lines = [f"line {n} {'y' * n}" for n in range(HEIGHT)]
    terminal.show(["head", *lines[2:10], "foot"])
    terminal.show(["head", *lines[1:9], "foot"])
    assert terminal.lines[:10] == ["head", *lines[1:9], "foot"]
    assert "line 5" not in terminal.sent


def test_everything_is_sent_again_after_invalidate() -> None:
    terminal = FakeTerminal()
    terminal.show(["one"] * HEIGHT)
    terminal.screen.reset()
    terminal.buffer.invalidate()
    terminal.show(["one"] * HEIGHT)
    assert terminal.lines == ["one"] * HEIGHT


def test_a_link_opens_and_closes_around_its_text() -> None:
    terminal = FakeTerminal()
    link = TEXT + Style(link="https://example.org/a")
    terminal.put([(0, 0, Strip([Segment("see ", TEXT), Segment("this", link), Segment(" page", TEXT)]))])
    assert terminal.sent.count("\x1b]8;;https://example.org/a\x1b\\this") == 1
    assert terminal.sent.count("\x1b]8;;\x1b\\") == 1


@given(text=st.text(alphabet=st.characters(max_codepoint=0x2FFF), max_size=WIDTH), link=st.text(max_size=8))
def test_control_characters_in_text_and_links_are_removed(text: str, link: str) -> None:
    terminal = FakeTerminal()
    hostile = f"a\x1b]0;owned\x07\x9b2J\x08\r\n\t{text}\u202eb"
    terminal.put([(0, 0, Strip([Segment(hostile, TEXT + Style(link=f"http://x/\x1b\\\x1b[2J{link}"))]))])
    text_only = re.sub(r"\x1b\[[0-9;]*[Hm]|\x1b\]8;;[^\x00-\x1f\x7f-\x9f]*\x1b\\", "", terminal.sent)
    assert text_only.startswith("a]0;owned2J")
    assert not any(unicodedata.category(it) == "Cc" or it == "\u202e" for it in text_only)


def test_wide_characters_are_never_split() -> None:
    terminal = FakeTerminal()
    terminal.show(["你好吗"])
    terminal.show(["你们吗"])
    assert terminal.lines[0].replace(" ", "") == "你们吗"
    terminal.show(["a们吗"])
    assert terminal.lines[0].replace(" ", "") == "a们吗"


FAMILY, HEART, FLAG = "👩\u200d👩\u200d👧", "❤\ufe0f", "🇩🇪"


@pytest.mark.parametrize("cluster", [FAMILY, HEART, FLAG])
def test_text_after_a_grapheme_cluster_stays_in_place(cluster: str) -> None:
    terminal = FakeTerminal()  # its widths differ from the computed ones
    terminal.show(["z" * WIDTH])
    strip = Strip([Segment(f"{cluster} in", TEXT)]).adjust_cell_length(12, TEXT)
    terminal.put([(0, 0, strip), (0, 12, Strip([Segment("│ todo", BOLD)]))])
    shown = [terminal.screen.buffer[0][x].data for x in range(WIDTH)]
    assert shown[0].startswith(cluster[0])
    assert shown[1] in ("", " ", cluster[1:])
    assert shown[2:12] == list(" in       ")
    assert shown[12:] == list("│ todozzzzzz")


def test_a_cluster_with_two_styles_is_sent_as_separate_characters() -> None:
    terminal = FakeTerminal()
    terminal.put([(0, 0, Strip([Segment("👩\u200d", TEXT), Segment("\u200d👧", BOLD), Segment(" x", TEXT)]))])
    assert "\u200d" not in terminal.sent
    assert [terminal.screen.buffer[0][x].data for x in (0, 2, 4, 5)] == ["👩", "👧", " ", "x"]


SEGMENT_TEXTS = st.text(alphabet="ab 你好e\u0301─", min_size=0, max_size=10)


def build_strip(segments: list[tuple[str, Style]]) -> Strip:
    # No combining character in the last column: pyte would place it differently.
    strip = Strip([Segment(text.lstrip("\u0301"), style) for text, style in segments])
    return strip.crop(0, WIDTH - 2).adjust_cell_length(WIDTH, TEXT)


STRIPS = st.lists(st.tuples(SEGMENT_TEXTS, st.sampled_from([TEXT, BOLD])), max_size=3).map(build_strip)
FRAMES = st.lists(
    st.one_of(
        st.lists(STRIPS, min_size=HEIGHT, max_size=HEIGHT).map(lambda strips: list(enumerate(strips))),
        st.lists(st.tuples(st.integers(0, HEIGHT - 1), STRIPS), max_size=4),
        st.integers(-4, 4),
    ),
    min_size=1,
    max_size=6,
)


@settings(max_examples=60, deadline=None)
@given(FRAMES, st.booleans())
def test_incremental_and_full_frames_look_the_same(
    frames: list[list[tuple[int, Strip]] | int], can_erase: bool
) -> None:
    incremental, full = FakeTerminal(can_erase=can_erase), FakeTerminal()
    rows = [full_width_strip("") for _ in range(HEIGHT)]
    incremental.put([(y, 0, row) for y, row in enumerate(rows)])
    for frame in frames:
        if isinstance(frame, int):  # scrolls by this number of rows
            rows = rows[frame:] + rows[:frame]
            changed = list(enumerate(rows))
        else:
            changed = frame
            for y, strip in frame:
                rows[y] = strip
        incremental.put([(y, 0, strip) for y, strip in changed], cursor=Offset(2, HEIGHT - 1))
        full.buffer.invalidate()
        full.put([(y, 0, row) for y, row in enumerate(rows)])
        assert incremental.screen.display == full.screen.display
        for y in range(HEIGHT):
            for x in range(WIDTH):
                cell, expected = incremental.screen.buffer[y][x], full.screen.buffer[y][x]
                assert cell.data == expected.data
                assert cell.bg == expected.bg
                assert cell.bold == expected.bold or not cell.data.strip()
