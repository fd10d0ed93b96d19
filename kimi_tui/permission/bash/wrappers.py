"""Wrappers: commands that run other commands, such as `env`, `timeout`, `xargs`, `bash -c` and `sudo`."""

import re
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import replace
from itertools import islice

from kimi_tui.base.frozen import frozen
from kimi_tui.permission.bash.cursor import UnparsableCommand
from kimi_tui.permission.bash.simple_command import (
    FIND_PLACEHOLDER,
    Assignment,
    SimpleCommand,
    Word,
    literal_word,
)

SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "fish", "ash", "rbash", "csh", "tcsh"})
_COMMAND_RUNNERS = frozenset(
    {
        "at", "batch", "builtin", "bunx", "busybox", "chroot", "chrt", "chronic", "cpulimit", "doas",
        "entr", "eval", "firejail", "flock", "gdb", "ltrace", "nsenter", "npx", "numactl", "parallel",
        "pkexec", "pnpx", "run0", "runuser", "script", "setsid", "ssh", "strace", "su", "sudo", "systemd-run",
        "taskset", "tmux", "trap", "unbuffer", "unshare", "uvx", "watch", "xvfb-run",
    }
)  # fmt: skip
"""Programs that may run a command given as arguments."""
_RUNNING_SUBCOMMANDS: Mapping[str, Set[str]] = {
    "bundle": {"exec"}, "docker": {"exec", "run"}, "git": {"bisect", "rebase", "submodule"}, "hatch": {"run"},
    "kubectl": {"exec"}, "npm": {"exec"}, "pdm": {"run"}, "pipenv": {"run"}, "pipx": {"run"},
    "pnpm": {"exec", "dlx"}, "podman": {"exec", "run"}, "poetry": {"run"}, "uv": {"run"},
    "yarn": {"exec", "dlx"},
}  # fmt: skip
"""Programs that may do so if one of these words is among their arguments."""
_SHELL_FLAG = re.compile(r"-[elux]*c")
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=")
_FIND_ACTIONS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_MAX_SUFFIXES = 16
_MAX_SUSPECTS = 100
_MAX_DEPTH = 4
_APPENDED_WORD = Word("…", "unknown")
"""The placeholder for the arguments that xargs and find append."""


@frozen
class _Wrapper:
    """A command that runs its remaining words, and the options it accepts before them."""

    flags: str = "(?!)"
    valued: frozenset[str] = frozenset()
    positionals: int = 0


_WRAPPERS = {
    "command": _Wrapper("-p"),
    "env": _Wrapper("-|-i|--ignore-environment", frozenset({"-u"})),
    "exec": _Wrapper(),
    "ionice": _Wrapper(r"-[cn]\d|-t", frozenset({"-c", "-n"})),
    "nice": _Wrapper(r"-\d+|-n-?\d+|--adjustment=-?\d+", frozenset({"-n"})),
    "nohup": _Wrapper(),
    "stdbuf": _Wrapper(r"-[ioe]\S+|--(?:input|output|error)=\S+", frozenset({"-i", "-o", "-e"})),
    "time": _Wrapper("-[pv]"),
    "timeout": _Wrapper(
        r"-v|-[ks]\S+|--foreground|--preserve-status|--verbose|--(?:signal|kill-after)=\S+",
        frozenset({"-k", "-s", "--signal", "--kill-after"}),
        positionals=1,
    ),
    "xargs": _Wrapper(
        r"-[0rtx]|-[nPLId]\S+|--null|--no-run-if-empty|--(?:max-args|max-procs|max-lines|delimiter|replace)=\S+",
        frozenset({"-n", "-P", "-L", "-I", "-d"}),
    ),
}


def is_wrapper(program: str) -> bool:
    """Return whether the purpose of `program` is to run another command."""
    return program in _COMMAND_RUNNERS or program in _WRAPPERS or program in SHELLS


@frozen
class UnwrappedCommand:
    """What a simple command runs."""

    commands: tuple[SimpleCommand, ...]
    """The commands that run. A known wrapper is replaced by the command it runs."""
    suspects: tuple[SimpleCommand, ...] = ()
    """Further commands that may run; used only to look for forbidden or dangerous ones."""


def unwrap(
    command: SimpleCommand, parse: Callable[[str], Iterable[SimpleCommand]], *, depth: int = 0
) -> UnwrappedCommand:
    """Return `command` without its wrappers; `parse` parses a script. Raises UnparsableCommand."""
    if depth > _MAX_DEPTH:
        raise UnparsableCommand("its wrappers are nested too deeply")
    inner = _wrapped_commands(command, parse)
    results = [
        unwrap(each, parse, depth=depth + 1)
        for each in (_find_exec_commands(command) if inner is None else inner)
    ]
    commands = tuple(each for result in results for each in result.commands)
    suspects = [each for result in results for each in result.suspects]
    if inner is None:
        own_suspects = islice(_find_suspects(command, parse, depth=depth), _MAX_SUSPECTS)
        return UnwrappedCommand((command, *commands), (*own_suspects, *suspects))
    return UnwrappedCommand(commands, (command, *suspects))


