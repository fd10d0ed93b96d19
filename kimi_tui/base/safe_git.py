"""Safe use of git in untrusted directories.

A repository's configuration can name programs that git runs: `core.fsmonitor` even for `git ls-files`, hooks
when git writes its index, and transports when an object is missing. The commands built here run none of them.
"""

import os
import shutil

from kimi_tui.base.child_environment import helper_environment

_SETTINGS = (
    "core.fsmonitor=false",
    f"core.hooksPath={os.devnull}",
    "protocol.allow=never",
    "safe.bareRepository=explicit",  # any directory can look like a bare repository
)
_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
}


def git_command(*arguments: str) -> list[str] | None:
    """Return the command line of `git ARGUMENTS` for a read-only subcommand; None if git isn't installed.

    Run it with `git_environment`.
    """
    folders = [folder for folder in os.get_exec_path() if os.path.isabs(folder)]  # noqa: PTH117
    program = shutil.which("git", path=os.pathsep.join(folders))
    if program is None:
        return None
    return [program, *(option for setting in _SETTINGS for option in ("-c", setting)), *arguments]


def git_environment() -> dict[str, str]:
    """Return the environment for `git_command`."""
    return {**helper_environment(), **_ENVIRONMENT}
