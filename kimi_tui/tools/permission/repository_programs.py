"""Whether a repository's own configuration has git run programs when it only looks.

The settings are those of git-config(1), the hook is one of githooks(5).

A cloned repository has none such; one that came as an archive may. Read is what git reads by itself with
`git status` or `git diff`: the configuration of the repository, of its submodules and of those nested in its
index.
"""

import os
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

_KEY = re.compile(
    r"(?:^|\])[^\S\n]*+(fsmonitor|textconv|command|external|clean|process|smudge|program|hookspath)"
    r"[^\S\n]*(?:=[^\S\n]*(.*))?$",
    re.IGNORECASE | re.MULTILINE,
)
"""Keys stand at the beginning of a line or after their section's head, in one piece."""
_MORE_FILES = re.compile(r"(?:^|\])[^\S\n]*+\[[^\S\n]*+include", re.IGNORECASE | re.MULTILINE)
_LAZY = re.compile(r"promisor|partialclone", re.IGNORECASE)
_TRANSPORT = re.compile(r"sshcommand|gitproxy|uploadpack|\bvcs\b|::|askpass|\bhelper\b", re.IGNORECASE)
"""What may run when an object is missing that a partial clone has to fetch."""
_SWITCH = re.compile(r"true|false|yes|no|on|off|[01]", re.IGNORECASE)
_KNOWN_PROGRAM = re.compile(
    r"\"?(?:\\\")?(?:git-lfs|git-crypt|git-nbdiffdriver|nbdime|nbstripout)(?:\\\")?\"?(?: [\w.%=-]+)*\"?"
)
"""What programs that are installed for it write there, found on the PATH."""
_MOST_BYTES = 1 << 20
_MOST_INDEX_BYTES = 64 << 20
_MOST_MODULES = 200
_GITLINK = b"\x00\x00\xe0\x00"
_MODE_TO_FLAGS, _MODE_TO_NAME = 36, 38
"""Bytes from an entry's mode in the index to its flags and to its path, which is 2 later with more flags."""


def runs_programs(home: Path, top: Path) -> bool:
    """Whether git may run a program that the repository names when it looks at its work tree.

    It is kept in `home`, and its work tree begins at `top`. What can't be read counts.
    """
    try:
        return any(_names_programs(each, top) for each in _repositories(home, top))
    except (OSError, ValueError):
        return True


def _repositories(home: Path, top: Path) -> Iterator[Path]:
    yield home
    common = home / "commondir"
    if common.is_file():
        yield home / common.read_text("utf-8", "surrogateescape").strip()
    modules = (home / "modules").rglob("config") if (home / "modules").is_dir() else ()
    found = [config.parent for config in islice(modules, _MOST_MODULES + 1)]
    if len(found) > _MOST_MODULES:
        raise ValueError("too many to look at")
    yield from found
    yield from _nested(home, top)


def _names_programs(home: Path, top: Path) -> bool:
    hooks = [home / "hooks"]
    for name in ("config", "config.worktree"):
        text = _text(home / name)
        if _MORE_FILES.search(text) or (_LAZY.search(text) and _TRANSPORT.search(text)):
            return True
        for found in _KEY.finditer(text):
            key, setting = found[1].lower(), (found[2] or "").strip()
            if key == "hookspath":
                hooks.append(top / Path(setting.strip('"')).expanduser())
            elif not (_KNOWN_PROGRAM.fullmatch(setting) or (key == "fsmonitor" and _is_switch(setting))):
                return True
    return any((folder / "post-index-change").exists() for folder in hooks)


def _is_switch(setting: str) -> bool:
    return not setting or _SWITCH.fullmatch(setting) is not None


def _nested(home: Path, top: Path) -> Iterator[Path]:
    """The repositories in folders of the work tree that the index has as commits of others."""
    index = home / "index"
    if not index.is_file():
        return
    if index.stat().st_size > _MOST_INDEX_BYTES:
        raise ValueError("too much to look at")
    data = index.read_bytes()
    at = data.find(_GITLINK)
    if at >= 0 and (int.from_bytes(data[4:8], "big") > 3 or "sha256" in _text(home / "config")):
        raise ValueError("not readable here")  # paths stand elsewhere, or are told by the one before
    while at >= 0:
        start = at + _MODE_TO_NAME + 2 * _has_more_flags(data[at + _MODE_TO_FLAGS : at + _MODE_TO_FLAGS + 1])
        name = data[start : data.find(b"\x00", start)].decode("utf-8", "surrogateescape")
        nested = top / name / ".git"
        if name and os.path.isdir(nested):  # noqa: PTH112 - a name may be no name at all
            yield nested
        at = data.find(_GITLINK, at + 1)


def _has_more_flags(byte: bytes) -> bool:
    return bool(byte) and bool(byte[0] & 0x40)


def _text(path: Path) -> str:
    if not path.exists():
        return ""
    if not path.is_file() or path.stat().st_size > _MOST_BYTES:
        raise ValueError("not readable here")
    return path.read_text("utf-8", "surrogateescape")
