"""Bounds as a profile of macOS's sandbox-exec (`sandbox-exec(1)`, the language of its `.sb` files)."""

from collections.abc import Sequence
from pathlib import Path
from typing import assert_never

from kimi_tui.tools.sandbox.bounds import Access, Bounds

_TEMP = ("/private/tmp", "/private/var/tmp")
_DEVICES = ("/dev/null", "/dev/zero", "/dev/tty", "/dev/stdout", "/dev/stderr")
_ELSEWHERE = ("appleevent-send", "job-creation")
"""Ways to have another program do it."""


def seatbelt_command(program: str, bounds: Bounds, command: Sequence[str]) -> list[str]:
    """`command` under the sandbox-exec at `program`."""
    return [program, "-p", profile(bounds), "/usr/bin/env", f"TMPDIR={bounds.temp}", *command]


def profile(bounds: Bounds) -> str:
    """The rules; later ones hold over earlier ones, and `bounds` names outer folders first."""
    lines = ["(version 1)", "(allow default)", "(deny file-write*)"]
    lines += [f"(deny {operation})" for operation in _ELSEWHERE]
    lines += [f"(allow file-write* (literal {_quoted(name)}))" for name in _DEVICES]
    lines += [f"(allow file-write* (subpath {_quoted(name)}))" for name in _TEMP]
    for path, access in bounds.access.items():
        lines += _rules(path, access)
    lines.append(f"(allow file-read* file-write* (subpath {_quoted(str(bounds.temp))}))")
    if not bounds.network:
        lines.append("(deny network*)")
    return "\n".join(lines)


def _rules(path: Path, access: Access) -> tuple[str, ...]:
    where = f"(subpath {_quoted(str(path))})"
    match access:
        case "write":
            return (f"(allow file-read* file-write* {where})",)
        case "read":
            return (f"(allow file-read* {where})", f"(deny file-write* {where})")
        case "hidden":
            return (f"(deny file-read* file-write* {where})",)
        case "absent":
            return (f"(deny file-write* {where})",)
        case _:
            assert_never(access)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
