"""How we call git ourselves in a folder that nobody has vouched for.

A repository's own configuration names programs, and git runs them: `core.fsmonitor` with a mere
`git ls-files`, hooks when it writes its index, transports when an object is missing. What we ask for must run
none of them.
"""

import os
import shutil

from kimi_tui.base.child_environment import helper_environment

_SETTINGS = (
    "core.fsmonitor=false",
    f"core.hooksPath={os.devnull}",
    "protocol.allow=never",
    "safe.bareRepository=explicit",  # any folder may look like a bare repository
)
_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
}


def git_command(*words: str) -> list[str] | None:
    """The command line of `git WORDS`, for subcommands that only read; None when there is no git.

    It goes with `git_environment`.
    """
    folders = [folder for folder in os.get_exec_path() if os.path.isabs(folder)]  # noqa: PTH117
    program = shutil.which("git", path=os.pathsep.join(folders))
    if program is None:
        return None
    return [program, *(word for setting in _SETTINGS for word in ("-c", setting)), *words]


def git_environment() -> dict[str, str]:
    """The environment as our own git gets it."""
    return {**helper_environment(), **_ENVIRONMENT}
