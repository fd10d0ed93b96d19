"""Detection of dangerous operations.

Each danger is reported as one short reason, shown in red. A wildcard rule never allows a dangerous operation.
"""

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from kimi_tui.base.message_text import msg
from kimi_tui.permission.bash.command_line import BashCommandLine
from kimi_tui.permission.bash.simple_command import SimpleCommand, Word
from kimi_tui.permission.bash.wrappers import SHELLS
from kimi_tui.permission.git_danger import git_danger
from kimi_tui.permission.known_programs import executes_stdin
from kimi_tui.permission.writable_roots import (
    WorkingDir,
    WritableRoots,
    is_harmless_device,
    is_network_file,
    protected_reason,
)
from kimi_tui.permission.write_targets import is_option, option_values, write_targets

_FORK_BOMB = re.compile(r"(?<!\w)(\w++|:)\s*+\(\)\s*\{[^}]*\1\s*\|\s*\1\s*&")
_MAX_FORK_BOMB_CHARS = 5_000
_LONG_BLANK = re.compile(r"(?<![^\S\n])[^\S\n]{60,}+\S|\S[^\S\n]*+\n(?:[^\S\n]*+\n){12,}+[^\S\n]*+\S")
"""Matches in linear time: each whitespace character is visited once."""
_LOOKALIKE_LETTERS = (
    r"\u0370-\u03ff\u0400-\u052f\u0531-\u058f\u13a0-\u13ff\u1d00-\u1d7f\uff21-\uff3a\uff41-\uff5a"
)
"""Greek, Cyrillic, Armenian, Cherokee, phonetic and full-width letters."""
_MIXED_LETTERS = re.compile(rf"[A-Za-z][{_LOOKALIKE_LETTERS}]|[{_LOOKALIKE_LETTERS}][A-Za-z]")
_PRIVILEGE_TOOLS = frozenset({"sudo", "doas", "su", "pkexec", "run0", "runuser"})
_DISK_TOOLS = frozenset(
    {
        "blkdiscard", "cryptsetup", "dd", "diskutil", "fdformat", "fdisk", "hdparm", "losetup", "lvremove",
        "mdadm", "mount", "parted", "pvremove", "sfdisk", "sgdisk", "swapoff", "swapon", "umount",
        "vgremove", "wipefs", "zpool",
    }
)  # fmt: skip
_SYSTEM_TOOLS = frozenset(
    {
        "chroot", "crontab", "halt", "init", "insmod", "ip6tables", "iptables", "kexec", "launchctl",
        "modprobe", "nft", "passwd", "poweroff", "reboot", "rmmod", "shutdown", "sysctl", "telinit",
        "useradd", "userdel", "usermod", "visudo",
    }
)  # fmt: skip
_PUBLISH_SUBCOMMANDS = {
    "cargo": {"publish", "yank"}, "docker": {"push"}, "gem": {"push", "yank"}, "hatch": {"publish"},
    "lerna": {"publish"}, "npm": {"deprecate", "publish", "unpublish"}, "nuget": {"push"}, "pdm": {"publish"},
    "pnpm": {"publish"}, "podman": {"push"}, "poetry": {"publish"}, "twine": {"upload"}, "uv": {"publish"},
    "vsce": {"publish"}, "yarn": {"publish"}, "mvn": {"deploy"}, "flit": {"publish"},
}  # fmt: skip
_DESTRUCTIVE_SUBCOMMANDS = {
    "aws": {"rb", "rm"}, "docker": {"prune", "rm", "rmi"}, "gcloud": {"delete"}, "gh": {"delete"},
    "helm": {"delete", "uninstall"}, "kubectl": {"delete", "drain"}, "podman": {"prune", "rm", "rmi"},
    "terraform": {"apply", "destroy"}, "tofu": {"apply", "destroy"},
}  # fmt: skip
_DATA_OPTIONS = frozenset({"-d", "--data", "--data-ascii", "--data-binary", "--json"})
_FORM_OPTIONS = frozenset({"-F", "--form"})
_UPLOAD_OPTIONS = {"curl": {"-T", "--upload-file"}, "wget": {"--body-file", "--post-file"}}
"""Options that take a file to upload."""


