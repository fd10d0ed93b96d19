"""Listing of a directory's entries for a system prompt."""

import os
import re
from itertools import islice
from pathlib import Path

MAX_ENTRIES = 100
_MAX_SCANNED = 5000
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def directory_listing(folder: Path) -> str:
    """Return the entries of `folder`, one per line, directories first with a trailing `/`.

    A long listing is truncated.
    """
    try:
        with os.scandir(folder) as entries:
            scanned = list(islice(entries, _MAX_SCANNED + 1))
            items = sorted((not _is_folder(entry), entry.name.lower(), entry.name) for entry in scanned)
    except OSError as error:
        return f"(can't be listed: {error.strerror or error})"
    lines = [printable_name(name) + ("" if is_file else "/") for is_file, _, name in items[:MAX_ENTRIES]]
    if len(scanned) > _MAX_SCANNED:
        lines.append(f"... and more than {_MAX_SCANNED - MAX_ENTRIES:,} more")
    elif len(items) > MAX_ENTRIES:
        lines.append(f"... and {len(items) - MAX_ENTRIES:,} more")
    return "\n".join(lines) or "(empty)"


def printable_name(name: str | Path) -> str:
    """Return a name or path on one line and in valid Unicode. File names are arbitrary bytes."""
    return _UNPRINTABLE.sub("\ufffd", str(name))


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False
