"""Commands that can do nothing but read, whatever is in the files that they read.

What isn't known to be harmless counts as a change: the list errs on the side of refusing.
"""

import re
from collections.abc import Callable, Mapping, Sequence

from kimi_tui.base.value import value
from kimi_tui.tools.permission.command_line import parse_command
from kimi_tui.tools.permission.part import Part, Word
from kimi_tui.tools.permission.places import Places, is_harmless_device, may_be_network_file
from kimi_tui.tools.permission.programs import continues_freely
from kimi_tui.tools.permission.reading_git import git_only_reads
from kimi_tui.tools.permission.repositories import git_stays_home
from kimi_tui.tools.permission.writes import is_option

_ANYTHING = frozenset(
    {
        ":", "[", "b2sum", "base32", "basename", "basenc", "break", "cat", "cd", "cksum", "cmp",
        "column", "comm", "continue", "cut", "df", "diff", "dirname", "du", "echo", "egrep",
        "exit", "expand", "expr", "factor", "false", "fgrep", "fmt", "fold", "free", "getconf", "grep",
        "groups", "head", "hexdump", "id", "join", "jq", "locale", "look", "ls", "md5sum", "nl",
        "nproc", "numfmt", "od", "paste", "pathchk", "pgrep", "pr", "printenv", "printf", "ps", "pwd",
        "readlink", "realpath", "return", "rev", "sed", "seq", "set", "sha1sum", "sha224sum", "sha256sum",
        "sha384sum", "sha512sum", "sleep", "stat", "strings", "sum", "tac", "tail", "test", "tr", "true",
        "tsort", "tty", "type", "uname", "unexpand", "uptime", "users", "vmstat", "wait", "wc", "whereis",
        "which", "who", "whoami", "zcat",
    }
)  # fmt: skip
"""Programs without an option that writes or runs anything; of some only what `continues_freely` says."""


@value
class _Options:
    """A program that only reads but for some options."""

    letters: str = ""
    """One-letter options that are refused, also within a cluster."""
    names: tuple[str, ...] = ()
    """Long options that are refused, abbreviations too."""
    most_operands: int | None = None
    """What follows the first operand counts as one: not everywhere do options stand after operands."""


_BUT_FOR: Mapping[str, _Options] = {
    "ag": _Options("", ("--pager",)),
    "base64": _Options("o", ("--output",)),  # of macOS
    "diff3": _Options("", ("--diff-program",)),
    "fd": _Options("xX", ("--exec", "--exec-batch")),
    "fdfind": _Options("xX", ("--exec", "--exec-batch")),
    "file": _Options("C", ("--compile",)),
    "lsof": _Options("D"),
    "rg": _Options("", ("--pre", "--hostname-bin")),
    "shuf": _Options("o", ("--output",)),
    "sort": _Options("oT", ("--output", "--compress-program", "--temporary-directory")),
    "tree": _Options("oR"),
    "uniq": _Options(most_operands=1),
}
"""Their words must be known not to become such an option."""

_WORDS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "docker": (("images",), ("ps",), ("version",)),
    "env": ((),),
    "go": (("version",), ("env",)),
    "hostname": ((),),
    "java": (("-version",), ("--version",)),
    "node": (("--version",), ("-v",)),
    "npm": (("--version",), ("-v",)),
    "pip": (("--version",), ("list",), ("freeze",)),
    "pip3": (("--version",), ("list",), ("freeze",)),
    "python": (("--version",), ("-V",)),
    "python3": (("--version",), ("-V",)),
    "ruby": (("--version",), ("-v",)),
    "uv": (("--version",),),
}  # fmt: skip
"""Programs that only read when exactly these words follow."""

_FIND_CHANGES = frozenset(
    {"-delete", "-exec", "-execdir", "-fls", "-fprint", "-fprint0", "-fprintf", "-ok", "-okdir"}
)
_DATE_WORD = re.compile(r"\+.*|-[uR]|-I\w*|--(?:utc|universal|rfc-\w+|iso-8601)(?:=\w+)?", re.DOTALL)
_SYSTEM = re.compile(r"(?:/usr)?/bin/[^/]+")


def only_reads(command: str, places: Places) -> bool:
    """Whether a command line of bash can do nothing but read. False for one that can't be understood."""
    line = parse_command(command)
    if not line.parts or line.unreadable or not all(map(part_only_reads, line.parts)):
        return False
    return git_stays_home(line.parts, places, part_only_reads)


def part_only_reads(part: Part) -> bool:
    """Whether a simple command can do nothing but read; git in a repository that is trusted."""
    if any(each.writes and not is_harmless_device(each.target) for each in part.redirections):
        return False
    if any(each.reads and may_be_network_file(each.target) for each in part.redirections):
        return False
    if not all(each.is_harmless for each in part.assignments):
        return False
    if not part.words:
        return True
    if part.head is None or (part.head != part.program and not _SYSTEM.fullmatch(part.head)):
        return False  # it may be any program
    return _program_only_reads(part)


def _program_only_reads(part: Part) -> bool:
    if (judge := _JUDGES.get(part.program)) is not None:
        return judge(part.arguments)
    if (options := _BUT_FOR.get(part.program)) is not None:
        return _avoids(part.arguments, options)
    if (allowed := _WORDS.get(part.program)) is not None:
        return any(tuple(word.text for word in part.arguments) == words for words in allowed) and all(
            word.is_literal for word in part.arguments
        )
    return part.program in _ANYTHING and (part.program not in _LIMITED or continues_freely(part, 1))


_LIMITED = frozenset({"[", "printf", "sed", "set", "test", "wait"})
"""What can do more than read unless `continues_freely` holds."""


def _avoids(arguments: Sequence[Word], options: _Options) -> bool:
    operands = 0
    only_operands = False
    for word in arguments:
        if options.most_operands is not None and not (word.is_literal or word.is_single):
            return False  # it may become several
        if only_operands or word.cannot_be_option or word.text == "-":
            operands += 1
            only_operands |= options.most_operands is not None
        elif not word.is_literal:
            return False
        elif word.text == "--":
            only_operands = True
        elif _is_refused(word.text, options):
            return False
    return options.most_operands is None or operands <= options.most_operands


def _is_refused(option: str, options: _Options) -> bool:
    name = option.partition("=")[0]
    if any(is_option(name, refused) for refused in options.names):
        return True
    return not option.startswith("--") and any(letter in option[1:] for letter in options.letters)


def _find(arguments: Sequence[Word]) -> bool:
    return all(
        word.text not in _FIND_CHANGES if word.is_literal else word.cannot_be_option for word in arguments
    )


def _date(arguments: Sequence[Word]) -> bool:
    return all(word.is_literal and _DATE_WORD.fullmatch(word.text) for word in arguments)


def _command(arguments: Sequence[Word]) -> bool:
    return bool(arguments) and arguments[0].is_literal and arguments[0].text in ("-v", "-V")


def _read(arguments: Sequence[Word]) -> bool:
    return continues_freely(Part((Word("read", "literal", "read"), *arguments)), 1)


_JUDGES: Mapping[str, Callable[[Sequence[Word]], bool]] = {
    "command": _command,
    "date": _date,
    "find": _find,
    "git": git_only_reads,
    "read": _read,
}
