"""What makes an act dangerous: one short reason, shown in red, never granted by a wildcard."""

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import assert_never

from kimi_tui.tools.approval import CommandSubject, McpSubject, PathSubject, Subject, TaskSubject, ToolSubject
from kimi_tui.tools.permission.command_line import CommandLine, parse_command
from kimi_tui.tools.permission.danger_git import git_danger
from kimi_tui.tools.permission.part import Part, Word
from kimi_tui.tools.permission.places import (
    Folder,
    Places,
    is_harmless_device,
    is_network_file,
    protection_of,
)
from kimi_tui.tools.permission.programs import reads_script
from kimi_tui.tools.permission.wrappers import SHELLS
from kimi_tui.tools.permission.writes import is_option, option_values, written_words

_FORK_BOMB = re.compile(r"(?<!\w)(\w++|:)\s*+\(\)\s*\{[^}]*\1\s*\|\s*\1\s*&")
_LONGEST_BOMB = 5_000
_LONG_BLANK = re.compile(r"(?<![^\S\n])[^\S\n]{60,}+\S|\S[^\S\n]*+\n(?:[^\S\n]*+\n){12,}+[^\S\n]*+\S")
"""Looks at each blank once."""
_LOOKING_ALIKE = (
    r"\u0370-\u03ff\u0400-\u052f\u0531-\u058f\u13a0-\u13ff\u1d00-\u1d7f\uff21-\uff3a\uff41-\uff5a"
)
"""Greek, Cyrillic, Armenian, Cherokee, phonetic and wide letters."""
_MIXED_LETTERS = re.compile(rf"[A-Za-z][{_LOOKING_ALIKE}]|[{_LOOKING_ALIKE}][A-Za-z]")
_AS_SOMEONE_ELSE = frozenset({"sudo", "doas", "su", "pkexec", "run0", "runuser"})
_DISK_TOOLS = frozenset(
    {
        "blkdiscard", "cryptsetup", "dd", "diskutil", "fdformat", "fdisk", "hdparm", "losetup", "lvremove",
        "mdadm", "mount", "parted", "pvremove", "sfdisk", "sgdisk", "swapoff", "swapon", "umount",
        "vgremove", "wipefs", "zpool",
    }
)  # fmt: skip
_MACHINE_TOOLS = frozenset(
    {
        "chroot", "crontab", "halt", "init", "insmod", "ip6tables", "iptables", "kexec", "launchctl",
        "modprobe", "nft", "passwd", "poweroff", "reboot", "rmmod", "shutdown", "sysctl", "telinit",
        "useradd", "userdel", "usermod", "visudo",
    }
)  # fmt: skip
_PUBLISHING = {
    "cargo": {"publish", "yank"}, "docker": {"push"}, "gem": {"push", "yank"}, "hatch": {"publish"},
    "lerna": {"publish"}, "npm": {"deprecate", "publish", "unpublish"}, "nuget": {"push"}, "pdm": {"publish"},
    "pnpm": {"publish"}, "podman": {"push"}, "poetry": {"publish"}, "twine": {"upload"}, "uv": {"publish"},
    "vsce": {"publish"}, "yarn": {"publish"}, "mvn": {"deploy"}, "flit": {"publish"},
}  # fmt: skip
_DESTROYING = {
    "aws": {"rb", "rm"}, "docker": {"prune", "rm", "rmi"}, "gcloud": {"delete"}, "gh": {"delete"},
    "helm": {"delete", "uninstall"}, "kubectl": {"delete", "drain"}, "podman": {"prune", "rm", "rmi"},
    "terraform": {"apply", "destroy"}, "tofu": {"apply", "destroy"},
}  # fmt: skip
_OF_COMPILERS = {"-B", "-Xclang", "-fplugin", "-load", "-specs", "--specs", "-wrapper"}
_RUNNING_OPTIONS = {
    "ack": {"--pager"}, "ag": {"--pager"}, "c++": _OF_COMPILERS, "cargo": {"--config"}, "cc": _OF_COMPILERS,
    "clang": _OF_COMPILERS, "clang++": _OF_COMPILERS, "curl": {"-K", "--config"}, "diff3": {"--diff-program"},
    "g++": _OF_COMPILERS, "gcc": _OF_COMPILERS, "go": {"-exec", "-toolexec", "-vettool"},
    "man": {"-H", "-P", "--html", "--pager"}, "npm": {"--script-shell"}, "pnpm": {"--script-shell"},
    "rg": {"--hostname-bin", "--pre"}, "rsync": {"-e", "--rsh", "--rsync-path"}, "sdiff": {"--diff-program"},
    "sort": {"--compress-program"}, "split": {"--filter"}, "tar": {"-F", "-I", "--checkpoint-action",
    "--info-script", "--new-volume-script", "--rsh-command", "--to-command", "--use-compress-program"},
    "wget": {"-e", "--execute", "--use-askpass"}, "zip": {"-TT", "--unzip-command"},
}  # fmt: skip
"""Options by which a program runs another."""
_DATA = frozenset({"-d", "--data", "--data-ascii", "--data-binary", "--json"})
_FORMS = frozenset({"-F", "--form"})
_FILES = {"curl": {"-T", "--upload-file"}, "wget": {"--body-file", "--post-file"}}
"""Options that take a file to send."""


