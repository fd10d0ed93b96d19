"""Environment variables of child processes, without secrets that they don't need."""

import os
from collections.abc import Callable, Collection, Mapping

from kimi_tui.base.redaction import contains_known_secret, looks_like_secret_name

Environment = Callable[[], Mapping[str, str]]
"""Returns the environment for a child process. Called when the process starts."""


def full_environment() -> Mapping[str, str]:
    """Return the whole environment of this process."""
    return os.environ


def helper_environment() -> dict[str, str]:
    """Return the environment without variables that look like secrets or contain one.

    For helper programs of kimi-tui, such as git, that read files from untrusted sources.
    """
    return {
        name: value
        for name, value in os.environ.items()
        if name == "PATH" or not (looks_like_secret_name(name) or contains_known_secret(value))
    }


def environment_without(secrets: Callable[[], Collection[str]], *, keep: Collection[str]) -> Environment:
    """Return an environment without the variables whose value is in `secrets`.

    Variables named in `keep` are included whatever their value.
    """

    def filtered_environment() -> Mapping[str, str]:
        hidden = secrets()
        return {name: value for name, value in os.environ.items() if name in keep or value not in hidden}

    return filtered_environment
