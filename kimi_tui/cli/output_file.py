"""File of `--output`, replaced only once the run is over."""

import contextlib
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kimi_tui.base.errors import UsageError
from kimi_tui.base.ids import new_uid
from kimi_tui.base.message_text import msg


@contextmanager
def output_file(path: Path) -> Iterator[io.FileIO]:
    """Yield a file whose content replaces `path` at the end, unless an exception is raised.

    Links and the permissions of an existing file are kept. Pipes, terminals and other special files are
    written to directly. Raises UsageError if `path` isn't writable.
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
        temporary = target.with_name(f".{target.name}.{new_uid()}")
        file = io.FileIO(temporary, "x")
    except OSError as error:
        raise _not_writable_error(path, error) from error
    try:
        with file:
            yield file
        with contextlib.suppress(OSError):  # some file systems have no permissions; keep the output anyway
            temporary.chmod(target.stat().st_mode & 0o777)
        temporary.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def _not_writable_error(path: Path, error: OSError) -> UsageError:
    return UsageError(
        msg("Can't write --output {path}: {reason}.", path=path, reason=error.strerror or error),
        hint="Choose a writable file.",
    )