def danger_of(subject: Subject, *, work_dir: Path, additional_dirs: Iterable[Path] = ()) -> str | None:
    """Why acting on `subject` is dangerous, in a few words; None when nothing about it is known to be."""
    places = Places.of(work_dir, additional_dirs)
    match subject:
        case CommandSubject(command):
            line = parse_command(command)
            return danger_of_commands(line, places) or _danger_of_redirections(line, places) or _deceit(line)
        case PathSubject(path, writes):
            return danger_of_write(path, places) if writes else None
        case McpSubject() | TaskSubject() | ToolSubject():
            return None
        case _:
            assert_never(subject)


def danger_of_write(path: Path, places: Places) -> str | None:
    """Why changing `path`, absolute and with links resolved, is dangerous."""
    if protection := protection_of(path):
        return protection
    return None if places.holds(path) else f"writes outside the work dir: {path}"


def danger_of_commands(line: CommandLine, places: Places) -> str | None:
    """Why the commands of `line` are dangerous, wherever their output goes."""
    if line.unreadable and _FORK_BOMB.search(line.text[:_LONGEST_BOMB]):
        return "starts processes without end"
    parts = (*line.parts, *line.suspects)
    folders = places.folders_of(line.parts)
    return next(
        (reason for part in parts if (reason := _danger_of_part(part, places, folders)) is not None), None
    )


def _danger_of_redirections(line: CommandLine, places: Places) -> str | None:
    folders = places.folders_of(line.parts)
    redirections = (each for part in (*line.parts, *line.suspects) for each in part.redirections)
    reasons = (_danger_of_target(each.target, places, folders) for each in redirections if each.writes)
    return next((reason for reason in reasons if reason is not None), None)


def _danger_of_target(word: Word, places: Places, folders: tuple[Folder, ...]) -> str | None:
    if is_harmless_device(word):
        return None
    reasons = (danger_of_write(path, places) for path in places.targets(word, folders) or ())
    return next((reason for reason in reasons if reason is not None), None)


def _deceit(line: CommandLine) -> str | None:
    """What would have the user agree to something else than they see."""
    if line.is_too_long:
        return "is too long to be looked through"
    if _LONG_BLANK.search(line.text):
        return "hides text behind a long blank"
    for part in line.parts:
        for word in part.words:
            if word.is_literal and _MIXED_LETTERS.search(word.text) and not re.search(r"\s", word.text):
                return "mixes letters that look like others"
    return None


def _danger_of_part(part: Part, places: Places, folders: tuple[Folder, ...]) -> str | None:
    for check in _CHECKS:
        if (reason := check(part)) is not None:
            return reason
    reasons = (_danger_of_target(word, places, folders) for word in written_words(part))
    return next((reason for reason in reasons if reason is not None), None)


def _rights(part: Part) -> str | None:
    if part.program in _AS_SOMEONE_ELSE:
        return f"runs with another user's rights ({part.program})"
    texts = [word.lead for word in part.arguments]
    if part.program in ("chmod", "chown", "chgrp", "setfacl") and _has_flag(texts, "R", "--recursive"):
        return f"changes rights recursively ({part.program} -R)"
    if part.program == "chmod" and any(re.fullmatch(r"[2467]\d{3}|[ugoa]*\+\w*s\w*", text) for text in texts):
        return "gives a program its owner's rights"
    return None


