"""What is completed where."""

import pytest

from kimi_tui.tui.prompt.completion import completion_at, file_reference


def at_end(text: str) -> tuple[str, str, str] | None:
    lines = text.split("\n")
    found = completion_at(lines, len(lines) - 1, len(lines[-1]))
    return None if found is None else (found.kind, found.query, found.command)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/", ("command", "", "")),
        ("/mo", ("command", "mo", "")),
        ("/model ki", ("argument", "ki", "model")),
        ("/model ", ("argument", "", "model")),
        ("@", ("file", "", "")),
        ("look at @src/au", ("file", "src/au", "")),
        ("看看 @源码/主", ("file", "源码/主", "")),
        ("看看，@main", ("file", "main", "")),
        ("one\ntwo @a", ("file", "a", "")),
        ("/model @a", ("argument", "@a", "model")),
        ("mail me@example.org", None),
        ("a /path", None),
        ("one\n/mo", None),
        ("/usr/bin/env", None),
        ("", None),
    ],
)
def test_what_stands_before_the_cursor_decides(text: str, expected: tuple[str, str, str] | None) -> None:
    assert at_end(text) == expected


def test_only_what_is_left_of_the_cursor_counts() -> None:
    found = completion_at(["see @src here"], 0, 7)
    assert found is not None
    assert (found.query, found.start) == ("sr", 4)


def test_a_path_with_blanks_is_quoted() -> None:
    assert file_reference("a b.txt") == '@"a b.txt"'
    assert file_reference("src/a.py") == "@src/a.py"
