"""Fuzzy matching."""

import pytest

from kimi_tui.tui import fuzzy


def best(query: str, *texts: str) -> list[str]:
    return [match.text for match in fuzzy.best(query, texts, 10)]


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
def test_what_one_means_comes_first(query: str, better: str, worse: str) -> None:
    assert best(query, worse, better)[0] == better


def test_positions_show_which_letters_matched() -> None:
    found = fuzzy.match("sap", "src/auth.py")
    assert found is not None
    assert [found.text[position] for position in found.positions] == ["s", "a", "p"]


def test_positions_fit_texts_whose_letters_grow_when_lowered() -> None:
    text = "İstanbul.txt"
    found = fuzzy.match("stan", text)
    assert found is not None
    assert "".join(text[position] for position in found.positions) == "stan"


def test_nothing_asked_matches_everything() -> None:
    assert best("", "a", "b") == ["a", "b"]


def test_the_line_pattern_finds_the_same_lines_as_matching_does() -> None:
    lines = ["src/auth.py", "readme.md", "s\\a[]", "tests/sap.py", ""]
    pattern = fuzzy.line_pattern("sap")
    found = [match[0] for match in pattern.finditer("\n".join(lines))]
    assert found == [line for line in lines if fuzzy.match("sap", line)]


def test_letters_that_mean_something_to_a_regular_expression_are_letters() -> None:
    assert [found[0] for found in fuzzy.line_pattern("[^.*").finditer("ab\nx[y^z.w*\n")] == ["x[y^z.w*"]
