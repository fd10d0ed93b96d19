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
    "pip": {"-t", "--prefix", "--target"},
    "pnpm": {"-C", "--dir"},
    "pytest": {"--basetemp"},
    "sort": {"-o", "--output"},
    "tar": {"-C", "--directory"},
    "tree": {"-o"},
    "unzip": {"-d"},
    "wget": {
        "-O", "-P", "-a", "-o", "--append-output", "--directory-prefix", "--output-document", "--output-file",
        "--save-cookies",
    },
    "yarn": {"--cwd"},
}  # fmt: skip
"""Options that take a path to write to, or a folder to work in."""


def written_words(part: Part) -> list[Word]:
    """The words of `part` that name what it creates, changes or removes, its redirections aside."""
    path_options = _PATH_OPTIONS.get(part.program, set())
    words = list(option_values(part.arguments, path_options))
    operands = _operands(part.arguments, path_options)
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
        case "tar" if part.arguments and re.match(r"-?[A-Za-z]*c", part.arguments[0].lead):
            words += operands[:1]
        case "dd":
            words += _assigned(part.arguments, "of")
        case "git" if operands and operands[0].lead in ("clone", "worktree"):
            words += operands[2:]
        case "git" if operands and operands[0].lead == "init":
            words += operands[1:]
    return words


def option_values(arguments: Sequence[Word], names: Collection[str]) -> Iterable[Word]:
    """The values of the options `names` among `arguments`: `-o x`, `-ox`, `--output x`, `--output=x`."""
    for index, word in enumerate(arguments):
        text = word.lead
        if text in names:
            yield from arguments[index + 1 : index + 2]
        elif text.startswith("--"):
            option, equals, _ = text.partition("=")
            if equals and any(is_option(option, name) for name in names):
                yield _rest(word, len(option) + 1)
        elif text.startswith("-") and len(text) > 2 and text[:2] in names:
            yield _rest(word, 2)


def is_option(word: str, name: str) -> bool:
    """Whether `word` is the long option `name`, or an abbreviation of it."""
    return word == name or (len(word) > 4 and name.startswith("--") and name.startswith(word))


def _operands(arguments: Sequence[Word], valued: Collection[str]) -> list[Word]:
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
