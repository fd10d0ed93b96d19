"""Loader of the configured compaction strategy."""

import inspect
from typing import Any

from kimi_tui.base.errors import ConfigError
from kimi_tui.base.message_text import msg
from kimi_tui.compaction.strategy import CompactionStrategy
from kimi_tui.engine.build.injection import Dependencies, construct, load_class


def load_strategy_class(path: str) -> type[Any]:
    """Return the strategy class at `path` (`module:Class`). Raises ConfigError."""
    cls = load_class(path, kind="compaction strategy")
    if not inspect.iscoroutinefunction(getattr(cls, "compact", None)):
        raise ConfigError(
            msg("Invalid compaction.strategy: {path} isn't a compaction strategy.", path=path),
            hint="Add a method `async def compact(self, context)` that returns messages or None.",
        )
    return cls


def load_strategy(path: str, dependencies: Dependencies) -> CompactionStrategy:
    """Return an instance of the strategy at `path`. Raises ConfigError."""
    strategy: CompactionStrategy = construct(
        load_strategy_class(path), dependencies, name=f"compaction strategy {path}"
    )
    return strategy
