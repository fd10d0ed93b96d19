"""What a session has read that it might send to the network: secrets and files outside its directories."""

from collections.abc import Iterable
from pathlib import Path

from kimi_tui.base.message_text import msg
from kimi_tui.permission.subject import CommandSubject, SearchSubject, Subject, WebSubject

_MAX_PATHS = 20
_NETWORK_PROGRAMS = frozenset(
    {
        "aria2c", "curl", "dig", "ftp", "gh", "http", "https", "lftp", "nc", "ncat", "netcat", "nslookup",
        "rclone", "rsync", "scp", "sftp", "socat", "ssh", "telnet", "wget", "xh",
    }
)  # fmt: skip
_GIT_NETWORK_SUBCOMMANDS = frozenset({"clone", "fetch", "ls-remote", "pull", "push", "remote"})


class SensitiveReads:
    """Files that the session has read, the first ones first."""

    def __init__(self, paths: Iterable[str] = ()) -> None:
        self._paths = dict.fromkeys(paths)

    @property
    def paths(self) -> tuple[str, ...]:
        """The files, absolute."""
        return tuple(self._paths)

    def add(self, paths: Iterable[Path]) -> bool:
        """Add files; return whether there was a new one."""
        before = len(self._paths)
        for path in map(str, paths):
            if len(self._paths) < _MAX_PATHS:
                self._paths.setdefault(path)
        return len(self._paths) > before

    def danger_of(self, subject: Subject) -> str | None:
        """Return why network access by `subject` is dangerous after these reads; None if it isn't."""
        if not self._paths or not _uses_network(subject):
            return None
        first, *others = self._paths
        if others:
            return msg(
                "may send data that this session has read: {path} and {count} more",
                path=first,
                count=len(others),
            )
        return msg("may send data that this session has read: {path}", path=first)


def _uses_network(subject: Subject) -> bool:
    match subject:
        case WebSubject() | SearchSubject():
            return True
        case CommandSubject(line):
            return any(
                command.program in _NETWORK_PROGRAMS
                or (
                    command.program == "git"
                    and any(word.text in _GIT_NETWORK_SUBCOMMANDS for word in command.arguments)
                )
                for command in (*line.commands, *line.suspects)
            )
        case _:
            return False
