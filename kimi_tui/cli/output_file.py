"""The file of `--output`: what was there stays until the run is over, then the output takes its place."""

import contextlib
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kimi_tui.base.errors import UsageError
from kimi_tui.base.identity import new_uid


@contextmanager
def output_file(path: Path) -> Iterator[io.FileIO]:
    """Somewhere to write what is to be the text of `path` at the end, however the run ends.

    Links stay, and so do the rights of a file that is there. What is no plain file, such as a pipe or a
    terminal, is written to as it is. Raises UsageError when it can't be written.
    """
    target = path.expanduser()
    try:
        target = target.resolve()
        if target.exists() and not target.is_file():
            with io.FileIO(target, "w") as file:
                yield file
            return
        if target.exists() and not os.access(target, os.W_OK):
            raise PermissionError(13, os.strerror(13))
        fresh = target.with_name(f".{target.name}.{new_uid()}")
        file = io.FileIO(fresh, "x")
    except OSError as error:
        raise _unwritable(path, error) from error
    try:
        with file:
            yield file
        with contextlib.suppress(OSError):  # an odd file system's rights are no reason to lose the output
            fresh.chmod(target.stat().st_mode & 0o777)
        fresh.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            fresh.unlink()
        raise


def _unwritable(path: Path, error: OSError) -> UsageError:
    return UsageError(
        f"--output {path} can't be written: {error.strerror or error}.",
        hint="Name a file that you may write to.",
    )
