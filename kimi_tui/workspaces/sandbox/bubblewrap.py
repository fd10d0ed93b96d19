"""Sandbox policy as a bubblewrap command line (Linux, see `bwrap(1)`)."""

from collections.abc import Sequence
from pathlib import Path
from typing import assert_never

from kimi_tui.workspaces.sandbox.policy import Access, SandboxPolicy

_ISOLATION_OPTIONS = (
    "--unshare-user",
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-cgroup-try",
    "--cap-drop",
    "ALL",
)
"""Run as a separate unprivileged user that can't see any other process."""
_RUN_PATHS = (
    "/run/systemd/resolve",
    "/run/resolvconf",
    "/run/NetworkManager",
    "/run/current-system",
    "/run/opengl-driver",
)
"""The parts of `/run` that commands need: name resolution and NixOS's programs. The rest mostly holds sockets
of other programs."""
_TEMP = ("/tmp", "/var/tmp")  # noqa: S108


def bubblewrap_command(program: str, policy: SandboxPolicy, command: Sequence[str]) -> list[str]:
    """Return the command line that runs `command` under the bubblewrap at `program`.

    Later options override earlier ones, and `policy` lists outer directories first.
    """
    line = [program, *_ISOLATION_OPTIONS, *(() if policy.network else ("--unshare-net",))]
    line += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/run"]
    for path in _RUN_PATHS:
        line += ["--ro-bind-try", path, path]
    for path in _TEMP:
        if Path(path).is_dir() and not Path(path).is_symlink():
            line += ["--bind", str(policy.temp), path]
    for target, access in policy.access.items():
        line += _mount_options(str(target), target, access)
    line += ["--setenv", "TMPDIR", "/tmp"]  # noqa: S108
    return [*line, "--chdir", str(policy.work_dir), "--", *command]


def _mount_options(name: str, path: Path, access: Access) -> tuple[str, ...]:
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
