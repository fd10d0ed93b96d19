"""Opens a text or a file in the user's editor while the app is suspended."""

import asyncio
from pathlib import Path
from typing import Any

from textual.app import App

from kimi_tui.frontend.external_editor import edit_file_within, edit_text_within
from kimi_tui.frontend.save_choice import create_config_file
from kimi_tui.tui.terminal.suspend import suspend_app


async def edit_text(app: App[Any], text: str, *, name: str) -> str:
    """Let the user edit `text` in their editor, in a file called `name`, and return the result. Raises
    KimiTuiError.
    """
    return await edit_text_within(suspend_app(app), text, name=name)


async def edit_config_file(app: App[Any], file: Path) -> None:
    """Let the user edit the config file in their editor. Create a missing file. Raises KimiTuiError."""
    await asyncio.to_thread(create_config_file, file)
    await edit_file_within(suspend_app(app), file)
