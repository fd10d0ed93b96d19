"""Failures of the external editor."""

from contextlib import nullcontext

import pytest

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.frontend.external_editor import edit_text_within


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("kill -9 $$", "sh was killed by signal 9. The text is unchanged."),
        ("exit 3", "sh failed with exit code 3. The text is unchanged."),
        ("rm $0", "Can't edit the text: No such file or directory."),
    ],
)
async def test_a_failing_editor_is_reported(
    script: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VISUAL", f"sh -c '{script}'")
    with pytest.raises(KimiTuiError) as error:
        await edit_text_within(nullcontext(), "text", name="a.md")
    assert error.value.what == message
