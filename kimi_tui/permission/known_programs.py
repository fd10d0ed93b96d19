"""Knowledge about programs: which words identify a command, and what its arguments can do."""

import re
from collections.abc import Mapping, Sequence, Set
from itertools import pairwise

from kimi_tui.permission.bash.simple_command import SimpleCommand, Word, is_script_variable
from kimi_tui.permission.bash.wrappers import SHELLS, is_wrapper

_INTERPRETER = re.compile(
    r"(?:python|pypy|perl|ruby|php|lua|node|nodejs|tsx|ts-node|Rscript|julia|groovy|scala|swift|pwsh)[\d.]*"
)
_EXECUTES_ARGUMENTS = frozenset(
    {
        ".", "awk", "clojure", "dc", "ed", "emacs", "ex", "expect", "fc", "gawk", "gdb", "ghci",
        "irb", "less", "m4", "mawk", "more", "most", "mysql", "nawk", "nvim", "osascript", "psql",
        "scp", "screen", "sftp", "source", "sqlite3", "tclsh", "telnet", "vi", "view", "vim",
        "wish",
    }
)  # fmt: skip
"""Programs whose arguments are or may contain commands in another language."""
_CHANGES_THE_SHELL = frozenset(
    {
        "alias", "bind", "compgen", "complete", "declare", "dirs", "disown", "enable", "export", "getopts",
        "hash", "let", "local", "logout", "mapfile", "popd", "pushd", "read", "readarray", "readonly",
        "set", "shopt", "suspend", "trap", "typeset", "ulimit", "umask", "unalias", "unset",
    }
)  # fmt: skip
"""Builtins that change the meaning of later commands."""
_EXECUTING_MODULES = frozenset(
    {"asyncio", "cProfile", "code", "idlelib", "pdb", "profile", "runpy", "timeit", "trace", "zipapp"}
)
"""Modules for `python -m` that run code from their arguments."""

