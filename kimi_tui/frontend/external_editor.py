"""Editing text in the user's external editor."""

import asyncio
import os
import shlex
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path

from kimi_tui.base.disk_errors import reason_of
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.message_text import msg

_FALLBACKS = ("nano", "vim", "vi", "notepad.exe")
_NEED_WAIT_FLAG = {"code", "code-insiders", "codium", "cursor", "subl", "windsurf", "zed"}
"""Graphical editors that return immediately without --wait."""
_HINT = "Set EDITOR to your editor's command, such as “vim” or “code --wait”."


def editor_command(environment: Mapping[str, str] = os.environ) -> list[str]:
    """Return the user's editor as a command. Raises KimiTuiError if none is found."""
    setting = environment.get("VISUAL") or environment.get("EDITOR") or ""
    try:
        command = shlex.split(setting)
    except ValueError as error:
        raise KimiTuiError(
            msg("EDITOR isn't a valid command: {command}.", command=setting), hint=_HINT
        ) from error
    if not command:
        command = [path for name in _FALLBACKS if (path := shutil.which(name))][:1]
    if not command:
        raise KimiTuiError("No editor found.", hint=_HINT)
    if Path(command[0]).stem in _NEED_WAIT_FLAG and not {"--wait", "-w"} & set(command):
        command.append("--wait")
    return command


async def edit_text_within(suspension: AbstractContextManager[None], text: str, *, name: str) -> str:
    """Return `text` as the user saves it in their editor, in a file called `name`.

    The editor has the terminal inside the `suspension` context manager. Raises KimiTuiError.
    """
    command = editor_command()
    with tempfile.TemporaryDirectory(prefix="kimi-tui-", ignore_cleanup_errors=True) as folder:
        file = Path(folder) / _file_name(name)
        try:
            file.write_text(text, encoding="utf-8", newline="")
            with suspension:
                status = await _run_editor([*command, str(file)])
            if status < 0:
                raise KimiTuiError(
                    msg(
                        "{command} was killed by signal {signal}. The text is unchanged.",
                        command=command[0],
                        signal=-status,
                    ),
                    hint="Try again.",
                )
            if status:
                raise KimiTuiError(
                    msg(
                        "{command} failed with exit code {status}. The text is unchanged.",
                        command=command[0],
                        status=status,
                    ),
                    hint=_HINT,
                )
            return file.read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise KimiTuiError(
                msg("Can't edit the text: {reason}.", reason=reason_of(error)), hint=_HINT
            ) from error


async def edit_file_within(suspension: AbstractContextManager[None], file: Path) -> None:
    """Let the user edit `file` itself in their editor, which has the terminal inside `suspension`.

    Raises KimiTuiError if the editor can't be started or fails.
    """
    command = editor_command()
    with suspension:
        status = await _run_editor([*command, str(file)])
    if status:
        raise KimiTuiError(
            msg("{command} failed with exit code {status}.", command=command[0], status=status), hint=_HINT
        )


async def _run_editor(command: list[str]) -> int:
    try:
        process = await asyncio.create_subprocess_exec(*command)
    except (OSError, ValueError) as error:
        raise KimiTuiError(
            msg("Can't start {command}: {reason}.", command=command[0], reason=reason_of(error)), hint=_HINT
        ) from error
    return await process.wait()


def _file_name(name: str) -> str:
    # The editor highlights the syntax by the suffix.
    return "".join(letter if letter.isalnum() or letter in "._-" else "_" for letter in name)[-80:] or "text"
