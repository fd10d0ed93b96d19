"""Validation of merged settings, some of which can be skipped."""

from collections.abc import Collection
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from kimi_tui.base.errors import ConfigError
from kimi_tui.base.frozen import frozen
from kimi_tui.config.key_location import KeyPath
from kimi_tui.config.kimi_cli_compat import can_be_from_kimi_cli, is_from_kimi_cli
from kimi_tui.config.raw_config import RawConfig
from kimi_tui.config.settings import Settings
from kimi_tui.config.validation_errors import (
    UNKNOWN_KEY,
    ConfigProblem,
    build_problems,
    config_error,
    source_of_key,
)

THEME_KEY: KeyPath = ("theme",)
"""The app uses another theme and names the problem, so that it starts and other modes work."""


@frozen(kw_only=True)
class ValidatedSettings:
    """Settings, and the keys that were skipped to obtain them."""

    settings: Settings
    skipped: tuple[ConfigProblem, ...] = ()
    removed: tuple[KeyPath, ...] = ()
    """Keys of the skipped settings."""

    @property
    def errors(self) -> tuple[ConfigError, ...]:
        """The skipped keys as errors."""
        return tuple(ConfigError(problem.what, hint=problem.hint) for problem in self.skipped)


def validate_settings(config: RawConfig) -> ValidatedSettings:
    """Return the settings in `config`. Raises ConfigError.

    Skips unknown keys in a config that kimi-cli wrote, a theme that doesn't exist, such as one whose file was
    removed, and everything invalid in a lenient config.
    """
    data = config.data
    skipped: list[ConfigProblem] = []
    removed: list[KeyPath] = []
    while True:
        try:
            settings = Settings.model_validate(data)
        except ValidationError as error:
            problems = error.errors(include_url=False)
            errors = [one for one in problems if not _can_skip(one, config)]
            if errors:
                raise config_error(errors, config.sources) from None
            skipped += build_problems(problems, config.sources)
            keys = {_key_to_remove(data, one) for one in problems}
            removed += sorted(keys, key=str)
            data = remove_keys(data, keys)
        else:
            return ValidatedSettings(settings=settings, skipped=tuple(skipped), removed=tuple(removed))


def remove_keys(data: dict[str, Any], keys: Collection[KeyPath]) -> dict[str, Any]:
    """Return a copy of `data` without `keys`."""
    result: dict[str, Any] = _without(data, (), frozenset(keys))
    return result


def _key_to_remove(data: Any, problem: ErrorDetails) -> KeyPath:
    """Return the key of a problem in `data`: the longest part that exists. A missing key is its table's."""
    key: KeyPath = ()
    for part in problem["loc"]:
        try:
            data = data[part]
        except (KeyError, IndexError, TypeError):
            break
        key = (*key, part)
    return key


def _without(value: Any, path: KeyPath, removed: frozenset[KeyPath]) -> Any:
    if isinstance(value, dict):
        return {
            key: _without(item, (*path, key), removed)
            for key, item in value.items()
            if (*path, key) not in removed
        }
    if isinstance(value, list):
        return [
            _without(item, (*path, index), removed)
            for index, item in enumerate(value)
            if (*path, index) not in removed
        ]
    return value


def _can_skip(problem: ErrorDetails, config: RawConfig) -> bool:
    key = problem["loc"]
    if config.is_lenient or (key == THEME_KEY and problem["type"] == "literal_error"):
        return True
    if problem["type"] not in UNKNOWN_KEY or not can_be_from_kimi_cli(key):
        return False
    source, _ = source_of_key(key, config.sources)
    return source is not None and is_from_kimi_cli(source.data)
