"""Opens a text in the user's editor while the app is suspended."""

from typing import Any

from textual.app import App

from kimi_tui.frontend.external_editor import edit_text_within
from kimi_tui.tui.terminal.suspend import suspend_app


async def edit_text(app: App[Any], text: str, *, name: str) -> str:
    """Let the user edit `text` in their editor, in a file called `name`, and return the result. Raises
    KimiTuiError.
    """
    return await edit_text_within(suspend_app(app), text, name=name)
