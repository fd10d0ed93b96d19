"""Markdown as plain text."""

import pytest

from kimi_tui.tui.markdown.plain_text import plain_text


@pytest.mark.parametrize(
    ("source", "text"),
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
def test_markup_is_removed(source: str, text: str) -> None:
    assert plain_text(source) == text
