"""Which words of a command name what it writes."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence, Set

from kimi_tui.tools.permission.part import Part, Word

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
"""Options that take a path to write to, or a folder to work in."""
_CLUSTERING = frozenset(
    {"cp", "curl", "git", "install", "ln", "mv", "patch", "pip", "sort", "tar", "tree", "unzip", "wget"}
)
"""Programs of those that take several one-letter options in one word."""
_TAR_READS = re.compile(r"-?[BSUWahijklmpvwzJOZ]*[tx]|--(?:extract|get|list)")
"""What `tar` begins with when it doesn't write its archive."""
_TAR_VALUED = frozenset("CFHIKLNTVXbfg")
"""Letters of `tar` that take a word each."""


def written_words(part: Part) -> list[Word]:
    """The words of `part` that name what it creates, changes or removes, its redirections aside."""
    path_options = _PATH_OPTIONS.get(part.program, set())
    clusters = part.program in _CLUSTERING
    words = list(option_values(part.arguments, path_options, clusters=clusters))
    operands = operands_of(part.arguments, path_options)
    match part.program:
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
            words += operands  # a link's target too: what is written through it lands there
        case "sed" | "perl" | "ruby" if _edits_in_place(part):
            words += operands
        case "uniq" | "xxd":
            words += operands[1:2]
        case "tar":
            words += _written_by_tar(part.arguments)
        case "zip" | "patch":
            words += operands[:1]
        case "dd":
            words += _assigned(part.arguments, "of")
        case "git" if operands and operands[0].lead in ("clone", "worktree"):
            words += operands[2:]
        case "git" if operands and operands[0].lead == "init":
            words += operands[1:]
    return words


def option_values(
    arguments: Sequence[Word], names: Collection[str], *, clusters: bool = False
) -> Iterable[Word]:
    """The values of the options `names` among `arguments`: `-o x`, `-ox`, `--output x`, `--output=x`.

    With `clusters` those of `-uo x` and `-uox` too.
    """
    for index, word in enumerate(arguments):
        text = word.lead
        option, equals, _ = text.partition("=")
        if text in names or (not equals and any(is_option(text, name) for name in names)):
            yield from arguments[index + 1 : index + 2]
        elif text.startswith("--"):
            if equals and any(is_option(option, name) for name in names):
                yield _rest(word, len(option) + 1)
        elif text.startswith("-") and len(text) > 2:
            at = _letter_at(text, names, clusters=clusters)
            if at == len(text) - 1 and word.is_literal:
                yield from arguments[index + 1 : index + 2]
            elif at is not None:
                yield _rest(word, at + 1)


def _letter_at(text: str, names: Collection[str], *, clusters: bool) -> int | None:
    """Where in `-abc` the first letter stands that is one of the options `names`."""
    last = len(text) if clusters else 2
    return next((at for at in range(1, last) if f"-{text[at]}" in names), None)


def is_option(word: str, name: str) -> bool:
    """Whether `word` is the long option `name`, or an abbreviation of it."""
    return word == name or (len(word) > 2 and name.startswith("--") and name.startswith(word))


def _written_by_tar(arguments: Sequence[Word]) -> Iterable[Word]:
    """The archive that `tar` makes, and for `tar xfC a dir` the folder that it works in."""
    first = arguments[0].lead if arguments else ""
    makes = _TAR_READS.match(first) is None
    if makes:
        yield from option_values(arguments, {"-f", "--file"}, clusters=True)
    if not first.startswith("-"):
        letters = [letter for letter in first if letter in _TAR_VALUED]
        for letter, value in zip(letters, arguments[1:], strict=False):
            if letter == "C" or (letter == "f" and makes):
                yield value


def operands_of(arguments: Sequence[Word], valued: Collection[str]) -> list[Word]:
    """The words that are no options, nor values of the options `valued`."""
    operands: list[Word] = []
    skips = False
    for index, word in enumerate(arguments):
        if word.lead == "--":
            return operands + list(arguments[index + 1 :])
        if not skips and not word.lead.startswith("-"):
            operands.append(word)
        skips = word.lead in valued
    return operands


def _assigned(arguments: Iterable[Word], name: str) -> Iterable[Word]:
    return (_rest(word, len(name) + 1) for word in arguments if word.lead.startswith(f"{name}="))


def _rest(word: Word, skipped: int) -> Word:
    """`word` without its first characters, which are known."""
    if word.kind == "unknown":
        return Word(word.text, "unknown", word.lead[skipped:])
    return Word(word.text[skipped:], word.kind, word.lead[skipped:])


def _edits_in_place(part: Part) -> bool:
    return any(re.match(r"-[a-hj-zA-Z]*i|--in-place", word.lead) for word in part.arguments)
