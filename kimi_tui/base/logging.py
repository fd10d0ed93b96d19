"""The log: a file in the share dir, never the screen, without secrets.

Nothing is set up at import. Until `start_logging`, modules log into the void.
"""

import logging
import os
import re
from collections.abc import Iterable, Mapping
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

from kimi_tui.base.paths import make_private_dir

MAX_BYTES = 2_000_000
BACKUPS = 3

_SECRET_VARIABLE = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD)$", re.IGNORECASE)
_SECRET_SHAPES = re.compile(
    r"(?P<keep>(?:authorization|api[-_]?key|x-api-key|token|password)[\"']?\s*[:=]\s*[\"']?(?:bearer\s+)?"
    r"|bearer\s+)[^\s\"',;}]+|\bsk-[A-Za-z0-9_-]{8,}",
    re.IGNORECASE,
)
_SHORTEST_SECRET = 6
"""A shorter value would black out ordinary words."""


def log_path(share_dir: Path) -> Path:
    """Where the log of a share dir is."""
    return share_dir / "logs" / "kimi-tui.log"


def start_logging(
    share_dir: Path, *, level: str = "info", environ: Mapping[str, str] = os.environ
) -> "LogFile":
    """Log to the share dir's file from now on. Raises OSError when its folder can't be made."""
    make_private_dir(log_path(share_dir).parent)
    handler = LogFile(log_path(share_dir))
    handler.hide(value for name, value in environ.items() if _SECRET_VARIABLE.search(name))
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
            return without_secrets(file.read().decode("utf-8", "replace")).splitlines()[-lines:]
    except OSError:
        return []


def is_logging() -> bool:
    """Whether there is a log already."""
    return any(isinstance(handler, LogFile) for handler in logging.getLogger().handlers)


def hide_in_log(secret: str) -> None:
    """Black `secret`, which came up only now, out of what is logged from now on."""
    for handler in logging.getLogger().handlers:
        if isinstance(handler, LogFile):
            handler.hide((secret,))


def without_secrets(text: str) -> str:
    """`text` with what looks like a key, a token or a password blacked out."""
    return _SECRET_SHAPES.sub(lambda match: f"{match['keep'] or ''}[hidden]", text)


class LogFile(RotatingFileHandler):
    """The log file (0600). What can't be written is dropped: a log never breaks what it tells of."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, maxBytes=MAX_BYTES, backupCount=BACKUPS, encoding="utf-8", delay=True)
        self._secrets: set[str] = set()

    def hide(self, secrets: Iterable[str]) -> None:
        """Black these out wherever they turn up."""
        self._secrets |= {secret for secret in secrets if len(secret) >= _SHORTEST_SECRET}

    def format(self, record: logging.LogRecord) -> str:
        """The line, its traceback included, without secrets."""
        text = super().format(record)
        for secret in self._secrets:
            text = text.replace(secret, "[hidden]")
        return without_secrets(text)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        """Nothing: the default writes to the screen."""

    def _open(self) -> TextIOWrapper:
        name = self.baseFilename
        return open(name, "a", encoding="utf-8", errors="backslashreplace", opener=_private)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
