"""Commands that can only read, whatever is in the files they read.

A command that isn't known to be harmless counts as a change: in doubt, it isn't allowed.
"""

import re
from collections.abc import Callable, Mapping, Sequence

from kimi_tui.base.frozen import frozen
from kimi_tui.permission.bash.command_line import BashCommandLine
from kimi_tui.permission.bash.simple_command import SimpleCommand, Word
from kimi_tui.permission.git_read_only import is_git_read_only
from kimi_tui.permission.git_repository_scope import git_stays_in_work_dir
from kimi_tui.permission.known_programs import accepts_any_suffix
from kimi_tui.permission.writable_roots import WritableRoots, is_harmless_device, may_be_network_file
from kimi_tui.permission.write_targets import is_option

_READ_ONLY_PROGRAMS = frozenset(
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
"""Programs without options that write or run anything. `_CONDITIONAL_PROGRAMS` are checked further."""


@frozen
class _RefusedOptions:
    """Options that make an otherwise read-only program write or run something."""

    letters: str = ""
    """One-letter options, also within a cluster."""
    names: tuple[str, ...] = ()
    """Long options. Abbreviations match as well."""
    max_operands: int | None = None
    """Every word after the first operand counts as one: not all systems accept options there."""


_REFUSED_OPTIONS: Mapping[str, _RefusedOptions] = {
    "ag": _RefusedOptions("", ("--pager",)),
    "base64": _RefusedOptions("o", ("--output",)),  # macOS
    "diff3": _RefusedOptions("", ("--diff-program",)),
    "fd": _RefusedOptions("xX", ("--exec", "--exec-batch")),
    "fdfind": _RefusedOptions("xX", ("--exec", "--exec-batch")),
    "file": _RefusedOptions("C", ("--compile",)),
    "lsof": _RefusedOptions("D"),
    "rg": _RefusedOptions("", ("--pre", "--hostname-bin")),
    "shuf": _RefusedOptions("o", ("--output",)),
    "sort": _RefusedOptions("oT", ("--output", "--compress-program", "--temporary-directory")),
    "tree": _RefusedOptions("oR"),
    "uniq": _RefusedOptions(max_operands=1),
}
"""A word that may expand to a refused option counts as one."""

_EXACT_ARGUMENTS: Mapping[str, tuple[tuple[str, ...], ...]] = {
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
"""Programs that are read-only with exactly these arguments."""

_FIND_ACTIONS = frozenset(
    {"-delete", "-exec", "-execdir", "-fls", "-fprint", "-fprint0", "-fprintf", "-ok", "-okdir"}
)
_DATE_WORD = re.compile(r"\+.*|-[uR]|-I\w*|--(?:utc|universal|rfc-\w+|iso-8601)(?:=\w+)?", re.DOTALL)
_SYSTEM_PATH = re.compile(r"(?:/usr)?/bin/[^/]+")


def is_read_only(line: BashCommandLine, writable_roots: WritableRoots) -> bool:
    """Return whether a bash command line can only read. False if it can't be parsed."""
    if not line.commands or line.unparsable_reason or not all(map(is_read_only_command, line.commands)):
        return False
    return git_stays_in_work_dir(line.commands, writable_roots, is_read_only_command)


def is_read_only_command(command: SimpleCommand) -> bool:
    """Return whether a simple command can only read. Git commands assume a trusted repository."""
    if any(each.writes and not is_harmless_device(each.target) for each in command.redirections):
        return False
    if any(each.reads and may_be_network_file(each.target) for each in command.redirections):
        return False
    if not all(each.is_harmless for each in command.assignments):
        return False
    if not command.words:
        return True
    if command.head is None or (command.head != command.program and not _SYSTEM_PATH.fullmatch(command.head)):
        return False  # a path or an expansion may name any program
    return _is_read_only_program(command)


def _is_read_only_program(command: SimpleCommand) -> bool:
    if (check := _CHECKS.get(command.program)) is not None:
        return check(command.arguments)
    if (options := _REFUSED_OPTIONS.get(command.program)) is not None:
        return _uses_none_of(command.arguments, options)
    if (allowed := _EXACT_ARGUMENTS.get(command.program)) is not None:
        return any(tuple(word.text for word in command.arguments) == words for words in allowed) and all(
            word.is_literal for word in command.arguments
        )
    return command.program in _READ_ONLY_PROGRAMS and (
        command.program not in _CONDITIONAL_PROGRAMS or accepts_any_suffix(command, 1)
    )


_CONDITIONAL_PROGRAMS = frozenset({"[", "printf", "sed", "set", "test", "wait"})
"""Programs that are read-only only if `accepts_any_suffix` allows their arguments."""


def _uses_none_of(arguments: Sequence[Word], options: _RefusedOptions) -> bool:
    operands = 0
    only_operands = False
    for word in arguments:
        if options.max_operands is not None and not (word.is_literal or word.is_single):
            return False  # it may expand to several words
        if only_operands or word.cannot_be_option or word.text == "-":
            operands += 1
            only_operands |= options.max_operands is not None
        elif not word.is_literal:
            return False
        elif word.text == "--":
            only_operands = True
        elif _is_refused(word.text, options):
            return False
    return options.max_operands is None or operands <= options.max_operands


def _is_refused(option: str, options: _RefusedOptions) -> bool:
    name = option.partition("=")[0]
    if any(is_option(name, refused) for refused in options.names):
        return True
    return not option.startswith("--") and any(letter in option[1:] for letter in options.letters)


def _is_find_read_only(arguments: Sequence[Word]) -> bool:
    return all(
        word.text not in _FIND_ACTIONS if word.is_literal else word.cannot_be_option for word in arguments
    )


def _is_date_read_only(arguments: Sequence[Word]) -> bool:
    return all(word.is_literal and _DATE_WORD.fullmatch(word.text) for word in arguments)


def _is_command_lookup(arguments: Sequence[Word]) -> bool:
    return bool(arguments) and arguments[0].is_literal and arguments[0].text in ("-v", "-V")


def _is_read_builtin_safe(arguments: Sequence[Word]) -> bool:
    return accepts_any_suffix(SimpleCommand((Word("read", "literal", "read"), *arguments)), 1)


_CHECKS: Mapping[str, Callable[[Sequence[Word]], bool]] = {
    "command": _is_command_lookup,
    "date": _is_date_read_only,
    "find": _is_find_read_only,
    "git": is_git_read_only,
    "read": _is_read_builtin_safe,
}
