"""What reaches the terminal: the same picture as Textual's frames, in as few bytes as may be."""

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

from kimi_tui.tui.terminal_mirror import TerminalMirror
from kimi_tui.tui.terminal_pen import Pen

WIDTH, HEIGHT = 24, 12
SIZE = Size(WIDTH, HEIGHT)
TEXT = Style(color="#d9dee8", bgcolor="#0e1117")
BOLD = TEXT + Style(bold=True)


class ErasingScreen(pyte.Screen):
    """Erases in the colour of the background, as most terminals do; pyte by itself does so in places."""

    def index(self) -> None:
        bottom = self.margins.bottom if self.margins else self.lines - 1
        scrolls = self.cursor.y == bottom
        super().index()
        if scrolls:
            self._fill(bottom)

    def reverse_index(self) -> None:
        top = self.margins.top if self.margins else 0
        scrolls = self.cursor.y == top
        super().reverse_index()
        if scrolls:
            self._fill(top)

    def _fill(self, y: int) -> None:
        for x in range(self.columns):
            self.buffer[y][x] = self.cursor.attrs._replace(data=" ")


class Terminal:
    """A terminal behind a mirror."""

    def __init__(self, *, erases: bool = False) -> None:
        self.mirror = TerminalMirror(Pen(erases=lambda: erases))
        self.screen = (ErasingScreen if erases else pyte.Screen)(WIDTH, HEIGHT)
        self.stream = pyte.Stream(self.screen)
        self.sent = ""

    def show(self, lines: list[str], *, style: Style = TEXT, first: int = 0) -> None:
        self.put([(y, 0, whole(line, style)) for y, line in enumerate(lines, first)])

    def put(self, placed: list[tuple[int, int, Strip]], *, cursor: Offset | None = None) -> None:
        self.sent = self.mirror.sequences(placed, SIZE, ColorSystem.TRUECOLOR, cursor=cursor)
        self.stream.feed(self.sent)

    @property
    def lines(self) -> list[str]:
        return [line.rstrip() for line in self.screen.display]


def whole(line: str, style: Style = TEXT) -> Strip:
    return Strip([Segment(line, style)]).adjust_cell_length(WIDTH, style)


def test_a_frame_that_changes_nothing_sends_nothing() -> None:
    terminal = Terminal()
    terminal.show(["one", "two"])
    terminal.show(["one", "two"])
    assert terminal.sent == ""


def test_only_the_cells_that_differ_are_sent() -> None:
    terminal = Terminal()
    terminal.show(["the quick fox", "jumps"])
    terminal.show(["the quick cat", "jumps"])
    assert "cat" in terminal.sent
    assert "quick" not in terminal.sent
    assert "jumps" not in terminal.sent
    assert terminal.lines[:2] == ["the quick cat", "jumps"]


def test_words_that_follow_on_are_sent_bare() -> None:
    terminal = Terminal()
    terminal.show(["the"])
    terminal.show(["the quick"])
    terminal.show(["the quick fox"])
    assert terminal.sent == " fox"


def test_the_cursor_rests_where_the_user_types() -> None:
    terminal = Terminal()
    terminal.put([(0, 0, whole("one"))], cursor=Offset(4, 11))
    assert (terminal.screen.cursor.x, terminal.screen.cursor.y) == (4, 11)
    terminal.put([(0, 0, whole("two"))], cursor=Offset(4, 11))
    assert (terminal.screen.cursor.x, terminal.screen.cursor.y) == (4, 11)
    terminal.put([(0, 0, whole("two"))], cursor=Offset(4, 11))
    assert terminal.sent == ""


def test_rows_that_come_free_need_no_blanks_where_the_terminal_erases_in_colour() -> None:
    erasing, plain = Terminal(erases=True), Terminal()
    lines = [chr(ord("a") + n) * (WIDTH - 4) for n in range(HEIGHT)]
    for terminal in (erasing, plain):
        terminal.show(lines)
        terminal.show([*lines[2:], "z", ""])
        assert terminal.lines == [*lines[2:], "z", ""]
    assert len(erasing.sent) < len(plain.sent) - WIDTH
    assert erasing.screen.buffer[HEIGHT - 1][3].bg == "0e1117"


def test_a_change_of_looks_alone_is_sent() -> None:
    terminal = Terminal()
    terminal.show(["word"])
    terminal.show(["word"], style=BOLD)
    assert terminal.screen.buffer[0][0].bold


def test_rows_that_move_up_are_moved_by_the_terminal() -> None:
    terminal = Terminal()
    lines = [f"row {n} {'x' * n}" for n in range(HEIGHT + 2)]
    terminal.show(lines[:HEIGHT])
    whole_frame = len(terminal.sent)
    terminal.show(lines[2 : HEIGHT + 2])
    assert terminal.lines == lines[2 : HEIGHT + 2]
    assert len(terminal.sent) < whole_frame / 2
    assert "row 5" not in terminal.sent


def test_rows_that_move_down_between_others_are_moved_too() -> None:
    terminal = Terminal()
    lines = [f"line {n} {'y' * n}" for n in range(HEIGHT)]
    terminal.show(["head", *lines[2:10], "foot"])
    terminal.show(["head", *lines[1:9], "foot"])
    assert terminal.lines[:10] == ["head", *lines[1:9], "foot"]
    assert "line 5" not in terminal.sent


