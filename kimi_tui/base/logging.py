"""The log: a file in the share dir, never the screen, without secrets.

Nothing is set up at import. Until `start_logging`, modules log into the void.
"""

import logging
import os
from collections.abc import Mapping
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

from kimi_tui.base.paths import make_private_dir
from kimi_tui.base.secrets import blacked_out, keep_hidden, secrets_in

MAX_BYTES = 2_000_000
BACKUPS = 3


def log_path(share_dir: Path) -> Path:
    """Where the log of a share dir is."""
    return share_dir / "logs" / "kimi-tui.log"


def start_logging(
    share_dir: Path, *, level: str = "info", environ: Mapping[str, str] = os.environ
) -> "LogFile":
    """Log to the share dir's file from now on. Raises OSError when its folder can't be made."""
    make_private_dir(log_path(share_dir).parent)
    handler = LogFile(log_path(share_dir))
    keep_hidden(secrets_in(environ))
    handler.setFormatter(logging.Formatter("%(asctime)s %(process)d %(levelname)-7s %(name)s: %(message)s"))
    root = logging.getLogger()
    for old in [old for old in root.handlers if isinstance(old, LogFile)]:
        root.removeHandler(old)
        old.close()
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
    logging.getLogger("kimi_tui").setLevel(level.upper())
    return handler


def end_of_log(share_dir: Path, *, lines: int = 30) -> list[str]:
    """The last lines of the log; none when it can't be read."""
    try:
        with log_path(share_dir).open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - 400 * lines))
            return blacked_out(file.read().decode("utf-8", "replace")).splitlines()[-lines:]
    except OSError:
        return []


def is_logging() -> bool:
    """Whether there is a log already."""
    return any(isinstance(handler, LogFile) for handler in logging.getLogger().handlers)


class LogFile(RotatingFileHandler):
    """The log file (0600). What can't be written is dropped: a log never breaks what it tells of."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, maxBytes=MAX_BYTES, backupCount=BACKUPS, encoding="utf-8", delay=True)

    def format(self, record: logging.LogRecord) -> str:
        """The line, its traceback included, without secrets."""
        return blacked_out(super().format(record))

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        """Nothing: the default writes to the screen."""

    def _open(self) -> TextIOWrapper:
        name = self.baseFilename
        return open(name, "a", encoding="utf-8", errors="backslashreplace", opener=_private)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
