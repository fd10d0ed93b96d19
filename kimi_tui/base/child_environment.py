"""What programs that we start see of our environment: no key that they have no need of."""

import os
from collections.abc import Callable, Collection, Mapping

from kimi_tui.base.secrets import is_kept_hidden, sounds_secret

Environment = Callable[[], Mapping[str, str]]
"""What is seen at the moment when a program starts."""


def whole_environment() -> Mapping[str, str]:
    """All of it."""
    return os.environ


def helper_environment() -> dict[str, str]:
    """For programs of ours, which look at files and pages of anybody's: nothing that is, or sounds like, a
    secret.
    """
    return {
        name: value
        for name, value in os.environ.items()
        if name == "PATH" or not (sounds_secret(name) or is_kept_hidden(value))
    }


def without_values(secrets: Callable[[], Collection[str]], *, but: Collection[str]) -> Environment:
    """All but the variables that hold one of `secrets`, whatever they are called; those `but` stay."""

    def seen() -> Mapping[str, str]:
        hidden = secrets()
        return {name: value for name, value in os.environ.items() if name in but or value not in hidden}

    return seen
