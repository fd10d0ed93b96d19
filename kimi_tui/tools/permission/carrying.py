"""Commands that bring files along whose names they don't say: archives, patches, whole folders.

An archive or a folder of somebody else's may hold a `.git/config` or a hook, and put it over the project's.
"""

import re
from collections.abc import Collection, Sequence

from kimi_tui.tools.permission.part import Part, Word
from kimi_tui.tools.permission.places import Folder, Places
from kimi_tui.tools.permission.writes import is_option, operands_of, option_values

_TARS = frozenset({"bsdtar", "gtar", "tar"})
_UNPACKERS = frozenset({"7z", "7za", "7zr", "cpio", "jar", "patch", "unrar", "unzip"})
_ONLY_LOOKS = re.compile(r"-[lptvZ]+[qv]*|--list|--dry-run|l|t|-?t[vf]*")
"""With this first word, or among its options, an unpacker writes nothing."""
_COPIES = frozenset({"cp", "install", "mv", "rsync"})
_INTO = {"-C", "-d", "--directory", "--target-directory", "-t"}
_CARRYING = frozenset({"", ".", "..", ".git", ".kimi-tui"})


def may_replace_own_files(part: Part, folders: Collection[Folder], places: Places) -> bool:
    """Whether `part`, run in one of `folders`, may change git's files or ours without naming them."""
    if part.program in _COPIES:
        return _carries_hidden(part)
    if not _unpacks(part):
        return False
    into = list(option_values(part.arguments, _INTO, clusters=True))
    if not into:
        return True
    roots = (places.work_dir, *places.additional_dirs)
    targets = [places.targets(word, folders) for word in into]
    return any(found is None or any(path in roots for path in found) for found in targets)


def _unpacks(part: Part) -> bool:
    texts = [word.lead for word in part.arguments]
    if part.program in _TARS:
        return bool(texts) and (
            re.match(r"-?[A-Za-z]*x", texts[0]) is not None
            or any(re.match(r"-[A-Za-z]*x", text) or is_option(text, "--extract") for text in texts)
            or "--get" in texts
        )
    return part.program in _UNPACKERS and not any(map(_ONLY_LOOKS.fullmatch, texts))


def _carries_hidden(part: Part) -> bool:
    """Whether a copied folder may be, or bring, what is called `.git`: `a/.git`, `a/.`, `a/.*`, `-T a b`."""
    texts = [word.lead for word in part.arguments]
    if part.program != "rsync" and any(
        is_option(text, "--no-target-directory") or re.match(r"-[A-Za-z]*T", text) for text in texts
    ):
        return True
    return any(map(_may_be_hidden, _sources(part))) or (
        part.program == "rsync" and any(word.text.endswith("/") for word in _sources(part))
    )


def _sources(part: Part) -> Sequence[Word]:
    operands = operands_of(part.arguments, _INTO)
    named = any(True for _ in option_values(part.arguments, _INTO, clusters=True))
    return operands if named else operands[:-1]


def _may_be_hidden(word: Word) -> bool:
    if word.kind == "unknown":
        return True
    name = word.text.rstrip("/").rpartition("/")[2]
    if word.is_literal:
        return name.casefold() in _CARRYING
    return "{" in word.text or name.startswith((".", "'", '"', "\\"))
