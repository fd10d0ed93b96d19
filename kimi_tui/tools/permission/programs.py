"""What is known of programs: which words of a command name what it does, and what its arguments can do."""

import re
from collections.abc import Mapping, Sequence, Set
from itertools import pairwise

from kimi_tui.tools.permission.part import Part, Word, is_own_variable
from kimi_tui.tools.permission.wrappers import SHELLS, is_runner

_INTERPRETER = re.compile(
    r"(?:python|pypy|perl|ruby|php|lua|node|nodejs|tsx|ts-node|Rscript|julia|groovy|scala|swift|pwsh)[\d.]*"
)
_RUNS_ITS_ARGUMENTS = frozenset(
    {
        ".", "awk", "clojure", "dc", "ed", "emacs", "ex", "expect", "fc", "gawk", "gdb", "ghci",
        "irb", "less", "m4", "mawk", "more", "most", "mysql", "nawk", "nvim", "osascript", "psql",
        "scp", "screen", "sftp", "source", "sqlite3", "tclsh", "telnet", "vi", "view", "vim",
        "wish",
    }
)  # fmt: skip
"""Programs whose arguments are, or may hold, commands in a language of their own."""
_CHANGES_THE_SHELL = frozenset(
    {
        "alias", "bind", "compgen", "complete", "declare", "dirs", "disown", "enable", "export", "getopts",
        "hash", "let", "local", "logout", "mapfile", "popd", "pushd", "read", "readarray", "readonly",
        "set", "shopt", "suspend", "trap", "typeset", "ulimit", "umask", "unalias", "unset",
    }
)  # fmt: skip
"""Builtins that change what the commands after them mean."""
_RUNNING_MODULES = frozenset(
    {"asyncio", "cProfile", "code", "idlelib", "pdb", "profile", "runpy", "timeit", "trace", "zipapp"}
)
"""Modules for `python -m` that run code from their arguments."""

