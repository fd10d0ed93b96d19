"""The user's own editor, when it doesn't end as editors do."""

from contextlib import nullcontext

import pytest

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.tui.external_editor import edited_within


@pytest.mark.parametrize(
    ("does", "said"),
    [
        ("kill -9 $$", "sh was ended by a signal (9); nothing was taken over."),
        ("exit 3", "sh ended with exit code 3; nothing was taken over."),
        ("rm $0", "The text could not be edited: No such file or directory."),
    ],
)
async def test_an_editor_that_came_to_nothing_says_how(
    does: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VISUAL", f"sh -c '{does}'")
    with pytest.raises(KimiTuiError) as caught:
        await edited_within(nullcontext(), "text", name="a.md")
    assert caught.value.what == said
