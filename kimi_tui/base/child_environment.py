"""Environment variables of child processes, without secrets that they don't need."""

import os
from collections.abc import Collection, Mapping
from typing import Protocol

from kimi_tui.base.redaction import contains_known_secret, looks_like_secret_name


class ChildEnvironment:
    """The environment of child processes: by default, the whole environment of this process."""

    def variables(self) -> Mapping[str, str]:
        """Return the variables for a process that starts now."""
        return os.environ


class SecretSource(Protocol):
    """Knows the secrets that child processes must not see."""

    @property
    def used_keys(self) -> Collection[str]:
        """The values to hide."""
        ...


class FilteredEnvironment(ChildEnvironment):
    """The environment without the variables that have a value in `secrets`.

    Variables named in `keep` are included whatever their value.
    """

    def __init__(self, secrets: SecretSource, *, keep: Collection[str]) -> None:
        self._secrets = secrets
        self._keep = keep

    def variables(self) -> Mapping[str, str]:
        """Return the variables for a process that starts now."""
        hidden = self._secrets.used_keys
        return {
            name: value for name, value in os.environ.items() if name in self._keep or value not in hidden
        }


def helper_environment() -> dict[str, str]:
    """Return the environment without variables that look like secrets or contain one.

    For helper programs of kimi-tui, such as git, that read files from untrusted sources.
    """
    return {
        name: value
        for name, value in os.environ.items()
        if name == "PATH" or not (looks_like_secret_name(name) or contains_known_secret(value))
    }
