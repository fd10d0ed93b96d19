"""Sandbox policy as a bubblewrap command line (Linux, see `bwrap(1)`)."""

import os
from collections.abc import Mapping, Sequence
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
_RUN_PATHS = ("/run/current-system", "/run/opengl-driver")
"""The parts of `/run` that commands need: NixOS's programs. The rest mostly holds sockets."""
_READ_ONLY_IN_PROC = ("acpi", "bus", "fs", "irq", "scsi", "sys", "sysrq-trigger")
"""Settings of the kernel. Those in `sys` can be changed by root's user ID, even without capabilities."""
_HIDDEN_IN_PROC = ("keys", "key-users", "kcore", "kallsyms", "timer_list")
"""Descriptions of other programs' keys, and addresses of the kernel."""
_NAME_RESOLUTION_PATHS = ("/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager")
"""The parts of `/run` that commands with network access need. Their sockets send queries to the network."""
_TEMP = ("/tmp", "/var/tmp")  # noqa: S108


def bubblewrap_command(program: str, policy: SandboxPolicy, command: Sequence[str]) -> list[str]:
    """Return the command line that runs `command` under the bubblewrap at `program`.

    Later options override earlier ones, and `policy` lists outer directories first.
    """
    network = () if policy.network else ("--unshare-net",)
    return [program, *network, *_build_options(policy), "--chdir", str(policy.work_dir), "--", *command]


def bounded_command(program: str, policy: SandboxPolicy, command: Sequence[str], *, cwd: Path) -> list[str]:
    """Return the command line that runs `command` in `cwd`, in a view that the supervisor has mounted.

    The supervisor also creates the network namespace, so that it can read its counters.
    """
    return [program, *_build_options(policy), "--chdir", str(cwd), "--", *command]


def _build_options(policy: SandboxPolicy) -> list[str]:
    line = [*_ISOLATION_OPTIONS, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/run"]
    for name in _READ_ONLY_IN_PROC:
        line += ["--ro-bind-try", f"/proc/{name}", f"/proc/{name}"]
    for name in _HIDDEN_IN_PROC:
        if Path("/proc", name).exists():
            line += ["--ro-bind", "/dev/null", f"/proc/{name}"]
    for path in (*_RUN_PATHS, *(_NAME_RESOLUTION_PATHS if policy.network else ())):
        line += ["--ro-bind-try", path, path]
    for path in _TEMP:
        if Path(path).is_dir() and not Path(path).is_symlink():
            line += ["--bind", str(policy.temp), path]
    read_only = []
    rules = policy.effective_access()
    for target, access in rules.items():
        options = _mount_options(str(target), target, access)
        line += options
        if "--tmpfs" in options:
            read_only += ["--remount-ro", str(target)]
    for path in listening_sockets():
        if not _is_replaced(Path(path), rules):
            line += ["--ro-bind-try", "/dev/null", path]
    return [*line, *read_only, "--setenv", "TMPDIR", "/tmp"]  # noqa: S108


def listening_sockets() -> list[str]:
    """Return the paths of the sockets at which programs of this machine wait for connections.

    A read-only mount doesn't keep commands from connecting to them. See `unix(7)`.
    """
    try:
        lines = Path("/proc/net/unix").read_bytes().splitlines()[1:]
    except OSError:
        return []
    paths = {
        fields[7].decode("utf-8", "surrogateescape")
        for fields in (line.split(maxsplit=7) for line in lines)
        if len(fields) == 8 and fields[3] == b"00010000" and fields[7].startswith(b"/")
    }
    return sorted(path for path in paths if Path(path).is_socket())


def _is_replaced(path: Path, rules: Mapping[Path, Access]) -> bool:
    """Return whether `path` doesn't appear, or belongs to a directory that commands may write to."""
    real = Path(os.path.realpath(path))
    rule = next((rules[each] for each in (real, *real.parents) if each in rules), None)
    if rule is not None:
        return rule != "read"
    return any(real.is_relative_to(each) for each in ("/run", "/dev", *_TEMP))


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
