"""Markdown as words, without its marks."""

import pytest

from kimi_tui.tui.markdown.words import words_of


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("**All tests pass.** See `src/auth.py` and *more*", "All tests pass. See src/auth.py and more"),
        ("## Summary I changed it. ### Tests None.", "Summary I changed it. Tests None."),
        ("- first, `and the rest was cu", "first, and the rest was cu"),
        ("说明：**登录**表单 `修复`", "说明：登录表单 修复"),
        ("see [the docs](https://example.org)", "see the docs"),
        (
            "snake_case_name and __init__.py, 2 * 3 * 4 = 24",
            "snake_case_name and __init__.py, 2 * 3 * 4 = 24",
        ),
        ("a <b> c, issue # 3", "a <b> c, issue # 3"),
        ("---", "---"),
        ("", ""),
    ],
)
def test_what_is_left_of_markdown(source: str, words: str) -> None:
    assert words_of(source) == words
