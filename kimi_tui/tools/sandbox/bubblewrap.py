"""Bounds as bubblewrap's command line (Linux; `bwrap(1)`)."""

from collections.abc import Sequence
from pathlib import Path
from typing import assert_never

from kimi_tui.tools.sandbox.bounds import Access, Bounds

_APART = (
    "--unshare-user",
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-cgroup-try",
    "--cap-drop",
    "ALL",
)
"""A user of its own without any privilege, to whom no other process can be seen."""
_OF_RUN = (
    "/run/systemd/resolve",
    "/run/resolvconf",
    "/run/NetworkManager",
    "/run/current-system",
    "/run/opengl-driver",
)
"""What of `/run` is needed: names of hosts, NixOS's programs. The rest of it is doors to other programs."""
_TEMP = ("/tmp", "/var/tmp")  # noqa: S108


def bubblewrap_command(program: str, bounds: Bounds, command: Sequence[str]) -> list[str]:
    """`command` under the bubblewrap at `program`.

    Later lines hold over earlier ones, and `bounds` names outer folders first.
    """
    line = [program, *_APART, *(() if bounds.network else ("--unshare-net",))]
    line += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/run"]
    for path in _OF_RUN:
        line += ["--ro-bind-try", path, path]
    for path in _TEMP:
        if Path(path).is_dir() and not Path(path).is_symlink():
            line += ["--bind", str(bounds.temp), path]
    for path_, access in bounds.access.items():
        line += _mounted(str(path_), path_, access)
    line += ["--setenv", "TMPDIR", "/tmp"]  # noqa: S108
    return [*line, "--chdir", str(bounds.work_dir), "--", *command]


def _mounted(name: str, path: Path, access: Access) -> tuple[str, ...]:
    match access:
        case "write":
            return ("--bind-try", name, name)
        case "read":
            return ("--ro-bind-try", name, name)
        case "hidden" if path.is_dir():
            return ("--perms", "0555", "--tmpfs", name)
        case "hidden" if path.exists():
            return ("--ro-bind", "/dev/null", name)
        case "hidden":
            return ()
        case "absent":
            return ("--perms", "0555", "--tmpfs", name)
        case _:
            assert_never(access)
