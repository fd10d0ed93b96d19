"""Code is highlighted by roles."""

from kimi_tui.tui.markdown.styled_line import PLAIN, Spans
from kimi_tui.tui.markdown.syntax import IncrementalHighlighter, highlight, language_of

CODE = 'import os\n\n\nclass Shop:\n    """A shop."""\n\n    def open(self):  # now\n        return 42\n'


def role_of(word: str, lines: list[Spans]) -> str:
    return next(" ".join(style.roles) for spans in lines for text, style in spans if text == word)


def test_tokens_have_syntax_roles() -> None:
    lines = highlight(CODE, "python")
    assert role_of("class", lines) == "syntax-keyword"
    assert role_of("Shop", lines) == "syntax-type"
    assert role_of("open", lines) == "syntax-function"
    assert role_of("42", lines) == "syntax-number"
    assert role_of("# now", lines) == "syntax-comment"


def test_every_line_and_character_is_kept() -> None:
    for code in (CODE, "\n\n", "", "x", "\n x\n\n"):
        for language in ("python", "no such language", ""):
            lines = highlight(code, language)
            assert "\n".join("".join(text for text, _ in spans) for spans in lines) == code


def test_a_combined_emoji_is_not_split() -> None:
    family = "👩\u200d👩\u200d👧"
    assert any(family in text for text, _ in highlight(f"kin {family} x", "python")[0])


def test_unknown_languages_and_very_long_lines_are_plain() -> None:
    assert highlight("if x", "no such language") == [(("if x", PLAIN),)]
    assert highlight("x = 1 " * 1000, "python") == [(("x = 1 " * 1000, PLAIN),)]


def test_growing_code_is_highlighted_like_the_whole() -> None:
    code = CODE * 20
    highlighter = IncrementalHighlighter()
    for end in range(0, len(code), 37):
        highlighter.highlight(code[:end], "python")
    assert highlighter.highlight(code, "python") == highlight(code, "python")


def test_different_code_is_highlighted_from_scratch() -> None:
    highlighter = IncrementalHighlighter()
    highlighter.highlight(CODE * 3, "python")
    assert highlighter.highlight("x = 'y'", "python") == highlight("x = 'y'", "python")


def test_the_language_is_detected_from_the_file_name() -> None:
    assert language_of("src/shop.py") == "python"
    assert language_of("Makefile") == "make"
    assert language_of("notes.unknown") == ""