def _deletion(part: Part) -> str | None:
    texts = [word.lead for word in part.arguments]
    match part.program:
        case "rm" if _has_flag(texts, "r", "--recursive") or _has_flag(texts, "R", "--recursive"):
            return "deletes recursively"
        case "find" if "-delete" in texts:
            return "deletes recursively (find -delete)"
        case "rsync" if any(text.startswith(("--delete", "--remove-source")) for text in texts):
            return "deletes recursively (rsync --delete)"
        case "shred" | "srm" | "wipe":
            return f"destroys files ({part.program})"
    return None


def _machine(part: Part) -> str | None:
    if part.program in _DISK_TOOLS or part.program.startswith("mkfs"):
        return f"works on disks ({part.program})"
    if part.program in _MACHINE_TOOLS:
        return f"changes the machine ({part.program})"
    return None


def _killing(part: Part) -> str | None:
    if part.program in ("killall", "killall5", "pkill"):
        return f"ends processes by name ({part.program})"
    if part.program == "kill" and "-1" in [word.lead for word in part.arguments][1:]:
        return "ends every process"
    return None


def _network(part: Part) -> str | None:
    """Of bash itself; other programs are known by their names."""
    targets = (each.target for each in part.redirections if each.reads or each.writes)
    return "talks to the network" if any(is_network_file(word) for word in targets) else None


def _unseen_code(part: Part) -> str | None:
    if part.reads_pipe and reads_script(part):
        return f"pipes into {part.program}"
    runs_text = part.program in SHELLS or part.program in ("eval", "source", ".")
    if runs_text and any(word.kind == "unknown" for word in part.arguments):
        return f"runs code that isn't known before ({part.program})"
    return None


def _publishing(part: Part) -> str | None:
    words = {word.lead for word in part.arguments[:3]}
    if found := words & _PUBLISHING.get(part.program, set()):
        return f"publishes ({part.program} {found.pop()})"
    if part.program.startswith("python") and {"twine", "upload"} <= {word.lead for word in part.arguments}:
        return "publishes (twine upload)"
    if found := words & _DESTROYING.get(part.program, set()):
        return f"changes or deletes what others may use ({part.program} {found.pop()})"
    return None


def _running_option(part: Part) -> str | None:
    names = _RUNNING_OPTIONS.get(part.program, set())
    for word in part.arguments:
        option = word.lead.partition("=")[0]
        if any(is_option(option, name) or _is_attached(word.lead, name) for name in names):
            return f"makes {part.program} run another program ({option})"
    return None


def _sending(part: Part) -> str | None:
    """Of files: what a server is told of this machine that the command doesn't show."""
    sends = any(True for _ in option_values(part.arguments, _FILES.get(part.program, set()), clusters=True))
    if part.program == "curl":
        data = option_values(part.arguments, _DATA, clusters=True)
        encoded = option_values(part.arguments, {"--data-urlencode"})
        forms = option_values(part.arguments, _FORMS, clusters=True)
        sends |= (
            any(word.lead.startswith("@") for word in data)
            or any(re.match("[^=]*@", word.lead) for word in encoded)
            or any(re.search("=[@<]", word.text) for word in forms)
        )
    return f"sends a file ({part.program})" if sends else None


def _setting_clock(part: Part) -> str | None:
    sets = part.program == "date" and _has_flag([word.lead for word in part.arguments], "s", "--set")
    return "sets the clock" if sets else None


def _unpacking(part: Part) -> str | None:
    if part.program != "tar" or not part.arguments:
        return None
    first = part.arguments[0].lead
    leaves = ("P" in first and re.match(r"-?[A-Za-z]+", first)) or any(
        is_option(word.lead, "--absolute-names") or re.match(r"-[A-Za-z]*P", word.lead)
        for word in part.arguments
    )
    return "unpacks to wherever the archive says (tar -P)" if leaves else None


def _is_attached(text: str, name: str) -> bool:
    return len(name) == 2 and text.startswith(name) and not text.startswith("--")


def _has_flag(texts: Sequence[str], letter: str, name: str) -> bool:
    return any(
        is_option(text, name) or (re.match(r"-[A-Za-z]", text) is not None and letter in text)
        for text in texts
    )


_CHECKS: tuple[Callable[[Part], str | None], ...] = (
    _rights,
    _deletion,
    git_danger,
    _machine,
    _killing,
    _network,
    _unseen_code,
    _publishing,
    _running_option,
    _sending,
    _setting_clock,
    _unpacking,
)