def danger_of_write(path: Path, writable_roots: WritableRoots) -> str | None:
    """Return why writing to `path` is dangerous; None if it isn't.

    `path` is absolute, with symbolic links resolved.
    """
    if protection := protected_reason(path):
        return protection
    return (
        None
        if writable_roots.contains(path)
        else msg("writes outside the working directory: {path}", path=path)
    )


def danger_of_commands(line: BashCommandLine, writable_roots: WritableRoots) -> str | None:
    """Return why the commands of `line` are dangerous, ignoring redirections; None if they aren't."""
    if line.unparsable_reason and _FORK_BOMB.search(line.text[:_MAX_FORK_BOMB_CHARS]):
        return "is a fork bomb"
    candidates = (*line.commands, *line.suspects)
    folders = writable_roots.working_dirs_of(line.commands)
    return next(
        (
            reason
            for command in candidates
            if (reason := _danger_of_command(command, writable_roots, folders)) is not None
        ),
        None,
    )


def danger_of_redirections(line: BashCommandLine, writable_roots: WritableRoots) -> str | None:
    """Return why a file that `line` redirects output to makes it dangerous; None if none does."""
    folders = writable_roots.working_dirs_of(line.commands)
    redirections = (each for command in (*line.commands, *line.suspects) for each in command.redirections)
    reasons = (
        _danger_of_target(each.target, writable_roots, folders) for each in redirections if each.writes
    )
    return next((reason for reason in reasons if reason is not None), None)


def _danger_of_target(
    word: Word, writable_roots: WritableRoots, folders: tuple[WorkingDir, ...]
) -> str | None:
    if is_harmless_device(word):
        return None
    reasons = (
        danger_of_write(path, writable_roots) for path in writable_roots.resolve_word(word, folders) or ()
    )
    return next((reason for reason in reasons if reason is not None), None)


def danger_of_deception(line: BashCommandLine) -> str | None:
    """Return why the user may misread the command they are asked to approve."""
    if line.is_too_long:
        return "is too long to check"
    if _LONG_BLANK.search(line.text):
        return "hides text behind a long run of whitespace"
    for command in line.commands:
        for word in command.words:
            if word.is_literal and _MIXED_LETTERS.search(word.text) and not re.search(r"\s", word.text):
                return "contains look-alike letters"
    return None


def _danger_of_command(
    command: SimpleCommand, writable_roots: WritableRoots, folders: tuple[WorkingDir, ...]
) -> str | None:
    for check in _CHECKS:
        if (reason := check(command)) is not None:
            return reason
    reasons = (_danger_of_target(word, writable_roots, folders) for word in write_targets(command))
    return next((reason for reason in reasons if reason is not None), None)


def _privilege_danger(command: SimpleCommand) -> str | None:
    if command.program in _PRIVILEGE_TOOLS:
        return msg("runs as another user ({program})", program=command.program)
    texts = [word.prefix for word in command.arguments]
    if command.program in ("chmod", "chown", "chgrp", "setfacl") and _has_flag(texts, "R", "--recursive"):
        return msg("changes permissions recursively ({program} -R)", program=command.program)
    if command.program == "chmod" and any(
        re.fullmatch(r"[2467]\d{3}|[ugoa]*\+\w*s\w*", text) for text in texts
    ):
        return "sets the setuid or setgid bit"
    return None


def _deletion_danger(command: SimpleCommand) -> str | None:
    texts = [word.prefix for word in command.arguments]
    match command.program:
        case "rm" if _has_flag(texts, "r", "--recursive") or _has_flag(texts, "R", "--recursive"):
            return "deletes recursively"
        case "find" if "-delete" in texts:
            return "deletes recursively (find -delete)"
        case "rsync" if any(text.startswith(("--delete", "--remove-source")) for text in texts):
            return "deletes recursively (rsync --delete)"
        case "shred" | "srm" | "wipe":
            return msg("destroys files ({program})", program=command.program)
    return None


