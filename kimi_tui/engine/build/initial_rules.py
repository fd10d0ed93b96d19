"""Permission rules from the config that a session starts with."""

from collections.abc import Iterable
from pathlib import Path

from kimi_tui.base.errors import ConfigError
from kimi_tui.base.message_text import msg
from kimi_tui.config.settings import PermissionSettings
from kimi_tui.permission.rule import Rule, parse_rule
from kimi_tui.permission.rule_set import RuleSet
from kimi_tui.tools.path_scope import PathScope


def initial_rules(
    permissions: PermissionSettings, workspace: PathScope, *, readable_dirs: Iterable[Path] = ()
) -> RuleSet:
    """Return the permission rules of a session, without grants from earlier runs.

    The model may read files in `readable_dirs` without asking.
    Raises ConfigError with the name of the list if the config has an invalid rule.
    """
    return RuleSet(
        _parse_rules("allow", permissions.allow),
        _parse_rules("ask", permissions.ask),
        _parse_rules("deny", permissions.deny),
        work_dir=workspace.work_dir,
        additional_dirs=workspace.additional_dirs,
        readable_dirs=tuple(folder.resolve() for folder in readable_dirs),
    )


def check_rule(name: str, text: str) -> None:
    """Raise ConfigError if `text` isn't a valid rule in the config's list `name`."""
    rule = parse_rule(text)
    if name == "allow":
        RuleSet((rule,), work_dir=Path("/"))


def _parse_rules(name: str, texts: Iterable[str]) -> tuple[Rule, ...]:
    try:
        return tuple(parse_rule(text) for text in texts)
    except ConfigError as error:
        raise ConfigError(
            msg("Invalid rule in permissions.{name}. {problem}", name=name, problem=error.what),
            hint=msg("{hint} `kimi-tui config check` shows where it is.", hint=error.hint),
        ) from error
