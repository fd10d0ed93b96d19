"""Markdown becomes rows of text that a terminal can show."""

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from kimi_tui.tui.markdown.layout import markdown_lines
from kimi_tui.tui.markdown.line import Line, copied_text


def rows(source: str, width: int = 40) -> list[str]:
    return [line.text for line in markdown_lines(source, width)]


def roles_of(word: str, lines: list[Line]) -> set[str]:
    """The roles of the span that holds `word`."""
    return next({*style.roles} for line in lines for text, style in line.spans if word in text)


def link_of(word: str, source: str) -> str:
    lines = markdown_lines(source, 60)
    return next(style.link for line in lines for text, style in line.spans if word in text)


def test_headings_lose_their_marks_and_gain_a_role() -> None:
    lines = markdown_lines("## Why *now*", 40)
    assert [line.text for line in lines] == ["Why now"]
    assert roles_of("Why", lines) == {"heading-2"}
    assert roles_of("now", lines) == {"heading-2", "em"}


def test_emphasis_nests() -> None:
    lines = markdown_lines("**bold *both* ~~gone~~** `code`", 40)
    assert roles_of("both", lines) == {"strong", "em"}
    assert roles_of("gone", lines) == {"strong", "strike"}
    assert roles_of("code", lines) == {"code"}


def test_blocks_are_set_apart_by_one_blank_row() -> None:
    assert rows("one\n\n\n\ntwo") == ["one", "", "two"]


def test_nested_lists_change_their_bullets() -> None:
    assert rows("- a\n  - b\n    - c\n- d") == ["• a", "  ◦ b", "    ▪ c", "• d"]


def test_numbers_of_a_list_are_aligned() -> None:
    assert rows("9. nine\n10. ten") == [" 9. nine", "10. ten"]


def test_long_items_hang_under_their_text() -> None:
    assert rows("- one two three four", 12) == ["• one two", "  three four"]


def test_a_loose_list_breathes() -> None:
    assert rows("- a\n\n- b") == ["• a", "", "• b"]


def test_tasks_have_boxes() -> None:
    assert rows("- [ ] open\n- [x] done\n- plain") == ["☐ open", "☑ done", "• plain"]


def test_brackets_outside_a_list_stay() -> None:
    assert rows("[x] is no task") == ["[x] is no task"]


def test_quotes_have_a_bar_on_every_row() -> None:
    assert rows("> one two three\n>\n> - four", 10) == ["▎ one two", "▎ three", "▎ ", "▎ • four"]


def test_a_hard_break_breaks_and_a_soft_one_does_not() -> None:
    assert rows("one  \ntwo\nthree") == ["one", "two three"]


def test_chinese_lines_join_without_a_space() -> None:
    assert rows("你好\n世界") == ["你好世界"]


def test_html_is_shown_as_it_is() -> None:
    assert rows("<b>loud</b>\n\n<script>alert(1)</script>") == [
        "<b>loud</b>",
        "",
        "<script>alert(1)</script>",
    ]


def test_a_rule_fills_the_row() -> None:
    assert rows("---", 12) == ["─" * 12]


def test_an_empty_item_keeps_its_bullet() -> None:
    assert rows("-\n- b") == ["• ", "• b"]


def test_code_keeps_its_lines_and_its_ground() -> None:
    lines = markdown_lines("```python\nif x:\n    y = 'text'\n```", 40)
    assert [line.text for line in lines] == [" if x:", "     y = 'text'"]
    assert all(line.fill.roles == ("code-block",) for line in lines)
    assert "syntax-string" in roles_of("text", lines)


def test_long_code_lines_go_on_below_and_copy_as_one() -> None:
    lines = markdown_lines("```\nabcdefghijkl\n```", 10)
    assert [line.text for line in lines] == [" abcdefgh", " ijkl"]
    assert copied_text(lines) == "abcdefghijkl"


def test_columns_of_a_table_are_aligned_by_cells() -> None:
    source = "| name | 数量 |\n|:--|--:|\n| 苹果 | 5 |\n| pear | 1234 |"
    assert rows(source) == ["name │ 数量", "─────┼─────", "苹果 │    5", "pear │ 1234"]


def test_a_wide_table_wraps_in_its_cells() -> None:
    table = rows("| a | b |\n|---|---|\n| short | some words that do not fit here |", 24)
    assert all(cell_len(row) <= 24 for row in table)
    assert [row.split("│")[0].strip() for row in table if "│" in row] == ["a", "short", ""]


def test_a_table_without_room_becomes_records() -> None:
    head = "|" + "|".join(f"col{n}" for n in range(8)) + "|\n" + "|---" * 8 + "|\n"
    assert (
        rows(head + "|" + "|".join(f"some value {n}" for n in range(8)) + "|", 30)[0] == "col0: some value 0"
    )


def test_a_row_with_missing_cells_is_filled_up() -> None:
    assert rows("| a | b |\n|---|---|\n| x |") == ["a │ b", "──┼──", "x │ "]


def test_links_lead_where_they_say() -> None:
    assert link_of("docs", "see [docs](https://example.org/a)") == "https://example.org/a"
    assert link_of("example.org", "see https://example.org/b.") == "https://example.org/b"
    assert rows("see https://example.org/b.") == ["see https://example.org/b."]


def test_a_label_that_looks_like_another_address_is_shown_with_its_own() -> None:
    assert rows("[google.com](https://evil.example)", 60) == ["google.com (https://evil.example)"]
    assert rows("[example.org](https://example.org/)", 60) == ["example.org"]


def test_dangerous_addresses_are_no_links() -> None:
    for address in ("javascript:alert(1)", "data:text/html,x", "vscode://x"):
        assert link_of("go", f"[go]({address})") == ""


def test_paths_in_code_spans_can_be_opened() -> None:
    assert link_of("auth.py", "see `src/auth.py:12`") == "src/auth.py:12"
    assert link_of("validate", "see `validate()`") == ""


def test_images_are_named() -> None:
    assert rows("![a cat](https://example.org/cat.png)") == ["▣ a cat"]


@given(st.text(st.sampled_from("ab*_`[]()#->|~:\n 中1. !<"), max_size=200), st.integers(10, 50))
def test_whatever_the_source_the_rows_fit(source: str, width: int) -> None:
    for line in markdown_lines(source, width):
        assert line.cells <= max(width, 16)
        assert "\n" not in line.text
