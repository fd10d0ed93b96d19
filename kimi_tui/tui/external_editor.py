"""The user's own editor, on a text of ours."""

import asyncio
import os
import shlex
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kimi_tui.base.disk_errors import reason_of
from kimi_tui.base.errors import KimiTuiError

if TYPE_CHECKING:
    from textual.app import App

_FALLBACKS = ("nano", "vim", "vi", "notepad.exe")
_RETURN_AT_ONCE = {"code", "code-insiders", "codium", "cursor", "subl", "windsurf", "zed"}
"""Editors with windows of their own, which must be told to wait."""
_HINT = "Set EDITOR to your editor's command, such as “vim” or “code --wait”."


def editor_command(environment: Mapping[str, str] = os.environ) -> list[str]:
    """The user's editor as words. Raises KimiTuiError when there is none."""
    wanted = environment.get("VISUAL") or environment.get("EDITOR") or ""
    try:
        words = shlex.split(wanted)
    except ValueError as error:
        raise KimiTuiError(f"EDITOR can't be read as a command: {wanted}.", hint=_HINT) from error
    if not words:
        words = [found for name in _FALLBACKS if (found := shutil.which(name))][:1]
    if not words:
        raise KimiTuiError("There is no editor.", hint=_HINT)
    if Path(words[0]).stem in _RETURN_AT_ONCE and not {"--wait", "-w"} & set(words):
        words.append("--wait")
    return words


async def edited(app: "App[Any]", text: str, *, name: str) -> str:
    """`text` as the user leaves it in their editor, in a file called `name`. Raises KimiTuiError."""
    from kimi_tui.tui.lent_terminal import (
        lent_terminal,
    )  # the linear front has no app, and doesn't import one

    return await edited_within(lent_terminal(app), text, name=name)


async def edited_within(lent: AbstractContextManager[None], text: str, *, name: str) -> str:
    """As `edited`, while the editor has the terminal in the block of `lent`. Raises KimiTuiError."""
    command = editor_command()
    with tempfile.TemporaryDirectory(prefix="kimi-tui-", ignore_cleanup_errors=True) as folder:
        file = Path(folder) / _file_name(name)
        try:
            file.write_text(text, encoding="utf-8", newline="")
            with lent:
                status = await _status_of([*command, str(file)])
            if status < 0:
                raise KimiTuiError(
                    f"{command[0]} was ended by a signal ({-status}); nothing was taken over.",
                    hint="Try again.",
                )
            if status:
                raise KimiTuiError(
                    f"{command[0]} ended with exit code {status}; nothing was taken over.", hint=_HINT
                )
            return file.read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise KimiTuiError(f"The text could not be edited: {reason_of(error)}.", hint=_HINT) from error


async def _status_of(command: list[str]) -> int:
    try:
        process = await asyncio.create_subprocess_exec(*command)
    except (OSError, ValueError) as error:
        raise KimiTuiError(f"{command[0]} could not be started: {reason_of(error)}.", hint=_HINT) from error
    return await process.wait()


def _file_name(name: str) -> str:
    # Its ending lets the editor colour it.
    return "".join(letter if letter.isalnum() or letter in "._-" else "_" for letter in name)[-80:] or "text"
