"""Commands that run other commands: `env`, `timeout`, `xargs`, `bash -c`, `find -exec`, `sudo` and others."""

import re
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import replace
from itertools import islice

from kimi_tui.base.value import value
from kimi_tui.tools.permission.cursor import Unreadable
from kimi_tui.tools.permission.part import Assignment, Part, Word, literal

SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "fish", "ash", "rbash", "csh", "tcsh"})
_RUNNERS = frozenset(
    {
        "at", "batch", "builtin", "bunx", "busybox", "chroot", "chrt", "chronic", "cpulimit", "doas",
        "entr", "eval", "firejail", "flock", "gdb", "ltrace", "nsenter", "npx", "numactl", "parallel",
        "pkexec", "pnpx", "run0", "runuser", "script", "setsid", "ssh", "strace", "su", "sudo", "systemd-run",
        "taskset", "tmux", "trap", "unbuffer", "unshare", "uvx", "watch", "xvfb-run",
    }
)  # fmt: skip
"""What may run a command that stands among its arguments."""
_RUNNING_SUBCOMMANDS: Mapping[str, Set[str]] = {
    "bundle": {"exec"}, "docker": {"exec", "run"}, "git": {"bisect", "rebase", "submodule"}, "hatch": {"run"},
    "kubectl": {"exec"}, "npm": {"exec"}, "pdm": {"run"}, "pipenv": {"run"}, "pipx": {"run"},
    "pnpm": {"exec", "dlx"}, "podman": {"exec", "run"}, "poetry": {"run"}, "uv": {"run"},
    "yarn": {"exec", "dlx"},
}  # fmt: skip
"""What may do so when one of these words is among its arguments."""
_SHELL_FLAG = re.compile(r"-[elux]*c")
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=")
_FIND_ACTIONS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_MAX_SUFFIXES = 16
_MAX_SUSPECTS = 100
_MAX_DEPTH = 4
_APPENDED = Word("…", "unknown")
"""What xargs and find append."""


@value
class _Wrapper:
    """A command that runs the rest of its words; what it understands before them."""

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


def is_runner(program: str) -> bool:
    """Whether `program` is there to run another command."""
    return program in _RUNNERS or program in _WRAPPERS or program in SHELLS


@value
class Unwrapped:
    """What a part comes to."""

    parts: tuple[Part, ...]
    """What really runs: a wrapper that is understood is left out, what it runs stands in its place."""
    suspects: tuple[Part, ...] = ()
    """What may run besides, for whoever looks for forbidden or dangerous things."""


def unwrapped(part: Part, read: Callable[[str], Iterable[Part]], *, depth: int = 0) -> Unwrapped:
    """`part` without its wrappers; `read` reads a script. Raises Unreadable."""
    if depth > _MAX_DEPTH:
        raise Unreadable("its wrappers are nested too deeply")
    inner = _run_by(part, read)
    results = [
        unwrapped(each, read, depth=depth + 1) for each in (_found_by_find(part) if inner is None else inner)
    ]
    parts = tuple(each for result in results for each in result.parts)
    suspects = [each for result in results for each in result.suspects]
    if inner is None:
        found = islice(_suspects(part, read, depth=depth), _MAX_SUSPECTS)
        return Unwrapped((part, *parts), (*found, *suspects))
    return Unwrapped(parts, (part, *suspects))


def _run_by(part: Part, read: Callable[[str], Iterable[Part]]) -> Iterable[Part] | None:
    """What runs in place of `part`; None when it is no wrapper, or one whose options aren't known."""
    if part.head not in {part.program, f"/bin/{part.program}", f"/usr/bin/{part.program}"}:
        return None
    if part.program in SHELLS:
        return _shell_script(part, read)
    wrapper = _WRAPPERS.get(part.program)
    return None if wrapper is None else _without_wrapper(part, wrapper)


def _shell_script(part: Part, read: Callable[[str], Iterable[Part]]) -> Iterable[Part] | None:
    match part.arguments:
        case [flag, script] if flag.is_literal and script.is_literal and _SHELL_FLAG.fullmatch(flag.text):
            inner = [
                replace(each, assignments=part.assignments + each.assignments, reads_pipe=part.reads_pipe)
                if each.words
                else each
                for each in read(script.text)
            ]
            return [*inner, Part(redirections=part.redirections)] if part.redirections else inner
        case _:
            return None


