"""Log file in the data directory, without secrets. Nothing is logged to the screen.

A line is an event with fields, as `tool_call id=c1 name=Bash arguments_chars=24`. Importing this module sets
up nothing. Until `start_logging` is called, log records are dropped.
"""

import json
import logging
import os
from collections.abc import Mapping
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

from kimi_tui.base.paths import make_private_dir
from kimi_tui.base.redaction import redact, register_secrets, secret_values

MAX_BYTES = 10_000_000
BACKUPS = 4
"""Besides the current file."""


def log_path(data_dir: Path) -> Path:
    """Return the path of the log file in a data directory."""
    return data_dir / "logs" / "kimi-tui.log"


def start_logging(
    data_dir: Path, *, level: str = "info", environ: Mapping[str, str] = os.environ
) -> "LogFile":
    """Start logging to a file in `data_dir`. Raises OSError if its directory can't be created."""
    make_private_dir(log_path(data_dir).parent)
    handler = LogFile(log_path(data_dir))
    register_secrets(secret_values(environ))
    handler.setFormatter(logging.Formatter("%(asctime)s %(process)d %(levelname)-7s %(name)s: %(message)s"))
    root = logging.getLogger()
    for old in [old for old in root.handlers if isinstance(old, LogFile)]:
        root.removeHandler(old)
        old.close()
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
    logging.getLogger("kimi_tui").setLevel(level.upper())
    return handler


def log_tail(data_dir: Path, *, lines: int = 30) -> list[str]:
    """Return the last lines of the log, or an empty list if it can't be read."""
    try:
        with log_path(data_dir).open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - 400 * lines))
            return redact(file.read().decode("utf-8", "replace")).splitlines()[-lines:]
    except OSError:
        return []


def log_event(logger: logging.Logger, level: int, event: str, **fields: object) -> None:
    """Log `event` with all `fields` that aren't None.

    Fields are names, sizes and times, never the text of a conversation or a file.
    """
    if logger.isEnabledFor(level):
        logger.log(level, "%s", format_event(event, fields))


def format_event(event: str, fields: dict[str, object]) -> str:
    """Return the text of a log line."""
    parts = [f"{name}={_format_value(value)}" for name, value in fields.items() if value is not None]
    return " ".join((event, *parts))


def _format_value(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:.3f}"
    text = str(value)
    is_plain = text.isprintable() and text and not set(text) & set(' "=')
    return text if is_plain else json.dumps(text, ensure_ascii=True)


def is_logging() -> bool:
    """Return whether logging has started."""
    return any(isinstance(handler, LogFile) for handler in logging.getLogger().handlers)


class LogFile(RotatingFileHandler):
    """Rotating log file with mode 0600. Write errors are ignored, so that logging never causes a failure."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, maxBytes=MAX_BYTES, backupCount=BACKUPS, encoding="utf-8", delay=True)

    def format(self, record: logging.LogRecord) -> str:
        """Return the log line with its traceback, without secrets."""
        return redact(super().format(record))

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        """Ignore the error. The default implementation writes to the screen."""

    def _open(self) -> TextIOWrapper:
        name = self.baseFilename
        return open(name, "a", encoding="utf-8", errors="backslashreplace", opener=_open_private)


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
