"""What is wrong with settings whose form is right: rules, keys and classes that mean nothing."""

from collections.abc import Iterator

from kimi_tui.base.errors import ConfigError
from kimi_tui.config.loading import RawConfig
from kimi_tui.config.problems import place_of
from kimi_tui.config.settings import Settings
from kimi_tui.config.source import Source
from kimi_tui.language.errors import told
from kimi_tui.language.saying import retell, say


def meaningless(config: RawConfig, settings: Settings) -> Iterator[str]:
    """Everything in `settings`, which were made of `config`, that can't be used, in sentences with its place.

    The user's own compaction strategy is imported.
    """
    for source in config.sources:
        yield from _unusable_rules(source)
    yield from _unusable_keys(config, settings)
    yield from _unusable_strategy(config, settings)


def _unusable_rules(source: Source) -> Iterator[str]:
    from kimi_tui.engine.rules import check_rule

    lists = source.data.get("permissions", {})
    for name in ("allow", "ask", "deny"):
        for text in lists.get(name, ()):
            try:
                check_rule(name, text)
            except ConfigError as error:
                yield _at(place_of(source, ("permissions", name)), told(error))


def _unusable_keys(config: RawConfig, settings: Settings) -> Iterator[str]:
    if settings.keymap:
        from kimi_tui.tui.keys import complaints

        for complaint in complaints(settings.keymap):
            yield _at(_strongest_place(config, "keymap"), retell(complaint))


def _unusable_strategy(config: RawConfig, settings: Settings) -> Iterator[str]:
    from kimi_tui.engine.strategy import strategy_class

    try:
        strategy_class(settings.compaction.strategy)
    except ConfigError as error:
        yield _at(_strongest_place(config, "compaction", "strategy"), told(error))


def _strongest_place(config: RawConfig, table: str, *key: str) -> str:
    source = next((each for each in reversed(config.sources) if table in each.data), None)
    return place_of(source, (table, *key))


def _at(place: str, what: str) -> str:
    return say("{place}: {what}", place=retell(place), what=what)