_TWO_WORDS = frozenset(
    {
        "alembic", "apt", "apt-get", "bazel", "brew", "bun", "bundle", "cargo", "composer", "conda", "dart",
        "deno", "dnf", "docker", "docker-compose", "dotnet", "flask", "flutter", "gem", "git", "glab",
        "gmake", "go", "gradle", "gradlew", "hatch", "helm", "invoke", "just", "kubectl", "make", "mamba",
        "mix", "mvn", "mvnw", "nix", "npm", "nox", "openssl", "pacman", "pdm", "pip", "pip3", "pipenv",
        "pipx", "pnpm", "podman", "poetry", "pre-commit", "rails", "rake", "rustup", "systemctl", "task",
        "terraform", "tofu", "uv", "yarn", "yum", "zig",
    }
)  # fmt: skip
"""Programs whose first argument says what they do."""
_THREE_WORDS = frozenset(
    {
        ("aws",), ("az",), ("gcloud",), ("gh",), ("bun", "run"), ("deno", "task"), ("docker", "compose"),
        ("docker", "container"), ("docker", "image"), ("docker", "network"), ("docker", "system"),
        ("docker", "volume"), ("git", "lfs"), ("git", "notes"), ("git", "remote"), ("git", "stash"),
        ("git", "submodule"), ("git", "worktree"), ("go", "mod"), ("go", "run"), ("go", "tool"),
        ("npm", "run"), ("npm", "run-script"), ("pnpm", "run"), ("rustup", "toolchain"), ("uv", "pip"),
        ("yarn", "run"),
    }
)  # fmt: skip
"""Programs, or their subcommands, that need one more word."""
_RUN_WHAT_FOLLOWS = frozenset(
    {
        ("bundle", "exec"), ("bunx",), ("hatch", "run"), ("npm", "exec"), ("npx",), ("pdm", "run"),
        ("pipenv", "run"), ("pipx", "run"), ("pnpm", "dlx"), ("pnpm", "exec"), ("pnpx",), ("poetry", "run"),
        ("uv", "run"), ("uvx",), ("yarn", "dlx"), ("yarn", "exec"),
    }
)  # fmt: skip
"""What runs the command that follows it within a project."""
_TOO_WIDE = frozenset(
    {
        ("bazel", "run"), ("deno", "eval"), ("docker", "compose", "exec"), ("docker", "compose", "run"),
        ("docker", "container", "exec"), ("docker", "container", "run"), ("docker", "exec"),
        ("docker", "run"), ("docker-compose", "exec"), ("docker-compose", "run"), ("gh", "alias"),
        ("gh", "api"), ("gh", "extension"), ("git", "bisect"), ("git", "config"), ("git", "filter-branch"),
        ("git", "submodule", "foreach"), ("kubectl", "debug"), ("kubectl", "exec"), ("kubectl", "run"),
        ("mix", "eval"), ("mix", "run"), ("nix", "develop"), ("nix", "run"), ("nix", "shell"),
        ("npm", "config"), ("npm", "explore"), ("npm", "pkg"), ("npm", "x"), ("podman", "exec"),
        ("podman", "run"), ("rails", "runner"), ("uv", "tool"), ("yarn", "config"), ("yarn", "node"),
    }
)  # fmt: skip
"""Subcommands that run, or make others run, whatever their arguments say."""
_ONLY_SHOWS = frozenset(
    {
        ":", "basename", "cat", "cut", "dirname", "echo", "false", "file", "grep", "head", "ls", "realpath",
        "seq", "sleep", "stat", "tail", "true", "wc",
    }
)  # fmt: skip
"""Programs that only show, whatever their arguments: a variable or a glob among them is harmless."""
_TARGETS = frozenset(
    {
        "ant", "fab", "gmake", "gradle", "gradlew", "invoke", "just", "make", "mvn", "mvnw", "ninja", "nox",
        "rake", "task",
    }
)  # fmt: skip
"""Programs whose further arguments are further things to do."""
_TARGET_OPTION = re.compile(
    r"-[jksqnwild]\d*|-[lj]|\d+|--(?:quiet|silent|keep-going|dry-run|info|stacktrace)"
)
_MESSAGE = frozenset({"-m", "--message"})
_BODY = frozenset({"-b", "--body", "-t", "--title"})
_TEXT_OPTIONS: Mapping[tuple[str, ...], Set[str]] = {
    ("gh", "issue"): _BODY, ("gh", "pr"): _BODY, ("git", "commit"): _MESSAGE, ("git", "merge"): _MESSAGE,
    ("git", "tag"): _MESSAGE,
}  # fmt: skip
"""Options whose value is nothing but text to keep."""
_STORES = re.compile(r"%[^%a-zA-Z]*[hlLjzt]*n")
"""What has printf store how much it has printed, in the variable that an argument names."""
_SED_PRINTS = re.compile(r"(?:(?:\d+|\$)(?:,(?:\+?\d+|\$))?p[; ]*)+|/[\w .-]+/p")
_SET_OPTION = re.compile(r"-[eux]*o?|pipefail")


def grant_prefix(words: Sequence[Word]) -> tuple[str, ...] | None:
    """The leading words that say what a command does; None when no prefix does.

    `pytest`, `git diff`, `npm run test`, `python -m pytest`, `uv run pytest`.
    """
    texts = tuple(word.text if word.is_literal else "" for word in words)
    prefix = _prefix(texts)
    return None if prefix is None or not all(prefix) or runs_anything(prefix) else prefix


def runs_anything(prefix: Sequence[str]) -> bool:
    """Whether these words, with any others after them, may run any program at all."""
    prefix = tuple(prefix)
    if not prefix:
        return True
    program, rest = prefix[0].rpartition("/")[2], prefix[1:]
    named = (program, *rest)
    if any(named[: len(wide)] == wide for wide in _TOO_WIDE) or named in _RUN_WHAT_FOLLOWS:
        return True
    for run in _RUN_WHAT_FOLLOWS:
        if named[: len(run)] == run:
            return named[len(run)].startswith("-") or runs_anything(named[len(run) :])
    if program in SHELLS or _INTERPRETER.fullmatch(program):
        if rest[:1] == ("-m",) and program.startswith(("python", "pypy")):
            return len(rest) < 2 or rest[1] in _RUNNING_MODULES
        return not rest or rest[0].startswith("-")
    return (
        is_runner(program)
        or program in _RUNS_ITS_ARGUMENTS
        or program in _CHANGES_THE_SHELL - {"read", "set"}
    )