_SUBCOMMAND_PROGRAMS = frozenset(
    {
        "alembic", "apt", "apt-get", "bazel", "brew", "bun", "bundle", "cargo", "composer", "conda", "dart",
        "deno", "dnf", "docker", "docker-compose", "dotnet", "flask", "flutter", "gem", "git", "glab",
        "gmake", "go", "gradle", "gradlew", "hatch", "helm", "invoke", "just", "kubectl", "make", "mamba",
        "mix", "mvn", "mvnw", "nix", "npm", "nox", "openssl", "pacman", "pdm", "pip", "pip3", "pipenv",
        "pipx", "pnpm", "podman", "poetry", "pre-commit", "rails", "rake", "rustup", "systemctl", "task",
        "terraform", "tofu", "uv", "yarn", "yum", "zig",
    }
)  # fmt: skip
"""Programs with subcommands."""
_NESTED_SUBCOMMANDS = frozenset(
    {
        ("aws",), ("az",), ("gcloud",), ("gh",), ("bun", "run"), ("deno", "task"), ("docker", "compose"),
        ("docker", "container"), ("docker", "image"), ("docker", "network"), ("docker", "system"),
        ("docker", "volume"), ("git", "lfs"), ("git", "notes"), ("git", "remote"), ("git", "stash"),
        ("git", "submodule"), ("git", "worktree"), ("go", "mod"), ("go", "run"), ("go", "tool"),
        ("npm", "run"), ("npm", "run-script"), ("pnpm", "run"), ("rustup", "toolchain"), ("uv", "pip"),
        ("yarn", "run"),
    }
)  # fmt: skip
"""Programs and subcommands that take a nested subcommand."""
_COMMAND_RUNNERS = frozenset(
    {
        ("bundle", "exec"), ("bunx",), ("hatch", "run"), ("npm", "exec"), ("npx",), ("pdm", "run"),
        ("pipenv", "run"), ("pipx", "run"), ("pnpm", "dlx"), ("pnpm", "exec"), ("pnpx",), ("poetry", "run"),
        ("uv", "run"), ("uvx",), ("yarn", "dlx"), ("yarn", "exec"),
    }
)  # fmt: skip
"""Prefixes that run the command after them in a project's environment."""
_ALWAYS_ASK_PREFIXES = frozenset(
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
"""Subcommands that can run other programs, regardless of their arguments."""
_PRINT_ONLY_PROGRAMS = frozenset(
    {
        ":", "basename", "cat", "cut", "dirname", "echo", "false", "file", "grep", "head", "ls", "realpath",
        "seq", "sleep", "stat", "tail", "true", "wc",
    }
)  # fmt: skip
"""Programs that only print, whatever their arguments. A variable or glob among them is harmless."""
_TARGET_PROGRAMS = frozenset(
    {
        "ant", "fab", "gmake", "gradle", "gradlew", "invoke", "just", "make", "mvn", "mvnw", "ninja", "nox",
        "rake", "task",
    }
)  # fmt: skip
"""Programs whose additional arguments are additional targets."""
_TARGET_OPTION = re.compile(
    r"-[jksqnwild]\d*|-[lj]|\d+|--(?:quiet|silent|keep-going|dry-run|info|stacktrace)"
)
_MESSAGE_OPTIONS = frozenset({"-m", "--message"})
_BODY_OPTIONS = frozenset({"-b", "--body", "-t", "--title"})
_TEXT_OPTIONS: Mapping[tuple[str, ...], Set[str]] = {
    ("gh", "issue"): _BODY_OPTIONS, ("gh", "pr"): _BODY_OPTIONS, ("git", "commit"): _MESSAGE_OPTIONS,
    ("git", "merge"): _MESSAGE_OPTIONS, ("git", "tag"): _MESSAGE_OPTIONS,
}  # fmt: skip
"""Options whose value is plain text."""
_PRINTF_STORE = re.compile(r"%[^%a-zA-Z]*[hlLjzt]*n")
"""The printf conversion that stores the number of characters written in the variable an argument names."""
_SED_PRINT_SCRIPT = re.compile(r"(?:(?:\d+|\$)(?:,(?:\+?\d+|\$))?p[; ]*)+|/[\w .-]+/p")
_SET_OPTION = re.compile(r"-[eux]*o?|pipefail")


def grant_prefix(words: Sequence[Word]) -> tuple[str, ...] | None:
    """Return the leading words that identify a command; None if no prefix does.

    Examples: `pytest`, `git diff`, `npm run test`, `python -m pytest`, `uv run pytest`.
    """
    texts = tuple(word.text if word.is_literal else "" for word in words)
    prefix = _find_prefix(texts)
    return None if prefix is None or not all(prefix) or runs_anything(prefix) else prefix


def runs_anything(prefix: Sequence[str]) -> bool:
    """Return whether a command that starts with `prefix` may run any program."""
    prefix = tuple(prefix)
    if not prefix:
        return True
    program, rest = prefix[0].rpartition("/")[2], prefix[1:]
    words = (program, *rest)
    if any(words[: len(risky)] == risky for risky in _ALWAYS_ASK_PREFIXES) or words in _COMMAND_RUNNERS:
        return True
    for runner in _COMMAND_RUNNERS:
        if words[: len(runner)] == runner:
            return words[len(runner)].startswith("-") or runs_anything(words[len(runner) :])
    if program in SHELLS or _INTERPRETER.fullmatch(program):
        if rest[:1] == ("-m",) and program.startswith(("python", "pypy")):
            return len(rest) < 2 or rest[1] in _EXECUTING_MODULES
        return not rest or rest[0].startswith("-")
    return (
        is_wrapper(program)
        or program in _EXECUTES_ARGUMENTS
        or program in _CHANGES_THE_SHELL - {"read", "set"}
    )


def accepts_any_suffix(command: SimpleCommand, n_known: int) -> bool:
    """Return whether the words after the first `n_known` only refine what `command` does.

    They may not make it do something else, such as write a file or run another program.
    """
    rest = command.words[n_known:]
    match command.program:
        case "sed":
            return _is_sed_print_only(command.arguments)
        case "set":
            return bool(rest) and all(word.is_literal and _SET_OPTION.fullmatch(word.text) for word in rest)
        case "read":
            return all(
                word.is_literal and (word.text == "-r" or is_script_variable(word.text)) for word in rest
            )
        case "wait" | "jobs":
            return all(word.text == "$!" or word.cannot_be_option for word in rest)
        case "printf":
            return _is_printf_safe(command.arguments)
        case "test" | "[" if any(word.text.startswith(("-v", "-R")) for word in rest):
            return False  # the subscript in the variable name may run commands
        case program if program in _TARGET_PROGRAMS:
            return all(word.is_literal and _TARGET_OPTION.fullmatch(word.text) for word in rest)
    if command.program in _PRINT_ONLY_PROGRAMS:
        return True
    text_options = _TEXT_OPTIONS.get(tuple(word.text for word in command.words[:2]), frozenset())
    return all(
        word.is_literal or word.cannot_be_option or (word.is_single and before.text in text_options)
        for before, word in pairwise(command.words[n_known - 1 :])
    )


def runs_nothing_else(command: SimpleCommand) -> bool:
    """Return whether `command` does the same regardless of its input and of the commands before it.

    `source FILE` counts: a user who allows it trusts what the file sets.
    """
    texts = [word.text for word in command.words]
    if command.program in ("source", "."):
        return len(texts) > 1
    if command.program == "printf" and not _is_printf_safe(command.arguments):
        return False
    return command.program not in _CHANGES_THE_SHELL and not runs_anything(texts)


def executes_stdin(command: SimpleCommand) -> bool:
    """Return whether `command` runs code from its standard input."""
    if command.program not in SHELLS and not _INTERPRETER.fullmatch(command.program):
        return False
    return all(
        word.text.startswith("-") and word.text not in ("-c", "-m", "-e") for word in command.arguments
    )


def _find_prefix(texts: tuple[str, ...]) -> tuple[str, ...] | None:
    if not texts or not texts[0]:
        return None
    program = texts[0].rpartition("/")[2]
    words = (program, *texts[1:])
    for runner in _COMMAND_RUNNERS:
        if words[: len(runner)] == runner:
            inner = _find_prefix(texts[len(runner) :])
            return None if inner is None else (*texts[: len(runner)], *inner)
    if _INTERPRETER.fullmatch(program) or program in SHELLS:
        if texts[1:2] == ("-m",):
            inner = _find_prefix(texts[2:])
            return None if inner is None else (*texts[:2], *inner)
        return texts[:2] if len(texts) > 1 and not texts[1].startswith("-") else None
    if program == "sed":
        return texts[:2] if texts[1:2] == ("-n",) else None
    count = _prefix_length(words)
    if len(texts) < count or any(text.startswith("-") or "=" in text for text in texts[1:count]):
        return None
    return texts[:count]


def _prefix_length(words: tuple[str, ...]) -> int:
    if words[:1] in _NESTED_SUBCOMMANDS or words[:2] in _NESTED_SUBCOMMANDS:
        return 3
    return 2 if words[0] in _SUBCOMMAND_PROGRAMS else 1


def _is_printf_safe(arguments: Sequence[Word]) -> bool:
    """Return whether printf only prints. `-v` and `%n` set a variable, such as PATH."""
    words = arguments[1:] if arguments and arguments[0].text == "--" else arguments
    if not words:
        return True
    format_word = words[0]
    if len(words) == len(arguments) and format_word.text.startswith("-"):
        return False
    return format_word.is_literal and _PRINTF_STORE.search(format_word.text.replace("%%", "")) is None


def _is_sed_print_only(arguments: Sequence[Word]) -> bool:
    """Return whether sed only prints lines. Its scripts can also write files and run commands."""
    options = [word.text for word in arguments if word.text.startswith("-")]
    operands = [word for word in arguments if not word.text.startswith("-")]
    return (
        "-n" in options
        and set(options) <= {"-n", "-E", "-r"}
        and bool(operands)
        and operands[0].is_literal
        and _SED_PRINT_SCRIPT.fullmatch(operands[0].text) is not None
        and all(word.is_literal or word.cannot_be_option for word in operands)
    )
