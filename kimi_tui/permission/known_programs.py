"""Programs that may run any other program or change the shell."""

import re
from collections.abc import Sequence

from kimi_tui.permission.bash.simple_command import SimpleCommand
from kimi_tui.permission.bash.wrappers import SHELLS, is_wrapper
from kimi_tui.permission.special_arguments import is_printf_safe

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

COMMAND_RUNNERS = frozenset(
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


def runs_anything(prefix: Sequence[str]) -> bool:
    """Return whether a command that starts with `prefix` may run any program."""
    prefix = tuple(prefix)
    if not prefix:
        return True
    program, rest = prefix[0].rpartition("/")[2], prefix[1:]
    words = (program, *rest)
    if any(words[: len(risky)] == risky for risky in _ALWAYS_ASK_PREFIXES) or words in COMMAND_RUNNERS:
        return True
    for runner in COMMAND_RUNNERS:
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


def runs_nothing_else(command: SimpleCommand) -> bool:
    """Return whether `command` does the same regardless of its input and of the commands before it.

    `source FILE` counts: a user who allows it trusts what the file sets.
    """
    texts = [word.text for word in command.words]
    if command.program in ("source", "."):
        return len(texts) > 1
    if command.program == "printf" and not is_printf_safe(command.arguments):
        return False
    return command.program not in _CHANGES_THE_SHELL and not runs_anything(texts)


def is_python(program: str) -> bool:
    """Return whether `program` is a Python interpreter."""
    return _INTERPRETER.fullmatch(program) is not None and program.startswith(("python", "pypy"))


def executes_stdin(command: SimpleCommand) -> bool:
    """Return whether `command` runs code from its standard input."""
    if command.program not in SHELLS and not _INTERPRETER.fullmatch(command.program):
        return False
    return all(
        word.text.startswith("-") and word.text not in ("-c", "-m", "-e") for word in command.arguments
    )