def continues_freely(part: Part, known: int) -> bool:
    """Whether what follows the first `known` words of `part` only refines what those words say."""
    rest = part.words[known:]
    match part.program:
        case "sed":
            return _sed_prints(part.arguments)
        case "set":
            return bool(rest) and all(word.is_literal and _SET_OPTION.fullmatch(word.text) for word in rest)
        case "read":
            return all(word.is_literal and (word.text == "-r" or is_own_variable(word.text)) for word in rest)
        case "wait" | "jobs":
            return all(word.text == "$!" or word.cannot_be_option for word in rest)
        case "printf":
            return _printf_prints(part.arguments)
        case "test" | "[" if any(word.text.startswith(("-v", "-R")) for word in rest):
            return False  # the name that follows may compute, and so run commands
        case program if program in _TARGETS:
            return all(word.is_literal and _TARGET_OPTION.fullmatch(word.text) for word in rest)
    if part.program in _ONLY_SHOWS:
        return True
    text_options = _TEXT_OPTIONS.get(tuple(word.text for word in part.words[:2]), frozenset())
    return all(
        word.is_literal or word.cannot_be_option or (word.is_single and before.text in text_options)
        for before, word in pairwise(part.words[known - 1 :])
    )


def stands_alone(part: Part) -> bool:
    """Whether `part` does the same whatever stands around it: what it is fed, and what was set before.

    `source FILE` counts: who allows it trusts what the file sets.
    """
    texts = [word.text for word in part.words]
    if part.program in ("source", "."):
        return len(texts) > 1
    if part.program == "printf" and not _printf_prints(part.arguments):
        return False
    return part.program not in _CHANGES_THE_SHELL and not runs_anything(texts)


def reads_script(part: Part) -> bool:
    """Whether `part` runs whatever code comes in through its input."""
    if part.program not in SHELLS and not _INTERPRETER.fullmatch(part.program):
        return False
    return all(word.text.startswith("-") and word.text not in ("-c", "-m", "-e") for word in part.arguments)


def _prefix(texts: tuple[str, ...]) -> tuple[str, ...] | None:
    if not texts or not texts[0]:
        return None
    program = texts[0].rpartition("/")[2]
    named = (program, *texts[1:])
    for run in _RUN_WHAT_FOLLOWS:
        if named[: len(run)] == run:
            inner = _prefix(texts[len(run) :])
            return None if inner is None else (*texts[: len(run)], *inner)
    if _INTERPRETER.fullmatch(program) or program in SHELLS:
        if texts[1:2] == ("-m",):
            inner = _prefix(texts[2:])
            return None if inner is None else (*texts[:2], *inner)
        return texts[:2] if len(texts) > 1 and not texts[1].startswith("-") else None
    if program == "sed":
        return texts[:2] if texts[1:2] == ("-n",) else None
    count = _words_needed(named)
    if len(texts) < count or any(text.startswith("-") or "=" in text for text in texts[1:count]):
        return None
    return texts[:count]


def _words_needed(named: tuple[str, ...]) -> int:
    if named[:1] in _THREE_WORDS or named[:2] in _THREE_WORDS:
        return 3
    return 2 if named[0] in _TWO_WORDS else 1


def _printf_prints(arguments: Sequence[Word]) -> bool:
    """Whether printf only prints: `-v` and `%n` set a variable, such as PATH."""
    words = arguments[1:] if arguments and arguments[0].text == "--" else arguments
    if not words:
        return True
    form = words[0]
    if len(words) == len(arguments) and form.text.startswith("-"):
        return False
    return form.is_literal and _STORES.search(form.text.replace("%%", "")) is None


def _sed_prints(arguments: Sequence[Word]) -> bool:
    """Whether sed only prints lines: its scripts can write files and run commands too."""
    options = [word.text for word in arguments if word.text.startswith("-")]
    operands = [word for word in arguments if not word.text.startswith("-")]
    return (
        "-n" in options
        and set(options) <= {"-n", "-E", "-r"}
        and bool(operands)
        and operands[0].is_literal
        and _SED_PRINTS.fullmatch(operands[0].text) is not None
        and all(word.is_literal or word.cannot_be_option for word in operands)
    )
