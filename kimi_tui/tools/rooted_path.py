"""Resolution of paths below another root directory, such as that of a workspace."""

import os
from pathlib import Path

_MAX_LINKS = 40


def real_path(path: str | Path, *, root: str = "") -> str:
    """Return the absolute `path` without links, as a process with that root directory resolves it.

    Without `root`, it is `os.path.realpath`. Components that don't exist stay as they are.
    """
    if not root:
        return os.path.realpath(path)
    pending = Path(os.path.normpath(path)).parts[:0:-1]
    names, resolved, n_links = list(pending), "", 0
    while names:
        name = names.pop()
        if name == "..":
            resolved = resolved.rpartition("/")[0]
            continue
        candidate = f"{resolved}/{name}"
        target = _read_link(f"{root}{candidate}")
        n_links += bool(target)
        if not target or n_links > _MAX_LINKS:
            resolved = candidate
            continue
        if target.startswith("/"):
            resolved = ""
        names += [part for part in reversed(target.split("/")) if part not in ("", ".")]
    return resolved or "/"


def _read_link(path: str) -> str:
    """Return the target of a link; empty for anything else."""
    try:
        return os.readlink(path)  # noqa: PTH115
    except OSError:  # also if it isn't a link
        return ""
