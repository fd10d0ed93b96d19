"""Streaming Markdown is split into parts without visible seams."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from kimi_tui.tui.markdown.code_block import code_lines
from kimi_tui.tui.markdown.incremental import IncrementalParser, MarkdownPart
from kimi_tui.tui.markdown.layout import markdown_lines, table_continuation_lines

DOCUMENT = """# Title

A paragraph with **bold** text
over two lines.

- item one
- item two
  - nested

  still item two
- item three

1. first

   ```python
   x = 1

   y = 2
   ```

   after the code
2. second

> a quote
> - with a list

| a | b |
|---|---|
| 1 | 2 |

Text right before
```sh
ls -la

echo done
```
and right after it.

    indented code

    goes on

---

最后一段中文。
"""


def split_markdown(*fragments: str) -> list[MarkdownPart]:
    """Return the parts of a source that arrives in `fragments`."""
    parts = IncrementalParser()
    for fragment in fragments:
        parts.feed(fragment)
    parts.finish()
    return parts.closed_parts


def split_sources(*fragments: str) -> list[str]:
    return [part.source for part in split_markdown(*fragments)]


def render_parts(parts: list[MarkdownPart], width: int = 40) -> list[str]:
    """Return the rows of `parts`, as a response shows them."""
    rows: list[str] = []
    for index, part in enumerate(parts):
        if part.kind == "code":
            lines = code_lines(part.source, part.language, width - part.indent, context=part.context)
        elif part.context:
            lines = table_continuation_lines(part.source, part.context, width)
        else:
            lines = markdown_lines(part.source, width - part.indent)
        rows += [""] if part.gap and index else []
        rows += [f"{' ' * part.indent}{line.text}".rstrip() for line in lines]
    return rows


def test_a_blank_line_ends_a_paragraph() -> None:
    assert split_sources("one\ntwo\n\nthree") == ["one\ntwo", "three"]


def test_text_without_a_blank_line_after_it_is_open() -> None:
    parts = IncrementalParser()
    parts.feed("one\n\ntwo **bo")
    assert [part.source for part in parts.closed_parts] == ["one"]
    assert parts.open_part == MarkdownPart("two **bo")


def test_a_list_stays_open_across_blank_lines() -> None:
    assert split_sources("- a\n\n- b\n\n  more b\n\ntext") == ["- a\n\n- b\n\n  more b", "text"]


def test_a_fence_keeps_its_blank_lines() -> None:
    assert split_markdown("```py\na\n\nb\n```\n") == [MarkdownPart("a\n\nb", "code", language="py")]


def test_a_heading_ends_the_part_before_it() -> None:
    assert split_sources("text\n# Title\nmore") == ["text", "# Title", "more"]


def test_a_different_marker_does_not_close_a_fence() -> None:
    assert split_sources("~~~\n```\n~~~\n````\n```\n````\n") == ["```", "```"]


def test_a_closing_fence_is_not_shown_while_it_arrives() -> None:
    parts = IncrementalParser()
    parts.feed("```py\nx = 1\n``")
    assert parts.open_part is not None
    assert parts.open_part.source == "x = 1"


def test_a_fence_without_lines_is_a_part() -> None:
    assert split_markdown("```\n```\n") == [MarkdownPart("", "code")]


def test_code_in_a_list_item_is_a_separate_indented_part() -> None:
    parts = split_markdown("1. first\n\n   ```py\n   x\n     y\n   ```\n\n   after\n2. second\n")
    assert parts == [
        MarkdownPart("1. first"),
        MarkdownPart("x\n  y", "code", gap=True, indent=3, language="py"),
        MarkdownPart("after", gap=True, indent=3),
        MarkdownPart("2. second", gap=False),
    ]


def test_a_fence_that_opens_on_the_line_of_a_bullet_stays_in_its_list() -> None:
    assert split_sources("- ```py\n  - not an item\n\n  x\n  ```\n- b\n") == [
        "- ```py\n  - not an item\n\n  x\n  ```\n- b"
    ]


def test_long_code_is_split_without_changing_its_highlighting() -> None:
    code = "\n".join(f"value_{n} = 'text'" for n in range(500))
    parts = split_markdown(f"```python\n{code}\n```\n")
    assert len(parts) > 5
    assert "\n".join(part.source for part in parts) == code
    assert not any(part.gap for part in parts[1:])
    whole_spans = [line.spans for line in code_lines(code, "python", 60)]
    split_spans = [
        line.spans for part in parts for line in code_lines(part.source, "python", 60, context=part.context)
    ]
    assert split_spans == whole_spans


def test_a_long_table_is_split_and_its_columns_stay_aligned() -> None:
    body = "".join(f"| {n} | row number {n} |\n" for n in range(100, 400))
    parts = split_markdown(f"| n | text |\n|--:|---|\n{body}")
    rows = render_parts(parts, 60)
    assert len(parts) > 3
    assert len(rows) == 302
    assert len({row.index("│") for row in rows if "│" in row}) == 1


def test_a_table_that_ends_where_it_was_split_has_no_extra_rows() -> None:
    for count in range(30, 50):
        body = "".join(f"| {n} |\n" for n in range(count))
        assert len(render_parts(split_markdown(f"| n |\n|---|\n{body}\nend"))) == count + 4


def test_a_long_list_is_split_invisibly_between_items() -> None:
    source = "".join(f"{n}. item number {n}\n" for n in range(10, 99))
    assert len(split_markdown(source)) > 1
    assert render_parts(split_markdown(source)) == [line.text for line in markdown_lines(source, 40)]


def test_a_very_long_list_item_is_split_and_stays_indented() -> None:
    source = "- head\n" + "".join(f"  line {n}\n" for n in range(300))
    rows = render_parts(split_markdown(source), 30)
    assert len(split_markdown(source)) > 2
    assert all(row.startswith("  ") for row in rows[1:])


def test_a_very_long_line_is_split_after_a_sentence() -> None:
    parts = split_markdown("This is a sentence. " * 2_000)
    assert len(parts) > 5
    assert all(part.source.rstrip().endswith(".") for part in parts)
    assert not any(part.gap for part in parts[1:])


def test_a_very_long_line_without_spaces_is_split() -> None:
    assert "".join(split_sources("x" * 50_000)) == "x" * 50_000
    assert max(map(len, split_sources("x" * 50_000))) <= 4_000


@given(st.lists(st.integers(1, len(DOCUMENT) - 1), max_size=30))
def test_the_parts_do_not_depend_on_the_fragments(cuts: list[int]) -> None:
    borders = sorted({0, *cuts, len(DOCUMENT)})
    assert split_markdown(*(DOCUMENT[a:b] for a, b in pairwise(borders))) == split_markdown(DOCUMENT)


def test_the_rows_of_all_parts_equal_those_of_the_whole() -> None:
    whole_rows = [line.text.rstrip() for line in markdown_lines(DOCUMENT, 60)]
    split_rows = render_parts(split_markdown(DOCUMENT), 60)
    assert [row for row in split_rows if row] == [row for row in whole_rows if row]


@given(st.text(st.sampled_from("ab-*1.>`#|~: \n\n"), max_size=300))
def test_no_text_is_lost_for_any_source(source: str) -> None:
    parts = IncrementalParser()
    for character in source:
        parts.feed(character)
        _ = parts.open_part
    parts.finish()
    shown = "".join(part.source for part in parts.closed_parts)
    for letter in "ab":
        assert shown.count(letter) >= source.count(letter) - _in_fence_lines(source, letter)


def _in_fence_lines(source: str, letter: str) -> int:
    # The text after an opening fence names the language and isn't shown.
    return sum(line.count(letter) for line in source.split("\n") if "```" in line or "~~~" in line)
