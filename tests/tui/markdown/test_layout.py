"""Markdown is laid out as rows of terminal cells."""

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from kimi_tui.tui.markdown.layout import markdown_lines
from kimi_tui.tui.markdown.styled_line import StyledLine, join_for_copy


def rows(source: str, width: int = 40) -> list[str]:
    return [line.text for line in markdown_lines(source, width)]


def roles_of(word: str, lines: list[StyledLine]) -> set[str]:
    """Return the roles of the span that contains `word`."""
    return next({*style.roles} for line in lines for text, style in line.spans if word in text)


def link_of(word: str, source: str) -> str:
    lines = markdown_lines(source, 60)
    return next(style.link for line in lines for text, style in line.spans if word in text)


def test_headings_have_a_role_instead_of_markers() -> None:
    lines = markdown_lines("## Why *now*", 40)
    assert [line.text for line in lines] == ["Why now"]
    assert roles_of("Why", lines) == {"heading-2"}
    assert roles_of("now", lines) == {"heading-2", "em"}


def test_emphasis_nests() -> None:
    lines = markdown_lines("**bold *both* ~~gone~~** `code`", 40)
    assert roles_of("both", lines) == {"strong", "em"}
    assert roles_of("gone", lines) == {"strong", "strike"}
    assert roles_of("code", lines) == {"code"}


def test_blocks_are_separated_by_one_blank_row() -> None:
    assert rows("one\n\n\n\ntwo") == ["one", "", "two"]


def test_nested_lists_have_different_bullets() -> None:
    assert rows("- a\n  - b\n    - c\n- d") == ["• a", "  ◦ b", "    ▪ c", "• d"]


def test_list_numbers_are_aligned() -> None:
    assert rows("9. nine\n10. ten") == [" 9. nine", "10. ten"]


def test_long_items_have_a_hanging_indent() -> None:
    assert rows("- one two three four", 12) == ["• one two", "  three four"]


def test_a_loose_list_has_blank_rows() -> None:
    assert rows("- a\n\n- b") == ["• a", "", "• b"]


def test_task_items_have_checkboxes() -> None:
    assert rows("- [ ] open\n- [x] done\n- plain") == ["☐ open", "☑ done", "• plain"]


def test_brackets_outside_a_list_are_unchanged() -> None:
    assert rows("[x] is no task") == ["[x] is no task"]


def test_quotes_have_a_bar_on_every_row() -> None:
    assert rows("> one two three\n>\n> - four", 10) == ["▎ one two", "▎ three", "▎ ", "▎ • four"]


def test_a_hard_break_breaks_and_a_soft_one_does_not() -> None:
    assert rows("one  \ntwo\nthree") == ["one", "two three"]


def test_chinese_lines_join_without_a_space() -> None:
    assert rows("你好\n世界") == ["你好世界"]


def test_html_is_shown_as_text() -> None:
    assert rows("<b>loud</b>\n\n<script>alert(1)</script>") == [
        "<b>loud</b>",
        "",
        "<script>alert(1)</script>",
    ]


def test_a_rule_fills_the_row() -> None:
    assert rows("---", 12) == ["─" * 12]


def test_an_empty_item_keeps_its_bullet() -> None:
    assert rows("-\n- b") == ["• ", "• b"]


def test_code_keeps_its_lines_and_background() -> None:
    lines = markdown_lines("```python\nif x:\n    y = 'text'\n```", 40)
    assert [line.text for line in lines] == [" if x:", "     y = 'text'"]
    assert all(line.fill.roles == ("code-block",) for line in lines)
    assert "syntax-string" in roles_of("text", lines)


def test_long_code_lines_wrap_and_are_copied_as_one() -> None:
    lines = markdown_lines("```\nabcdefghijkl\n```", 10)
    assert [line.text for line in lines] == [" abcdefgh", " ijkl"]
    assert join_for_copy(lines) == "abcdefghijkl"


def test_table_columns_are_aligned_by_cells() -> None:
    source = "| name | 数量 |\n|:--|--:|\n| 苹果 | 5 |\n| pear | 1234 |"
    assert rows(source) == ["name │ 数量", "─────┼─────", "苹果 │    5", "pear │ 1234"]


def test_a_wide_table_wraps_within_its_cells() -> None:
    table_rows = rows("| a | b |\n|---|---|\n| short | some words that do not fit here |", 24)
    assert all(cell_len(row) <= 24 for row in table_rows)
    assert [row.split("│")[0].strip() for row in table_rows if "│" in row] == ["a", "short", ""]


def test_a_table_that_is_too_wide_becomes_records() -> None:
    head = "|" + "|".join(f"col{n}" for n in range(8)) + "|\n" + "|---" * 8 + "|\n"
    assert (
        rows(head + "|" + "|".join(f"some value {n}" for n in range(8)) + "|", 30)[0] == "col0: some value 0"
    )


def test_missing_table_cells_are_empty() -> None:
    assert rows("| a | b |\n|---|---|\n| x |") == ["a │ b", "──┼──", "x │ "]


def test_links_have_their_address() -> None:
    assert link_of("docs", "see [docs](https://example.org/a)") == "https://example.org/a"
    assert link_of("example.org", "see https://example.org/b.") == "https://example.org/b"
    assert rows("see https://example.org/b.") == ["see https://example.org/b."]


def test_a_misleading_link_label_is_followed_by_the_address() -> None:
    assert rows("[google.com](https://evil.example)", 60) == ["google.com (https://evil.example)"]
    assert rows("[example.org](https://example.org/)", 60) == ["example.org"]


def test_unsafe_addresses_are_not_links() -> None:
    for address in ("javascript:alert(1)", "data:text/html,x", "vscode://x"):
        assert link_of("go", f"[go]({address})") == ""


def test_paths_in_code_spans_are_links() -> None:
    assert link_of("auth.py", "see `src/auth.py:12`") == "src/auth.py:12"
    assert link_of("validate", "see `validate()`") == ""


def test_images_are_shown_by_their_alt_text() -> None:
    assert rows("![a cat](https://example.org/cat.png)") == ["▣ a cat"]


@given(st.text(st.sampled_from("ab*_`[]()#->|~:\n 中1. !<"), max_size=200), st.integers(10, 50))
def test_rows_fit_the_width_for_any_source(source: str, width: int) -> None:
    for line in markdown_lines(source, width):
        assert line.cells <= max(width, 16)
        assert "\n" not in line.text
