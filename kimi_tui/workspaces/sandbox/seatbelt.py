"""Sandbox policy as a profile for macOS's sandbox-exec (`sandbox-exec(1)`, the language of `.sb` files)."""

from collections.abc import Sequence
from pathlib import Path
from typing import assert_never

from kimi_tui.workspaces.sandbox.policy import Access, SandboxPolicy

_TEMP = ("/private/tmp", "/private/var/tmp")
_DEVICES = ("/dev/null", "/dev/zero", "/dev/tty", "/dev/stdout", "/dev/stderr")
_DELEGATION_OPERATIONS = ("appleevent-send", "job-creation")
"""Operations that make another program act."""


def seatbelt_command(program: str, policy: SandboxPolicy, command: Sequence[str]) -> list[str]:
    """Return the command line that runs `command` under the sandbox-exec at `program`."""
    return [program, "-p", build_profile(policy), "/usr/bin/env", f"TMPDIR={policy.temp}", *command]


def build_profile(policy: SandboxPolicy) -> str:
    """Return the profile. Later rules override earlier ones, and `policy` lists outer directories first."""
    lines = ["(version 1)", "(allow default)", "(deny file-write*)"]
    lines += [f"(deny {operation})" for operation in _DELEGATION_OPERATIONS]
    lines += [f"(allow file-write* (literal {_quote(name)}))" for name in _DEVICES]
    lines += [f"(allow file-write* (subpath {_quote(name)}))" for name in _TEMP]
    for path, access in policy.access.items():
        lines += _path_rules(path, access)
    lines.append(f"(allow file-read* file-write* (subpath {_quote(str(policy.temp))}))")
    if not policy.network:
        lines.append("(deny network*)")
    return "\n".join(lines)


def _path_rules(path: Path, access: Access) -> tuple[str, ...]:
    subpath = f"(subpath {_quote(str(path))})"
    match access:
        case "write":
            return (f"(allow file-read* file-write* {subpath})",)
        case "read":
            return (f"(allow file-read* {subpath})", f"(deny file-write* {subpath})")
        case "hidden":
            return (f"(deny file-read* file-write* {subpath})",)
        case "absent":
            return (f"(deny file-write* {subpath})",)
        case _:
            assert_never(access)


def _quote(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
