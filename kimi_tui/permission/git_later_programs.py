"""Detection of changed files that make git run a program the next time the repository is used.

A command that may only change the project could otherwise act with the user's rights later: through the
configuration or a hook of a nested repository, a `commondir` that names another one, or a directory that git
takes for a bare repository. Harmless settings are listed, so that an unknown one counts as dangerous. See
git-config(1), gitrepository-layout(5) and githooks(5).
"""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg

_BARE_NAMES = ("HEAD", "objects", "refs")
_BARE_MEMBERS = frozenset({"config", "commondir", "head", "hooks", "objects", "refs"})
_UNKNOWN_CONTENT = "/"
"""A source that can't be read."""
_CONFIG_NAMES = ("config", "config.worktree")
_SEQUENCES = ("rebase-apply", "rebase-merge", "sequencer")
_MAX_BYTES = 1 << 20
_SECTION = re.compile(r'\[\s*([A-Za-z0-9.-]+)\s*(?:"(?:[^"\\]|\\.)*")?\s*\]\s*(.*)')
_SETTING = re.compile(r"([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*))?")
_TODO_PROGRAM = re.compile(r"^\s*(?:exec|x)\b", re.MULTILINE)
_HARMLESS_SETTINGS: Mapping[str, frozenset[str]] = {
    section: frozenset(names.split())
    for section, names in {
        "branch": "description merge pushremote rebase remote",
        "color": "branch diff status ui",
        "commit": "gpgsign",
        "core": "abbrev autocrlf bare commentchar eol filemode ignorecase logallrefupdates longpaths "
        "precomposeunicode quotepath repositoryformatversion safecrlf sharedrepository sparsecheckout "
        "sparsecheckoutcone splitindex symlinks untrackedcache whitespace worktree",
        "diff": "algorithm renames",
        "extensions": "objectformat partialclone worktreeconfig",
        "feature": "manyfiles",
        "fetch": "prune",
        "gc": "auto",
        "index": "version",
        "init": "defaultbranch",
        "merge": "conflictstyle ff",
        "pull": "ff rebase",
        "push": "autosetupremote default followtags",
        "rebase": "autosquash autostash",
        "remote": "fetch gh-resolved mirror partialclonefilter promisor prune pushurl tagopt url",
        "rerere": "enabled",
        "status": "showuntrackedfiles",
        "submodule": "active recurse url",
        "tag": "sort",
        "user": "email name",
    }.items()
}
_PLAIN_URL = re.compile(r"(?:(?:https?|ssh|git|file)://)?[\w@./~][\w@./:~%+,=-]*")


@frozen
class ChangedFile:
    """A file, a link or a new directory after a command."""

    path: Path
    """Absolute; where it is, or will be."""
    source: str
    """Where a file's content can be read now."""
    is_link: bool = False
    is_folder: bool = False


class _ChangedFiles:
    """The changed files of one command."""

    def __init__(self, files: Sequence[ChangedFile]) -> None:
        self._sources = {file.path: file.source for file in files}
        self._folders = {parent for file in files for parent in file.path.parents}

    def exists(self, path: Path) -> bool:
        """Return whether something is at `path` after the command, or was before."""
        return path in self._sources or path in self._folders or os.path.lexists(path)

    def contains(self, path: Path) -> bool:
        """Return whether the command changed `path`."""
        return path in self._sources

    def source_of(self, path: Path) -> str:
        """Return where the content of `path` after the command can be read."""
        return self._sources.get(path, str(path))


def find_later_programs(files: Sequence[ChangedFile]) -> dict[Path, str]:
    """Return the `files` that make git run a program later, each with the reason. Blocks.

    A change that completes a repository counts if its configuration, changed or not, names programs.
    """
    changed = _ChangedFiles(files)
    found: dict[Path, str] = {}
    for file in files:
        if reason := _find_reason(file, changed):
            found[file.path] = reason
    return found


def reason_for_writing(path: Path) -> str:
    """Return the reason if git may run a program once something is written to `path`, whatever it is.

    Only directories that git takes for bare repositories are checked. Empty if there is no reason. Blocks.
    """
    if _BARE_MEMBERS.isdisjoint(part.casefold() for part in path.parts):
        return ""
    file = ChangedFile(path, _UNKNOWN_CONTENT)
    return _reason_for_bare(file, _ChangedFiles([file]))


