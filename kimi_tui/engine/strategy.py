"""The compaction strategy that the config names."""

import inspect
from typing import Any

from kimi_tui.base.errors import ConfigError
from kimi_tui.compaction.strategy import CompactionStrategy
from kimi_tui.engine.injection import Collaborators, load_class, made


def strategy_class(path: str) -> type[Any]:
    """The class of a strategy that `path`, `module:Class`, names. Raises ConfigError."""
    cls = load_class(path, what="compaction strategy")
    if not inspect.iscoroutinefunction(getattr(cls, "compact", None)):
        raise ConfigError(
            f"{path}, the config's compaction.strategy, is no compaction strategy.",
            hint="It needs a method `async def compact(self, context)`, which returns messages or None.",
        )
    return cls


def named_strategy(path: str, collaborators: Collaborators) -> CompactionStrategy:
    """The strategy that `path` names. Raises ConfigError."""
    strategy: CompactionStrategy = made(
        strategy_class(path), collaborators, name=f"compaction strategy {path}"
    )
    return strategy
