"""Merged settings before they are validated."""

from typing import Any

from kimi_tui.base.errors import ConfigError
from kimi_tui.base.frozen import frozen
from kimi_tui.config.config_source import ConfigSource


@frozen(kw_only=True)
class RawConfig:
    """Merged settings, not yet validated."""

    data: dict[str, Any]
    sources: tuple[ConfigSource, ...]
    """In order of precedence, lowest first."""
    untrusted_source: ConfigSource | None = None
    """The project's config, ignored because the user doesn't trust it."""
    project_error: ConfigError | None = None
    """Error in the untrusted config, so that it can't be trusted either."""
    dropped_keys: tuple[str, ...] = ()
    """Keys of kimi-cli that have no effect."""
    is_lenient: bool = False
    """Whether invalid settings are skipped instead of being an error."""
    skipped: tuple[ConfigError, ...] = ()
    """Errors of sources that were skipped because the config is lenient."""
