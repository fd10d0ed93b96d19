"""A folder as a system prompt shows it: its entries, bounded."""

import os
import re
from itertools import islice
from pathlib import Path

MAX_SHOWN = 100
_MAX_LOOKED_AT = 5000
_UNREADABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def list_folder(folder: Path) -> str:
    """The entries of `folder`, one a line, folders first with a `/` behind; says how many are left out."""
    try:
        with os.scandir(folder) as entries:
            looked_at = list(islice(entries, _MAX_LOOKED_AT + 1))
            shown = sorted((not _is_folder(entry), entry.name.lower(), entry.name) for entry in looked_at)
    except OSError as error:
        return f"(can't be listed: {error.strerror or error})"
    lines = [readable(name) + ("" if is_file else "/") for is_file, _, name in shown[:MAX_SHOWN]]
    if len(looked_at) > _MAX_LOOKED_AT:
        lines.append(f"... and more than {_MAX_LOOKED_AT - MAX_SHOWN:,} more")
    elif len(shown) > MAX_SHOWN:
        lines.append(f"... and {len(shown) - MAX_SHOWN:,} more")
    return "\n".join(lines) or "(empty)"


def readable(name: str | Path) -> str:
    """A name or path on one line and in valid Unicode: names are bytes, and may hold anything."""
    return _UNREADABLE.sub("\ufffd", str(name))


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False
