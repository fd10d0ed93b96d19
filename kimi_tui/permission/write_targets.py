"""Files that a command writes, found among its arguments."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence, Set

from kimi_tui.permission.bash.simple_command import SimpleCommand, Word

_PATH_OPTIONS: Mapping[str, Set[str]] = {
    "cargo": {"-C", "--manifest-path", "--target-dir"},
    "clang": {"-o"},
    "cp": {"-t", "--target-directory"},
    "curl": {
        "-D", "-c", "-o", "--alt-svc", "--cookie-jar", "--dump-header", "--etag-save", "--hsts", "--libcurl",
        "--output", "--output-dir", "--stderr", "--trace", "--trace-ascii",
    },
    "find": {"-fls", "-fprint", "-fprint0", "-fprintf"},
    "gcc": {"-o"},
    "git": {"-o", "--output", "--output-directory"},
    "go": {"-C", "-o"},
    "install": {"-t", "--target-directory"},
    "ln": {"-t", "--target-directory"},
    "mv": {"-t", "--target-directory"},
    "npm": {"-C", "--prefix"},
    "openssl": {"-out"},
    "patch": {"-d", "-o", "-r", "--directory", "--output", "--reject-file"},
    "pip": {"-t", "--prefix", "--target"},
    "pnpm": {"-C", "--dir"},
    "pytest": {"--basetemp"},
    "sort": {"-T", "-o", "--output", "--temporary-directory"},
    "tar": {
        "-C", "-g", "--directory", "--index-file", "--listed-incremental", "--one-top-level", "--volno-file",
    },
    "tree": {"-o"},
    "unzip": {"-d"},
    "wget": {
        "-O", "-P", "-a", "-o", "--append-output", "--directory-prefix", "--output-document", "--output-file",
        "--save-cookies",
    },
    "yarn": {"--cwd"},
}  # fmt: skip
"""Options that take a path to write to, or a directory to work in."""
_CLUSTERED_PROGRAMS = frozenset(
    {"cp", "curl", "git", "install", "ln", "mv", "patch", "pip", "sort", "tar", "tree", "unzip", "wget"}
)
"""Those programs that accept several one-letter options in one word."""
_TAR_READ_MODE = re.compile(r"-?[BSUWahijklmpvwzJOZ]*[tx]|--(?:extract|get|list)")
"""First word of a `tar` command that doesn't write its archive."""
_TAR_VALUED_LETTERS = frozenset("CFHIKLNTVXbfg")
"""Letters in the first word of `tar` that take a value."""


def write_targets(command: SimpleCommand) -> list[Word]:
    """Return the words of `command` that name what it creates, changes or removes, without redirections."""
    path_options = _PATH_OPTIONS.get(command.program, set())
    clusters = command.program in _CLUSTERED_PROGRAMS
    words = list(option_values(command.arguments, path_options, clusters=clusters))
    operands = operands_of(command.arguments, path_options)
    match command.program:
        case (
            "tee" | "rm" | "rmdir" | "unlink" | "shred" | "touch" | "mkdir" | "mkfifo" | "mknod" | "truncate"
        ):
            words += operands
        case "mv" | "gunzip" | "gzip" | "bzip2" | "xz" | "zstd" | "rename" | "srm" | "trash":
            words += operands
        case "chmod" | "chown" | "chgrp" | "setfacl":
            words += operands[1:]
        case "cp" | "install" | "rsync" | "scp":
            words += operands[-1:]
        case "ln":
            words += operands  # the link's target as well: writes through the link end up there
        case "sed" | "perl" | "ruby" if _edits_in_place(command):
            words += operands
        case "uniq" | "xxd":
            words += operands[1:2]
        case "tar":
            words += _tar_write_targets(command.arguments)
        case "zip" | "patch":
            words += operands[:1]
        case "dd":
            words += _assigned_values(command.arguments, "of")
        case "git" if operands and operands[0].prefix in ("clone", "worktree"):
            words += operands[2:]
        case "git" if operands and operands[0].prefix == "init":
            words += operands[1:]
    return words


def option_values(
    arguments: Sequence[Word], names: Collection[str], *, clusters: bool = False
) -> Iterable[Word]:
    """Yield the values of the options `names` among `arguments`: `-o x`, `-ox`, `--output x`, `--output=x`.

    With `clusters`, this includes `-uo x` and `-uox`.
    """
    for index, word in enumerate(arguments):
        text = word.prefix
        option, equals, _ = text.partition("=")
        if text in names or (not equals and any(is_option(text, name) for name in names)):
            yield from arguments[index + 1 : index + 2]
        elif text.startswith("--"):
            if equals and any(is_option(option, name) for name in names):
                yield _strip_prefix(word, len(option) + 1)
        elif text.startswith("-") and len(text) > 2:
            at = _letter_at(text, names, clusters=clusters)
            if at == len(text) - 1 and word.is_literal:
                yield from arguments[index + 1 : index + 2]
            elif at is not None:
                yield _strip_prefix(word, at + 1)


def _letter_at(text: str, names: Collection[str], *, clusters: bool) -> int | None:
    """Return the index in `-abc` of the first letter that is one of the options `names`, or None."""
    last = len(text) if clusters else 2
    return next((at for at in range(1, last) if f"-{text[at]}" in names), None)


def is_option(word: str, name: str) -> bool:
    """Return whether `word` is the long option `name` or an abbreviation of it."""
    return word == name or (len(word) > 2 and name.startswith("--") and name.startswith(word))


def _tar_write_targets(arguments: Sequence[Word]) -> Iterable[Word]:
    """Yield the archive that `tar` creates, and the directory of `tar xfC a dir`."""
    first = arguments[0].prefix if arguments else ""
    writes_archive = _TAR_READ_MODE.match(first) is None
    if writes_archive:
        yield from option_values(arguments, {"-f", "--file"}, clusters=True)
    if not first.startswith("-"):
        letters = [letter for letter in first if letter in _TAR_VALUED_LETTERS]
        for letter, value in zip(letters, arguments[1:], strict=False):
            if letter == "C" or (letter == "f" and writes_archive):
                yield value


def operands_of(arguments: Sequence[Word], valued: Collection[str]) -> list[Word]:
    """Return the words that are neither options nor values of the options `valued`."""
    operands: list[Word] = []
    is_value = False
    for index, word in enumerate(arguments):
        if word.prefix == "--":
            return operands + list(arguments[index + 1 :])
        if not is_value and not word.prefix.startswith("-"):
            operands.append(word)
        is_value = word.prefix in valued
    return operands


def _assigned_values(arguments: Iterable[Word], name: str) -> Iterable[Word]:
    return (_strip_prefix(word, len(name) + 1) for word in arguments if word.prefix.startswith(f"{name}="))


def _strip_prefix(word: Word, skipped: int) -> Word:
    """Return `word` without its first `skipped` characters, which must be known."""
    if word.kind == "unknown":
        return Word(word.text, "unknown", word.prefix[skipped:])
    return Word(word.text[skipped:], word.kind, word.prefix[skipped:])


def _edits_in_place(command: SimpleCommand) -> bool:
    return any(re.match(r"-[a-hj-zA-Z]*i|--in-place", word.prefix) for word in command.arguments)