def _system_danger(command: SimpleCommand) -> str | None:
    if command.program in _DISK_TOOLS or command.program.startswith("mkfs"):
        return msg("modifies disks or file systems ({program})", program=command.program)
    if command.program in _SYSTEM_TOOLS:
        return msg("changes the system ({program})", program=command.program)
    return None


def _kill_danger(command: SimpleCommand) -> str | None:
    if command.program in ("killall", "killall5", "pkill"):
        return msg("kills processes by name ({program})", program=command.program)
    if command.program == "kill" and "-1" in [word.prefix for word in command.arguments][1:]:
        return "kills all processes"
    return None


def _network_danger(command: SimpleCommand) -> str | None:
    """Return why bash's own redirections are dangerous. Other network programs are matched by name."""
    targets = (each.target for each in command.redirections if each.reads or each.writes)
    return "opens a network connection" if any(is_network_file(word) for word in targets) else None


def _dynamic_code_danger(command: SimpleCommand) -> str | None:
    if command.reads_pipe and executes_stdin(command):
        return msg("pipes into {program}", program=command.program)
    runs_text = command.program in SHELLS or command.program in ("eval", "source", ".")
    if runs_text and any(word.kind == "unknown" for word in command.arguments):
        return msg("runs code that isn't known in advance ({program})", program=command.program)
    return None


def _publish_danger(command: SimpleCommand) -> str | None:
    words = {word.prefix for word in command.arguments[:3]}
    if subcommands := words & _PUBLISH_SUBCOMMANDS.get(command.program, set()):
        return msg(
            "publishes ({program} {subcommand})", program=command.program, subcommand=subcommands.pop()
        )
    if command.program.startswith("python") and {"twine", "upload"} <= {
        word.prefix for word in command.arguments
    }:
        return "publishes (twine upload)"
    if subcommands := words & _DESTRUCTIVE_SUBCOMMANDS.get(command.program, set()):
        return msg(
            "changes or deletes shared resources ({program} {subcommand})",
            program=command.program,
            subcommand=subcommands.pop(),
        )
    return None


def _upload_danger(command: SimpleCommand) -> str | None:
    """Return why `command` is dangerous if it uploads a file's content, which the command line doesn't
    show.
    """
    uploads = any(
        True
        for _ in option_values(command.arguments, _UPLOAD_OPTIONS.get(command.program, set()), clusters=True)
    )
    if command.program == "curl":
        data = option_values(command.arguments, _DATA_OPTIONS, clusters=True)
        encoded = option_values(command.arguments, {"--data-urlencode"})
        forms = option_values(command.arguments, _FORM_OPTIONS, clusters=True)
        uploads |= (
            any(word.prefix.startswith("@") for word in data)
            or any(re.match("[^=]*@", word.prefix) for word in encoded)
            or any(re.search("=[@<]", word.text) for word in forms)
        )
    return msg("uploads a file ({program})", program=command.program) if uploads else None


def _clock_danger(command: SimpleCommand) -> str | None:
    sets_clock = command.program == "date" and _has_flag(
        [word.prefix for word in command.arguments], "s", "--set"
    )
    return "sets the system clock" if sets_clock else None


def _extraction_danger(command: SimpleCommand) -> str | None:
    if command.program != "tar" or not command.arguments:
        return None
    first = command.arguments[0].prefix
    keeps_absolute_paths = ("P" in first and re.match(r"-?[A-Za-z]+", first)) or any(
        is_option(word.prefix, "--absolute-names") or re.match(r"-[A-Za-z]*P", word.prefix)
        for word in command.arguments
    )
    return "extracts to absolute paths (tar -P)" if keeps_absolute_paths else None


def _has_flag(texts: Sequence[str], letter: str, name: str) -> bool:
    return any(
        is_option(text, name) or (re.match(r"-[A-Za-z]", text) is not None and letter in text)
        for text in texts
    )


_CHECKS: tuple[Callable[[SimpleCommand], str | None], ...] = (
    _privilege_danger,
    _deletion_danger,
    git_danger,
    _system_danger,
    _kill_danger,
    _network_danger,
    _dynamic_code_danger,
    _publish_danger,
    _upload_danger,
    _clock_danger,
    _extraction_danger,
)
