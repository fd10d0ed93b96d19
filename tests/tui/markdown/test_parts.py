"""Markdown is cut into parts while it streams, and the cuts don't show."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from kimi_tui.tui.markdown.code import code_lines
from kimi_tui.tui.markdown.layout import continued_table_lines, markdown_lines
from kimi_tui.tui.markdown.parts import Part, Parts

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


def split(*fragments: str) -> list[Part]:
    """The parts of a source that arrives in fragments."""
    parts = Parts()
    for fragment in fragments:
        parts.feed(fragment)
    parts.finish()
    return parts.closed


def sources(*fragments: str) -> list[str]:
    return [part.source for part in split(*fragments)]


def drawn(parts: list[Part], width: int = 40) -> list[str]:
    """The rows of `parts` below each other, as an answer shows them."""
    rows: list[str] = []
    for index, part in enumerate(parts):
        if part.kind == "code":
            lines = code_lines(part.source, part.language, width - part.indent, context=part.context)
        elif part.context:
            lines = continued_table_lines(part.source, part.context, width)
        else:
            lines = markdown_lines(part.source, width - part.indent)
        rows += [""] if part.gap and index else []
        rows += [f"{' ' * part.indent}{line.text}".rstrip() for line in lines]
    return rows


def test_a_blank_line_ends_a_paragraph() -> None:
    assert sources("one\ntwo\n\nthree") == ["one\ntwo", "three"]


def test_what_has_no_blank_line_after_it_is_still_open() -> None:
    parts = Parts()
    parts.feed("one\n\ntwo **bo")
    assert [part.source for part in parts.closed] == ["one"]
    assert parts.open == Part("two **bo")


def test_a_list_stays_open_across_blank_lines() -> None:
    assert sources("- a\n\n- b\n\n  more b\n\ntext") == ["- a\n\n- b\n\n  more b", "text"]


def test_a_fence_keeps_its_blank_lines() -> None:
    assert split("```py\na\n\nb\n```\n") == [Part("a\n\nb", "code", language="py")]


def test_a_heading_ends_what_was_before_it() -> None:
    assert sources("text\n# Title\nmore") == ["text", "# Title", "more"]


def test_marks_of_another_kind_do_not_close_a_fence() -> None:
    assert sources("~~~\n```\n~~~\n````\n```\n````\n") == ["```", "```"]


def test_a_closing_fence_is_not_shown_while_it_arrives() -> None:
    parts = Parts()
    parts.feed("```py\nx = 1\n``")
    assert parts.open is not None
    assert parts.open.source == "x = 1"


def test_a_fence_without_lines_is_a_part() -> None:
    assert split("```\n```\n") == [Part("", "code")]


def test_code_within_a_list_item_is_a_part_of_its_own_at_its_indentation() -> None:
    parts = split("1. first\n\n   ```py\n   x\n     y\n   ```\n\n   after\n2. second\n")
    assert parts == [
        Part("1. first"),
        Part("x\n  y", "code", gap=True, indent=3, language="py"),
        Part("after", gap=True, indent=3),
        Part("2. second", gap=False),
    ]


def test_a_fence_that_opens_on_the_line_of_a_bullet_stays_in_its_list() -> None:
    assert sources("- ```py\n  - not an item\n\n  x\n  ```\n- b\n") == [
        "- ```py\n  - not an item\n\n  x\n  ```\n- b"
    ]


def test_long_code_is_cut_and_coloured_as_if_it_were_not() -> None:
    code = "\n".join(f"value_{n} = 'text'" for n in range(500))
    parts = split(f"```python\n{code}\n```\n")
    assert len(parts) > 5
    assert "\n".join(part.source for part in parts) == code
    assert not any(part.gap for part in parts[1:])
    whole = [line.spans for line in code_lines(code, "python", 60)]
    cut = [
        line.spans for part in parts for line in code_lines(part.source, "python", 60, context=part.context)
    ]
    assert cut == whole


def test_a_long_table_is_cut_and_its_columns_stay_aligned() -> None:
    body = "".join(f"| {n} | row number {n} |\n" for n in range(100, 400))
    parts = split(f"| n | text |\n|--:|---|\n{body}")
    rows = drawn(parts, 60)
    assert len(parts) > 3
    assert len(rows) == 302
    assert len({row.index("│") for row in rows if "│" in row}) == 1


def test_a_table_that_ends_where_it_was_cut_leaves_nothing_behind() -> None:
    for count in range(30, 50):
        body = "".join(f"| {n} |\n" for n in range(count))
        assert len(drawn(split(f"| n |\n|---|\n{body}\nend"))) == count + 4


def test_a_long_list_is_cut_between_items_and_the_cut_does_not_show() -> None:
    source = "".join(f"{n}. item number {n}\n" for n in range(10, 99))
    assert len(split(source)) > 1
    assert drawn(split(source)) == [line.text for line in markdown_lines(source, 40)]


def test_an_endless_list_item_is_cut_and_stays_indented() -> None:
    source = "- head\n" + "".join(f"  line {n}\n" for n in range(300))
    rows = drawn(split(source), 30)
    assert len(split(source)) > 2
    assert all(row.startswith("  ") for row in rows[1:])


def test_a_line_without_end_is_cut_after_a_sentence() -> None:
    parts = split("This is a sentence. " * 2_000)
    assert len(parts) > 5
    assert all(part.source.rstrip().endswith(".") for part in parts)
    assert not any(part.gap for part in parts[1:])


def test_a_line_without_end_and_without_a_space_is_cut_anyway() -> None:
    assert "".join(sources("x" * 50_000)) == "x" * 50_000
    assert max(map(len, sources("x" * 50_000))) <= 4_000


@given(st.lists(st.integers(1, len(DOCUMENT) - 1), max_size=30))
def test_it_does_not_matter_how_the_text_arrives(cuts: list[int]) -> None:
    borders = sorted({0, *cuts, len(DOCUMENT)})
    assert split(*(DOCUMENT[a:b] for a, b in pairwise(borders))) == split(DOCUMENT)


def test_the_parts_below_each_other_look_like_the_whole() -> None:
    whole = [line.text.rstrip() for line in markdown_lines(DOCUMENT, 60)]
    cut = drawn(split(DOCUMENT), 60)
    assert [row for row in cut if row] == [row for row in whole if row]


@given(st.text(st.sampled_from("ab-*1.>`#|~: \n\n"), max_size=300))
def test_no_word_gets_lost_whatever_the_source(source: str) -> None:
    parts = Parts()
    for character in source:
        parts.feed(character)
        _ = parts.open
    parts.finish()
    shown = "".join(part.source for part in parts.closed)
    for letter in "ab":
        assert shown.count(letter) >= source.count(letter) - _in_fence_lines(source, letter)


def _in_fence_lines(source: str, letter: str) -> int:
    # The words behind an opening fence name the language; they are no text.
    return sum(line.count(letter) for line in source.split("\n") if "```" in line or "~~~" in line)