def test_a_forgotten_terminal_is_sent_everything_again() -> None:
    terminal = Terminal()
    terminal.show(["one"] * HEIGHT)
    terminal.screen.reset()
    terminal.mirror.forget()
    terminal.show(["one"] * HEIGHT)
    assert terminal.lines == ["one"] * HEIGHT


def test_a_link_opens_and_closes_around_its_words() -> None:
    terminal = Terminal()
    link = TEXT + Style(link="https://example.org/a")
    terminal.put([(0, 0, Strip([Segment("see ", TEXT), Segment("this", link), Segment(" page", TEXT)]))])
    assert terminal.sent.count("\x1b]8;;https://example.org/a\x1b\\this") == 1
    assert terminal.sent.count("\x1b]8;;\x1b\\") == 1


@given(text=st.text(alphabet=st.characters(max_codepoint=0x2FFF), max_size=WIDTH), link=st.text(max_size=8))
def test_no_control_character_of_a_text_or_a_link_reaches_the_terminal(text: str, link: str) -> None:
    terminal = Terminal()
    hostile = f"a\x1b]0;owned\x07\x9b2J\x08\r\n\t{text}\u202eb"
    terminal.put([(0, 0, Strip([Segment(hostile, TEXT + Style(link=f"http://x/\x1b\\\x1b[2J{link}"))]))])
    own = re.sub(r"\x1b\[[0-9;]*[Hm]|\x1b\]8;;[^\x00-\x1f\x7f-\x9f]*\x1b\\", "", terminal.sent)
    assert own.startswith("a]0;owned2J")
    assert not any(unicodedata.category(character) == "Cc" or character == "\u202e" for character in own)


def test_half_of_a_wide_character_is_never_sent_alone() -> None:
    terminal = Terminal()
    terminal.show(["你好吗"])
    terminal.show(["你们吗"])
    assert terminal.lines[0].replace(" ", "") == "你们吗"
    terminal.show(["a们吗"])
    assert terminal.lines[0].replace(" ", "") == "a们吗"


FAMILY, HEART, FLAG = "👩\u200d👩\u200d👧", "❤\ufe0f", "🇩🇪"


@pytest.mark.parametrize("sign", [FAMILY, HEART, FLAG])
def test_what_stands_beside_a_sign_of_several_characters_keeps_its_place(sign: str) -> None:
    terminal = Terminal()  # it draws them wider or narrower than we count
    terminal.show(["z" * WIDTH])
    words = Strip([Segment(f"{sign} in", TEXT)]).adjust_cell_length(12, TEXT)
    terminal.put([(0, 0, words), (0, 12, Strip([Segment("│ todo", BOLD)]))])
    shown = [terminal.screen.buffer[0][x].data for x in range(WIDTH)]
    assert shown[0].startswith(sign[0])
    assert shown[1] in ("", " ", sign[1:])
    assert shown[2:12] == list(" in       ")
    assert shown[12:] == list("│ todozzzzzz")


def test_a_sign_that_two_looks_tear_apart_is_sent_as_the_signs_that_were_counted() -> None:
    terminal = Terminal()
    terminal.put([(0, 0, Strip([Segment("👩\u200d", TEXT), Segment("\u200d👧", BOLD), Segment(" x", TEXT)]))])
    assert "\u200d" not in terminal.sent
    assert [terminal.screen.buffer[0][x].data for x in (0, 2, 4, 5)] == ["👩", "👧", " ", "x"]


PIECES = st.text(alphabet="ab 你好e\u0301─", min_size=0, max_size=10)


def row_of(pieces: list[tuple[str, Style]]) -> Strip:
    # Nothing combines in the last column: the terminal of the test would put it elsewhere.
    strip = Strip([Segment(text.lstrip("\u0301"), style) for text, style in pieces])
    return strip.crop(0, WIDTH - 2).adjust_cell_length(WIDTH, TEXT)


STRIPS = st.lists(st.tuples(PIECES, st.sampled_from([TEXT, BOLD])), max_size=3).map(row_of)
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
def test_any_frames_leave_the_terminal_as_if_all_had_been_sent(
    frames: list[list[tuple[int, Strip]] | int], erases: bool
) -> None:
    lessened, plain = Terminal(erases=erases), Terminal()
    rows = [whole("") for _ in range(HEIGHT)]
    lessened.put([(y, 0, row) for y, row in enumerate(rows)])
    for frame in frames:
        if isinstance(frame, int):  # what scrolls
            rows = rows[frame:] + rows[:frame]
            changed = list(enumerate(rows))
        else:
            changed = frame
            for y, strip in frame:
                rows[y] = strip
        lessened.put([(y, 0, strip) for y, strip in changed], cursor=Offset(2, HEIGHT - 1))
        plain.mirror.forget()
        plain.put([(y, 0, row) for y, row in enumerate(rows)])
        assert lessened.screen.display == plain.screen.display
        for y in range(HEIGHT):
            for x in range(WIDTH):
                one, other = lessened.screen.buffer[y][x], plain.screen.buffer[y][x]
                assert one.data == other.data
                assert one.bg == other.bg
                assert one.bold == other.bold or not one.data.strip()
