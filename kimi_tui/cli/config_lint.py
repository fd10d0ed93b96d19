"""Checks for settings that are well-formed but unusable: rules, key bindings and compaction strategies."""

from collections.abc import Iterator

from kimi_tui.base.errors import ConfigError
from kimi_tui.config.config_source import ConfigSource
from kimi_tui.config.raw_config import RawConfig
from kimi_tui.config.settings import CompactionSettings, Settings
from kimi_tui.config.validation_errors import location_of
from kimi_tui.i18n.translate import tr, translate_error, translate_message


def unknown_references(config: RawConfig, settings: Settings) -> Iterator[str]:
    """Yield a message with location for each entry of `settings` that can't be used.

    `settings` must come from `config`. Imports a user-defined compaction strategy.
    """
    for source in config.sources:
        yield from _unusable_rules(source)
    yield from _unusable_keys(config, settings)
    yield from _unusable_strategy(config, settings)


def drop_unusable_references(settings: Settings) -> tuple[Settings, tuple[ConfigError, ...]]:
    """Return `settings` without rules and a strategy that can't be used, and their errors."""
    from kimi_tui.engine.build.compaction_strategy import load_strategy_class
    from kimi_tui.engine.build.initial_rules import check_rule

    errors: list[ConfigError] = []
    lists: dict[str, tuple[str, ...]] = {}
    for name in ("allow", "ask", "deny"):
        lists[name] = ()
        for rule in getattr(settings.permissions, name):
            try:
                check_rule(name, rule)
            except ConfigError as error:
                errors.append(error)
            else:
                lists[name] += (rule,)
    compaction = settings.compaction
    try:
        load_strategy_class(compaction.strategy)
    except ConfigError as error:
        errors.append(error)
        compaction = CompactionSettings()
    changes = {
        "permissions": settings.permissions.model_copy(update=lists),
        "compaction": compaction,
    }
    return settings.model_copy(update=changes), tuple(errors)


def _unusable_rules(source: ConfigSource) -> Iterator[str]:
    from kimi_tui.engine.build.initial_rules import check_rule

    lists = source.data.get("permissions", {})
    for name in ("allow", "ask", "deny"):
        for text in lists.get(name, ()):
            try:
                check_rule(name, text)
            except ConfigError as error:
                yield _with_location(location_of(source, ("permissions", name)), translate_error(error))


def wide_rules(config: RawConfig) -> Iterator[str]:
    """Yield a notice with location for each rule that reaches further than it seems, or has no effect."""
    from kimi_tui.permission.rule import parse_rule
    from kimi_tui.permission.wide_rules import find_better_rule, find_wide_reach

    for source in config.sources:
        lists = source.data.get("permissions", {})
        for name in ("allow", "ask", "deny"):
            location = location_of(source, ("permissions", name))
            for text in lists.get(name, ()):
                try:
                    rule = parse_rule(text)
                except ConfigError:
                    continue  # `unknown_references` reports it
                if name == "allow" and (reach := find_wide_reach(rule)) is not None:
                    notice = tr("Broad rule {rule}: {reach}.", rule=text, reach=translate_message(reach))
                    yield _with_location(location, notice)
                if (better := find_better_rule(rule)) is not None:
                    notice = tr("{rule} has no effect. Write {better} instead.", rule=text, better=better)
                    yield _with_location(location, notice)


def _unusable_keys(config: RawConfig, settings: Settings) -> Iterator[str]:
    if settings.keymap:
        from kimi_tui.tui.keys.keymap import keymap_errors

        for problem in keymap_errors(settings.keymap):
            yield _with_location(_effective_location(config, "keymap"), translate_message(problem))


def _unusable_strategy(config: RawConfig, settings: Settings) -> Iterator[str]:
    from kimi_tui.engine.build.compaction_strategy import load_strategy_class

    try:
        load_strategy_class(settings.compaction.strategy)
    except ConfigError as error:
        yield _with_location(_effective_location(config, "compaction", "strategy"), translate_error(error))


def _effective_location(config: RawConfig, table: str, *key: str) -> str:
    source = next((each for each in reversed(config.sources) if table in each.data), None)
    return location_of(source, (table, *key))


def _with_location(location: str, problem: str) -> str:
    return tr("{place}: {what}", place=translate_message(location), what=problem)
