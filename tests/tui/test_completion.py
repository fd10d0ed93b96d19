"""Completion targets."""

import pytest

from kimi_tui.tui.prompt.completion_target import file_reference, find_completion_target


def target_at_end(text: str) -> tuple[str, str, str] | None:
    lines = text.split("\n")
    target = find_completion_target(lines, len(lines) - 1, len(lines[-1]))
    return None if target is None else (target.kind, target.query, target.command)


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
def test_the_text_before_the_cursor_determines_the_target(
    text: str, expected: tuple[str, str, str] | None
) -> None:
    assert target_at_end(text) == expected


def test_text_after_the_cursor_is_ignored() -> None:
    target = find_completion_target(["see @src here"], 0, 7)
    assert target is not None
    assert (target.query, target.start) == ("sr", 4)


def test_a_path_with_spaces_is_quoted() -> None:
    assert file_reference("a b.txt") == '@"a b.txt"'
    assert file_reference("src/a.py") == "@src/a.py"
