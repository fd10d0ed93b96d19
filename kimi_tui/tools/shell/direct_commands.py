"""Commands whose text shows that they can't run in a workspace."""

from kimi_tui.permission.bash.command_line import BashCommandLine

_SERVICE_CLIENTS = frozenset(
    {
        "adb", "bazel", "bazelisk", "buck2", "code", "docker", "docker-compose", "emacsclient", "flatpak",
        "gradle", "gradlew", "launchctl", "lxc", "nerdctl", "open", "podman", "podman-compose", "screen",
        "service", "snap", "subl", "systemctl", "systemd-run", "tmux", "vagrant", "virsh", "watchman",
        "xdg-open", "zed",
    }
)  # fmt: skip
"""Programs that let another process do the work. It sees only the real files."""
_OWN_NAMESPACES = frozenset(
    {
        "bwrap", "chroot", "doas", "firejail", "fusermount", "fusermount3", "losetup", "mount", "nsenter",
        "pkexec", "run0", "runuser", "su", "sudo", "umount", "unshare",
    }
)  # fmt: skip
"""Programs that change users or mounts."""
_DETACHING = frozenset(
    {"at", "batch", "crontab", "daemonize", "kimi-tui", "nohup", "setsid", "start-stop-daemon"}
)
"""Programs that start processes that outlive the command, or that use the data directory."""


def direct_run_reason(line: BashCommandLine) -> str:
    """Return why a command must run directly; empty if it may run in a workspace."""
    programs = [each.program for each in (*line.commands, *line.suspects)]
    for program in programs:
        if program in _SERVICE_CLIENTS:
            return f"{program} works through another process, which sees only the real files"
        if program in _OWN_NAMESPACES:
            return f"{program} changes users or mounts"
        if program in _DETACHING:
            return f"{program} may outlive the command"
    return "it leaves background jobs" if _may_leave_jobs(line, programs) else ""


def _may_leave_jobs(line: BashCommandLine, programs: list[str]) -> bool:
    return line.has_background_job and "wait" not in programs
