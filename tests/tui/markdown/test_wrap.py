"""Text wraps between words, or between characters in scripts without spaces."""

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from kimi_tui.tui.markdown.styled_line import PLAIN, join_for_copy, text_style
from kimi_tui.tui.markdown.wrap import break_rows, chop, joins_without_space, truncate, wrap

TEXTS = st.lists(
    st.sampled_from([*"abc xyz,.() 中文字（），。！“”é\u200b", "👩‍💻", "👍🏽"]), max_size=120
).map("".join)


def wrap_to_text(text: str, width: int) -> list[str]:
    return [line.text for line in wrap([(text, PLAIN)], width)]


def test_text_breaks_between_words() -> None:
    assert wrap_to_text("the quick brown fox", 10) == ["the quick", "brown fox"]


def test_a_word_that_is_too_long_is_cut() -> None:
    assert wrap_to_text("abcdefghij", 4) == ["abcd", "efgh", "ij"]


def test_chinese_breaks_between_characters() -> None:
    assert wrap_to_text("登录表单返回错误", 8) == ["登录表单", "返回错误"]


def test_punctuation_stays_attached_to_its_character() -> None:
    assert wrap_to_text("一二三，四五", 6) == ["一二", "三，四", "五"]
    assert wrap_to_text("一二（三四）", 6) == ["一二", "（三", "四）"]


def test_a_wide_character_never_overflows_the_row() -> None:
    assert wrap_to_text("a中文", 4) == ["a中", "文"]


def test_indentation_of_the_first_row_is_kept() -> None:
    assert wrap_to_text("    four spaces", 20) == ["    four spaces"]


def test_indentation_is_dropped_if_no_text_fits_after_it() -> None:
    assert wrap_to_text(" 文", 2) == ["文"]


def test_a_long_word_after_spaces_leaves_no_empty_row() -> None:
    assert wrap_to_text("  abcdefgh", 5) == ["  abc", "defgh"]


@given(TEXTS, st.integers(2, 40))
def test_no_row_is_wider_than_asked_for(text: str, width: int) -> None:
    for row in break_rows(text, width):
        assert cell_len(text[row.start : row.end].rstrip()) <= width


@given(TEXTS, st.integers(2, 40))
def test_only_spaces_are_lost_at_breaks(text: str, width: int) -> None:
    shown = "".join(text[row.start : row.end] for row in break_rows(text, width))
    assert shown.replace(" ", "") == text.replace(" ", "")


@given(st.lists(st.sampled_from(["word", "bold", "中文", "x"]), min_size=1, max_size=40), st.integers(4, 30))
def test_a_copied_paragraph_is_one_line_again(words: list[str], width: int) -> None:
    text = " ".join(words)
    assert join_for_copy(wrap([(text, PLAIN)], width)) == text


def test_styles_are_kept_across_breaks() -> None:
    lines = wrap([("plain ", PLAIN), ("bold words", text_style("strong"))], 11)
    assert [line.spans for line in lines] == [
        (("plain ", PLAIN), ("bold", text_style("strong"))),
        (("words", text_style("strong")),),
    ]


def test_rows_have_their_prefixes() -> None:
    lines = wrap([("one two", PLAIN)], 7, first=(("- ", PLAIN),), rest=(("  ", PLAIN),))
    assert [line.text for line in lines] == ["- one", "  two"]
    assert join_for_copy(lines) == "- one two"


def test_chop_cuts_exactly_at_the_width() -> None:
    assert ["".join(t for t, _ in row) for row in chop([("abc def", PLAIN)], 5)] == ["abc d", "ef"]


def test_truncated_text_ends_with_an_ellipsis() -> None:
    assert "".join(t for t, _ in truncate([("abcdef", PLAIN)], 4)) == "abc…"
    assert "".join(t for t, _ in truncate([("中文字", PLAIN)], 4)) == "中…"
    assert truncate([("abc", PLAIN)], 3) == (("abc", PLAIN),)


def test_chinese_lines_are_joined_without_a_space() -> None:
    assert joins_without_space("你好", "世界")
    assert not joins_without_space("hello", "world")
    assert not joins_without_space("你好", "world")