def settings_name_programs(text: str) -> bool:
    """Return whether a git configuration has a setting that isn't known to be harmless."""
    section = ""
    for line in text.split("\n"):
        rest = line.strip()
        if match := _SECTION.match(rest):
            section, rest = match[1].lower().partition(".")[0], match[2]
        if not rest or rest[0] in "#;":
            continue
        setting = _SETTING.fullmatch(rest)
        if setting is None or rest.endswith("\\"):
            return True
        name, value = setting[1].lower(), (setting[2] or "").strip()
        if (section, name) == ("core", "fsmonitor") and value.lower() in ("", "true", "false"):
            continue  # git's own service
        if name not in _HARMLESS_SETTINGS.get(section, ()):
            return True
        if name.endswith("url") and not _PLAIN_URL.fullmatch(value.strip('"')):
            return True
    return False


def _find_reason(file: ChangedFile, changed: _ChangedFiles) -> str:
    parts = [part.casefold() for part in file.path.parts]  # some file systems ignore case
    if ".git" in parts and file.is_folder:
        return ""
    if parts[-1] == ".git":
        return _reason_for_git_file(file)
    if ".git" in parts:
        inside = tuple(parts[len(parts) - 1 - parts[::-1].index(".git") + 1 :])
        return _reason_in_git_dir(file, inside)
    return _reason_for_bare(file, changed)


def _reason_for_git_file(file: ChangedFile) -> str:
    """Return the reason for a file or link named `.git`, which names the repository elsewhere."""
    if file.is_link:
        return msg("git would use the repository that a link names")
    target = _read(file.source).removeprefix("gitdir:").strip()
    parts = os.path.normpath(file.path.parent / target).split("/")
    if ".git" in parts and parts[parts.index(".git") + 1 :][:1] in (["modules"], ["worktrees"]):
        return ""
    return msg("git would use a repository in another directory")


def _reason_in_git_dir(file: ChangedFile, inside: tuple[str, ...]) -> str:
    name = inside[-1]
    if file.is_link:
        return msg("git would follow a link to its settings")
    if name in _CONFIG_NAMES:
        return _reason_for_config(file.source)
    if "hooks" in inside[:-1]:
        return "" if name.endswith(".sample") else msg("git would run a hook")
    if name == "commondir":
        is_usual = len(inside) == 3 and inside[0] == "worktrees" and _read(file.source).strip() == "../.."
        return "" if is_usual else msg("git would use a repository in another directory")
    if inside[0] in ("branches", "remotes"):
        return msg("git would use other settings of a remote")
    if any(part in _SEQUENCES for part in inside) and _TODO_PROGRAM.search(_read(file.source)):
        return msg("git would run a program when a rebase continues")
    return ""


def _reason_for_bare(file: ChangedFile, changed: _ChangedFiles) -> str:
    """Return the reason for a file of a directory that git takes for a bare repository."""
    parts = file.path.parts
    for folder in file.path.parents:
        member = parts[len(folder.parts)]
        if member.casefold() not in _BARE_MEMBERS:
            continue
        if not all(changed.exists(folder / name) for name in _BARE_NAMES):
            continue
        if member.casefold() == "commondir":
            return msg("git would use a repository in another directory")
        if member.casefold() == "hooks" and not (file.is_folder or file.path.name.endswith(".sample")):
            return msg("git would run a hook")
        if member.casefold() != "config" and changed.contains(folder / "config"):
            continue  # that file has the reason
        if reason := _reason_for_config(changed.source_of(folder / "config")):
            return reason
    return ""


def _reason_for_config(source: str) -> str:
    reason: str = msg("git would run a program that its settings name")
    return reason if settings_name_programs(_read(source)) else ""


def _read(source: str) -> str:
    """Return the text of a file. If it can't be read, return a setting that counts as dangerous."""
    unreadable = "[core]\n\tfsmonitor = ?\nexec"
    try:
        with open(source, "rb") as file:  # noqa: PTH123 - bytes that aren't UTF-8
            data = file.read(_MAX_BYTES + 1)
    except FileNotFoundError:
        return ""
    except OSError:
        return unreadable
    return data.decode("utf-8", "surrogateescape") if len(data) <= _MAX_BYTES else unreadable