def _wrapped_commands(
    command: SimpleCommand, parse: Callable[[str], Iterable[SimpleCommand]]
) -> Iterable[SimpleCommand] | None:
    """Return the commands that a wrapper runs.

    None if `command` isn't a wrapper, or has unknown options.
    """
    if command.head not in {command.program, f"/bin/{command.program}", f"/usr/bin/{command.program}"}:
        return None
    if command.program in SHELLS:
        return _parse_shell_script(command, parse)
    wrapper = _WRAPPERS.get(command.program)
    return None if wrapper is None else _strip_wrapper(command, wrapper)


def _parse_shell_script(
    command: SimpleCommand, parse: Callable[[str], Iterable[SimpleCommand]]
) -> Iterable[SimpleCommand] | None:
    match command.arguments:
        case [flag, script] if flag.is_literal and script.is_literal and _SHELL_FLAG.fullmatch(flag.text):
            inner = [
                replace(
                    each, assignments=command.assignments + each.assignments, reads_pipe=command.reads_pipe
                )
                if each.words
                else each
                for each in parse(script.text)
            ]
            return (
                [*inner, SimpleCommand(redirections=command.redirections)] if command.redirections else inner
            )
        case _:
            return None


def _strip_wrapper(command: SimpleCommand, wrapper: _Wrapper) -> Iterable[SimpleCommand] | None:
    words = list(command.arguments)
    placeholder = ""
    while words and words[0].is_literal and words[0].text.startswith("-"):
        option = words.pop(0).text
        if option == "--":
            break
        if option in wrapper.valued and words and words[0].is_literal:
            value = words.pop(0).text
            placeholder = value if option == "-I" else placeholder
        elif not re.fullmatch(wrapper.flags, option):
            return None
        elif option.startswith(("-I", "--replace=")):
            placeholder = option.removeprefix("-I").removeprefix("--replace=")
    assignments = command.assignments
    if command.program == "env":
        while words and (assignment := _to_assignment(words[0])) is not None:
            assignments += (assignment,)
            words.pop(0)
    for _ in range(wrapper.positionals):
        if not words or not words[0].is_literal:
            return None
        words.pop(0)
    if not words:
        return None
    inner = replace(command, words=tuple(words), assignments=assignments)
    return [_append_input(inner, placeholder) if command.program == "xargs" else inner]


def _to_assignment(word: Word) -> Assignment | None:
    match = _ASSIGNMENT.match(word.prefix)
    if match is None:
        return None
    value = literal_word(word.text[match.end() :]) if word.is_literal else Word(word.text, "unknown")
    return Assignment(match[1], value)


def _append_input(command: SimpleCommand, placeholder: str) -> SimpleCommand:
    """Return the command that xargs runs: its input replaces `placeholder` or is appended to the words."""
    if not placeholder:
        return replace(command, words=(*command.words, _APPENDED_WORD), reads_pipe=False)
    return replace(
        command, words=tuple(_fill_placeholder(word, placeholder) for word in command.words), reads_pipe=False
    )


def _fill_placeholder(word: Word, placeholder: str) -> Word:
    before, found, _ = word.text.partition(placeholder)
    return Word(word.text, "unknown", before if word.is_literal else "") if found else word


def _fill_find_placeholder(word: Word) -> Word:
    if word.text == FIND_PLACEHOLDER:
        return Word(word.text, "unknown", FIND_PLACEHOLDER)
    return _fill_placeholder(word, FIND_PLACEHOLDER)


def _find_exec_commands(command: SimpleCommand) -> Iterable[SimpleCommand]:
    """Yield the commands that `find` runs on its results."""
    if command.program != "find":
        return
    words: list[Word] | None = None
    for word in command.arguments:
        if word.text in _FIND_ACTIONS:
            words = []
        elif words is not None and word.text in (";", "+"):
            yield SimpleCommand(tuple(words))
            words = None
        elif words is not None:
            words.append(_fill_find_placeholder(word))
    if words:
        yield SimpleCommand(tuple(words))


def _find_suspects(
    command: SimpleCommand, parse: Callable[[str], Iterable[SimpleCommand]], *, depth: int
) -> Iterable[SimpleCommand]:
    if not _may_run_others(command):
        return
    candidates = [
        replace(command, words=command.words[start:], redirections=())
        for start in range(1, min(len(command.words), _MAX_SUFFIXES))
    ]
    for word in command.arguments[:_MAX_SUFFIXES]:
        if re.search(r"\s", word.text):
            candidates.extend(_try_parse(word.text if word.is_literal else word.text.strip('"'), parse))
    if command.program == "eval" and all(word.is_literal for word in command.arguments):
        candidates.extend(_try_parse(" ".join(word.text for word in command.arguments), parse))
    for candidate in candidates:
        yield candidate
        if candidate.program in SHELLS | _WRAPPERS.keys():
            yield from _unwrap_suspects(candidate, parse, depth=depth + 1)


def _may_run_others(command: SimpleCommand) -> bool:
    subcommands = _RUNNING_SUBCOMMANDS.get(command.program, set())
    return is_wrapper(command.program) or any(word.text in subcommands for word in command.arguments)


def _unwrap_suspects(
    command: SimpleCommand, parse: Callable[[str], Iterable[SimpleCommand]], *, depth: int
) -> Iterable[SimpleCommand]:
    try:
        inner = unwrap(command, parse, depth=depth)
    except UnparsableCommand:
        return
    yield from inner.commands
    yield from inner.suspects


def _try_parse(text: str, parse: Callable[[str], Iterable[SimpleCommand]]) -> Iterable[SimpleCommand]:
    try:
        return list(parse(text))
    except UnparsableCommand:
        return []