def _without_wrapper(part: Part, wrapper: _Wrapper) -> Iterable[Part] | None:
    words = list(part.arguments)
    replaced = ""
    while words and words[0].is_literal and words[0].text.startswith("-"):
        option = words.pop(0).text
        if option == "--":
            break
        if option in wrapper.valued and words and words[0].is_literal:
            value = words.pop(0).text
            replaced = value if option == "-I" else replaced
        elif not re.fullmatch(wrapper.flags, option):
            return None
        elif option.startswith(("-I", "--replace=")):
            replaced = option.removeprefix("-I").removeprefix("--replace=")
    assignments = part.assignments
    if part.program == "env":
        while words and (assignment := _as_assignment(words[0])) is not None:
            assignments += (assignment,)
            words.pop(0)
    for _ in range(wrapper.positionals):
        if not words or not words[0].is_literal:
            return None
        words.pop(0)
    if not words:
        return None
    inner = replace(part, words=tuple(words), assignments=assignments)
    return [_with_input(inner, replaced) if part.program == "xargs" else inner]


def _as_assignment(word: Word) -> Assignment | None:
    match = _ASSIGNMENT.match(word.lead)
    if match is None:
        return None
    value = literal(word.text[match.end() :]) if word.is_literal else Word(word.text, "unknown")
    return Assignment(match[1], value)


def _with_input(part: Part, replaced: str) -> Part:
    """What xargs runs: its input in place of `replaced`, or after the words."""
    if not replaced:
        return replace(part, words=(*part.words, _APPENDED), reads_pipe=False)
    return replace(part, words=tuple(_filled(word, replaced) for word in part.words), reads_pipe=False)


def _filled(word: Word, replaced: str) -> Word:
    before, found, _ = word.text.partition(replaced)
    return Word(word.text, "unknown", before if word.is_literal else "") if found else word


def _found_by_find(part: Part) -> Iterable[Part]:
    """What `find` runs on what it finds."""
    if part.program != "find":
        return
    words: list[Word] | None = None
    for word in part.arguments:
        if word.text in _FIND_ACTIONS:
            words = []
        elif words is not None and word.text in (";", "+"):
            yield Part(tuple(words))
            words = None
        elif words is not None:
            words.append(_filled(word, "{}"))
    if words:
        yield Part(tuple(words))


def _suspects(part: Part, read: Callable[[str], Iterable[Part]], *, depth: int) -> Iterable[Part]:
    if not _may_run_others(part):
        return
    candidates = [
        replace(part, words=part.words[start:], redirections=())
        for start in range(1, min(len(part.words), _MAX_SUFFIXES))
    ]
    for word in part.arguments[:_MAX_SUFFIXES]:
        if re.search(r"\s", word.text):
            candidates.extend(_read_or_nothing(word.text if word.is_literal else word.text.strip('"'), read))
    if part.program == "eval" and all(word.is_literal for word in part.arguments):
        candidates.extend(_read_or_nothing(" ".join(word.text for word in part.arguments), read))
    for candidate in candidates:
        yield candidate
        if candidate.program in SHELLS | _WRAPPERS.keys():
            yield from _unwrapped_suspects(candidate, read, depth=depth + 1)


def _may_run_others(part: Part) -> bool:
    needed = _RUNNING_SUBCOMMANDS.get(part.program, set())
    return is_runner(part.program) or any(word.text in needed for word in part.arguments)


def _unwrapped_suspects(part: Part, read: Callable[[str], Iterable[Part]], *, depth: int) -> Iterable[Part]:
    try:
        inner = unwrapped(part, read, depth=depth)
    except Unreadable:
        return
    yield from inner.parts
    yield from inner.suspects


def _read_or_nothing(text: str, read: Callable[[str], Iterable[Part]]) -> Iterable[Part]:
    try:
        return list(read(text))
    except Unreadable:
        return []
