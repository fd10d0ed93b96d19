"""Fuzzy matching."""

import pytest

from kimi_tui.tui.widgets import fuzzy


def best(query: str, *texts: str) -> list[str]:
    return [match.text for match in fuzzy.best_matches(query, texts, 10)]


def test_letters_must_occur_in_order() -> None:
    assert best("abc", "a-b-c", "cba", "ab") == ["a-b-c"]


def test_case_does_not_matter() -> None:
    assert best("readme", "README.md") == ["README.md"]


@pytest.mark.parametrize(
    ("query", "better", "worse"),
    [
        ("auth", "src/auth.py", "src/author/utils.py"),
        ("auth", "src/auth.py", "src/oauth.py"),
        ("test", "tests/test_a.py", "latest/a.py"),
        ("sa", "src/auth.py", "sea.py.orig.backup"),
        ("a", "a.py", "very/long/path/to/a.py"),
        ("thm", "theme", "other-machine"),
    ],
)
def test_the_better_match_comes_first(query: str, better: str, worse: str) -> None:
    assert best(query, worse, better)[0] == better


def test_positions_show_which_letters_matched() -> None:
    match = fuzzy.match("sap", "src/auth.py")
    assert match is not None
    assert [match.text[position] for position in match.positions] == ["s", "a", "p"]


def test_positions_are_correct_if_lowercase_is_longer() -> None:
    text = "İstanbul.txt"
    match = fuzzy.match("stan", text)
    assert match is not None
    assert "".join(text[position] for position in match.positions) == "stan"


def test_an_empty_query_matches_everything() -> None:
    assert best("", "a", "b") == ["a", "b"]


def test_the_line_pattern_and_match_agree() -> None:
    lines = ["src/auth.py", "readme.md", "s\\a[]", "tests/sap.py", ""]
    pattern = fuzzy.line_pattern("sap")
    matched_lines = [match[0] for match in pattern.finditer("\n".join(lines))]
    assert matched_lines == [line for line in lines if fuzzy.match("sap", line)]


def test_special_characters_of_regular_expressions_are_literal() -> None:
    assert [match[0] for match in fuzzy.line_pattern("[^.*").finditer("ab\nx[y^z.w*\n")] == ["x[y^z.w*"]
