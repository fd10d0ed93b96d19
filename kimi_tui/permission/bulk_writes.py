"""Detection of commands that write files they don't name: archives, patches, copied directories.

An archive or directory from an untrusted source may contain a `.git/config` or a hook that would replace the
project's.
"""

import re
from collections.abc import Collection, Sequence

from kimi_tui.permission.bash.simple_command import SimpleCommand, Word
from kimi_tui.permission.writable_roots import WorkingDir, WritableRoots
from kimi_tui.permission.write_targets import is_option, operands_of, option_values

_TAR_PROGRAMS = frozenset({"bsdtar", "gtar", "tar"})
_EXTRACTORS = frozenset({"7z", "7za", "7zr", "cpio", "jar", "patch", "unrar", "unzip"})
_LIST_ONLY = re.compile(r"-[lptvZ]+[qv]*|--list|--dry-run|l|t|-?t[vf]*")
"""An extraction tool with one of these words, as its first argument or among its options, writes nothing."""
_COPY_PROGRAMS = frozenset({"cp", "install", "mv", "rsync"})
_TARGET_OPTIONS = {"-C", "-d", "--directory", "--target-directory", "-t"}
_CONTROL_NAMES = frozenset({"", ".", "..", ".git", ".kimi-tui"})


def may_overwrite_control_files(
    command: SimpleCommand, folders: Collection[WorkingDir], writable_roots: WritableRoots
) -> bool:
    """Return whether `command`, run in one of `folders`, may write unnamed files of git or kimi-tui."""
    if command.program in _COPY_PROGRAMS:
        return _may_copy_hidden(command)
    if not _extracts(command):
        return False
    target_words = list(option_values(command.arguments, _TARGET_OPTIONS, clusters=True))
    if not target_words:
        return True
    roots = (writable_roots.work_dir, *writable_roots.additional_dirs)
    targets = [writable_roots.resolve_word(word, folders) for word in target_words]
    return any(paths is None or any(path in roots for path in paths) for paths in targets)


def _extracts(command: SimpleCommand) -> bool:
    texts = [word.prefix for word in command.arguments]
    if command.program in _TAR_PROGRAMS:
        return bool(texts) and (
            re.match(r"-?[A-Za-z]*x", texts[0]) is not None
            or any(re.match(r"-[A-Za-z]*x", text) or is_option(text, "--extract") for text in texts)
            or "--get" in texts
        )
    return command.program in _EXTRACTORS and not any(map(_LIST_ONLY.fullmatch, texts))


def _may_copy_hidden(command: SimpleCommand) -> bool:
    """Return whether a copied directory may be or contain `.git`: `a/.git`, `a/.`, `a/.*`, `-T a b`."""
    texts = [word.prefix for word in command.arguments]
    if command.program != "rsync" and any(
        is_option(text, "--no-target-directory") or re.match(r"-[A-Za-z]*T", text) for text in texts
    ):
        return True
    return any(map(_may_be_hidden, _source_words(command))) or (
        command.program == "rsync" and any(word.text.endswith("/") for word in _source_words(command))
    )


def _source_words(command: SimpleCommand) -> Sequence[Word]:
    operands = operands_of(command.arguments, _TARGET_OPTIONS)
    has_target_option = any(True for _ in option_values(command.arguments, _TARGET_OPTIONS, clusters=True))
    return operands if has_target_option else operands[:-1]


def _may_be_hidden(word: Word) -> bool:
    if word.kind == "unknown":
        return True
    name = word.text.rstrip("/").rpartition("/")[2]
    if word.is_literal:
        return name.casefold() in _CONTROL_NAMES
    return "{" in word.text or name.startswith((".", "'", '"', "\\"))
