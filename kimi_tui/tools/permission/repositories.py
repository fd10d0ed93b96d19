"""Which repository git would work in: its configuration names programs, and git runs them.

`core.fsmonitor`, `diff.external`, filters and hooks run with `git status` and `git diff` already. A
repository that came with the files, which any folder is that has the right names in it, must not have them
run unasked.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from kimi_tui.tools.permission.part import Part
from kimi_tui.tools.permission.places import Folder, Places
from kimi_tui.tools.permission.reading_git import GLOBAL_FLAGS
from kimi_tui.tools.permission.repository_programs import runs_programs

_HARMLESS_ALONE = frozenset({"--version", "--help", "--html-path", "--man-path", "--info-path"})
_LEAVES_FILES = frozenset({"add", "commit", "fetch", "init", "push", "tag"})
"""Subcommands that change nothing in the work tree, so that none of its folders becomes a repository."""
_BARE = ("HEAD", "objects", "refs")
_LONGEST_LINK = 4096


def git_stays_home(parts: Sequence[Part], places: Places, only_reads: Callable[[Part], bool]) -> bool:
    """Whether every git command among `parts`, which run in order, works in a repository of the session.

    That is the one around the work dir or an added folder, or a part of it, such as a submodule, unless its
    own configuration names programs. A folder that may become another one while the line runs doesn't count.
    """
    if not any(part.program == "git" for part in parts):
        return True
    if any(part.program == "find" and _has(part, "-execdir", "-okdir") for part in parts):
        return False
    roots = (places.work_dir, *places.additional_dirs)
    found = [(home, top) for root in roots for home, top in _home_and_top(root) if not _is_open(home, places)]
    if any(runs_programs(home, top) for home, top in found):
        return False
    own = {home for home, _ in found}
    folders = places.folders_of(parts)
    files_stay = True
    for part in parts:
        if part.program == "git":
            starts = _starts_of(part, folders)
            if starts is None:
                return False
            for folder in starts:
                home = _home_of(folder)
                if home is not None and not any(home.is_relative_to(it) for it in own):
                    return False
                if not files_stay and (home is None or folder not in roots):
                    return False
        files_stay &= only_reads(part) or (part.program == "git" and _subcommand(part) in _LEAVES_FILES)
    return True


def _is_open(home: Path, places: Places) -> bool:
    """Whether what may change the session's files may change the repository kept in `home`."""
    return places.holds(home) and ".git" not in home.parts


def _home_of(folder: Path) -> Path | None:
    """Where the repository is kept that git finds from `folder`, links resolved; None when there is none."""
    return next((home for home, _ in _home_and_top(folder)), None)


def _home_and_top(folder: Path) -> Iterator[tuple[Path, Path]]:
    """The repository that git finds from `folder`, if any: where it is kept, and its work tree."""
    for place in (folder, *folder.parents):
        mark = place / ".git"
        try:
            if mark.is_dir():
                yield mark.resolve(), place
                return
            if mark.is_file():
                with mark.open(encoding="utf-8", errors="surrogateescape") as file:
                    named = file.read(_LONGEST_LINK).removeprefix("gitdir:").strip()
                yield (place / named).resolve(), place
                return
            if _is_bare(place):
                yield place.resolve(), place
                return
        except (OSError, ValueError):
            yield mark, place
            return


def _is_bare(folder: Path) -> bool:
    return all((folder / name).exists() for name in _BARE)


def _starts_of(part: Part, folders: Sequence[Folder]) -> list[Path] | None:
    """The folders in which git looks for its repository; None when it is told to look somewhere else."""
    found = list(folders)
    words = list(part.arguments)
    while words and words[0].lead.startswith("-"):
        option = words.pop(0)
        if option.text == "-C" and words and words[0].is_literal:
            step = words.pop(0).text
            found = [None if folder is None else (folder / step).resolve() for folder in found]
        elif option.text in _HARMLESS_ALONE:
            return []
        elif option.text not in GLOBAL_FLAGS:
            return None
    known = [folder for folder in found if folder is not None]
    return known if len(known) == len(found) else None


def _subcommand(part: Part) -> str:
    return next((word.text for word in part.arguments if word.is_literal), "")


def _has(part: Part, *texts: str) -> bool:
    return any(word.text in texts for word in part.arguments)
