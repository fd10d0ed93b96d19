"""Text breaks between words, and between the characters of scripts without spaces."""

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from kimi_tui.tui.markdown.line import PLAIN, copied_text, ink
from kimi_tui.tui.markdown.wrap import chop, joins_without_space, rows_of, truncated, wrap

TEXTS = st.lists(
    st.sampled_from([*"abc xyz,.() 中文字（），。！“”é\u200b", "👩‍💻", "👍🏽"]), max_size=120
).map("".join)


def wrapped(text: str, width: int) -> list[str]:
    return [line.text for line in wrap([(text, PLAIN)], width)]


def test_words_are_kept_whole() -> None:
    assert wrapped("the quick brown fox", 10) == ["the quick", "brown fox"]


def test_a_word_that_is_too_long_is_cut() -> None:
    assert wrapped("abcdefghij", 4) == ["abcd", "efgh", "ij"]


def test_chinese_breaks_between_characters() -> None:
    assert wrapped("登录表单返回错误", 8) == ["登录表单", "返回错误"]


def test_a_row_never_begins_with_a_closing_mark_nor_ends_with_an_opening_one() -> None:
    assert wrapped("一二三，四五", 6) == ["一二", "三，四", "五"]
    assert wrapped("一二（三四）", 6) == ["一二", "（三", "四）"]


def test_a_wide_character_never_hangs_over_the_edge() -> None:
    assert wrapped("a中文", 4) == ["a中", "文"]


def test_indentation_of_the_first_row_is_kept() -> None:
    assert wrapped("    four spaces", 20) == ["    four spaces"]


def test_indentation_gives_way_to_what_would_not_fit_behind_it() -> None:
    assert wrapped(" 文", 2) == ["文"]


def test_a_long_word_behind_spaces_leaves_no_empty_row() -> None:
    assert wrapped("  abcdefgh", 5) == ["  abc", "defgh"]


@given(TEXTS, st.integers(2, 40))
def test_no_row_is_wider_than_asked_for(text: str, width: int) -> None:
    for row in rows_of(text, width):
        assert cell_len(text[row.start : row.end].rstrip()) <= width


@given(TEXTS, st.integers(2, 40))
def test_only_spaces_get_lost_at_the_breaks(text: str, width: int) -> None:
    shown = "".join(text[row.start : row.end] for row in rows_of(text, width))
    assert shown.replace(" ", "") == text.replace(" ", "")


@given(st.lists(st.sampled_from(["word", "bold", "中文", "x"]), min_size=1, max_size=40), st.integers(4, 30))
def test_a_copied_paragraph_is_one_line_again(words: list[str], width: int) -> None:
    text = " ".join(words)
    assert copied_text(wrap([(text, PLAIN)], width)) == text


def test_inks_survive_the_break() -> None:
    lines = wrap([("plain ", PLAIN), ("bold words", ink("strong"))], 11)
    assert [line.spans for line in lines] == [
        (("plain ", PLAIN), ("bold", ink("strong"))),
        (("words", ink("strong")),),
    ]


def test_prefixes_stand_before_the_first_row_and_the_others() -> None:
    lines = wrap([("one two", PLAIN)], 7, first=(("- ", PLAIN),), rest=(("  ", PLAIN),))
    assert [line.text for line in lines] == ["- one", "  two"]
    assert copied_text(lines) == "- one two"


def test_code_is_cut_exactly_at_the_edge() -> None:
    assert ["".join(t for t, _ in row) for row in chop([("abc def", PLAIN)], 5)] == ["abc d", "ef"]


def test_truncated_text_says_so() -> None:
    assert "".join(t for t, _ in truncated([("abcdef", PLAIN)], 4)) == "abc…"
    assert "".join(t for t, _ in truncated([("中文字", PLAIN)], 4)) == "中…"
    assert truncated([("abc", PLAIN)], 3) == (("abc", PLAIN),)


def test_line_breaks_between_chinese_lines_are_no_spaces() -> None:
    assert joins_without_space("你好", "世界")
    assert not joins_without_space("hello", "world")
    assert not joins_without_space("你好", "world")
