"""Permission rules in config files, with their positions and dates."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from kimi_tui.base.frozen import frozen
from kimi_tui.config.config_source import ConfigSource
from kimi_tui.config.loader import user_config_path
from kimi_tui.config.project_config import project_config_path
from kimi_tui.config.raw_config import RawConfig

RuleListName = Literal["allow", "ask", "deny"]
RULE_LISTS: tuple[RuleListName, ...] = ("deny", "ask", "allow")
"""In order of precedence, highest first."""
_DATE = re.compile(r"#\s*(\d{4}-\d{2}-\d{2})\s*$")


@frozen(kw_only=True)
class ConfiguredRule:
    """A rule in a config file or a `--config` text."""

    list: RuleListName
    rule: str
    source: Literal["user", "project", "option"]
    place: str
    """The file or option."""
    path: Path | None
    """The file; None for an option."""
    line: int = 0
    """0 if unknown."""
    added: str = ""
    """Date in the comment after the rule, in ISO format; empty if there is none."""
    file_changed: str = ""
    """Date of the last change of the file, in ISO format."""


def list_configured_rules(config: RawConfig, *, data_dir: Path, work_dir: Path) -> tuple[ConfiguredRule, ...]:
    """Return the rules of all sources of `config`: deny, ask, then allow."""
    user, project = user_config_path(data_dir), project_config_path(work_dir, data_dir)
    rules = [rule for source in config.sources for rule in _rules_of(source, user, project)]
    return tuple(rule for name in RULE_LISTS for rule in rules if rule.list == name)


def _rules_of(source: ConfigSource, user: Path, project: Path | None) -> Iterator[ConfiguredRule]:
    lists: Any = source.data.get("permissions")
    if not isinstance(lists, dict):
        return
    file_changed = _date_of(source.path)
    for name in RULE_LISTS:
        rules = lists.get(name)
        for rule in rules if isinstance(rules, list) else ():
            line, added = _find_line(source.text, str(rule))
            yield ConfiguredRule(
                list=name,
                rule=str(rule),
                source="user" if source.path == user else "project" if source.path == project else "option",
                place=source.name,
                path=source.path,
                line=line,
                added=added,
                file_changed="" if added else file_changed,
            )


def _find_line(text: str, rule: str) -> tuple[int, str]:
    """Return the line of a rule and the date in its comment; 0 and an empty text if they aren't found."""
    spellings = (json.dumps(rule, ensure_ascii=False), f"'{rule}'", rule)
    lines = text.splitlines()
    for spelling in spellings:
        for number, line in enumerate(lines, 1):
            if spelling in line and not line.lstrip().startswith("#"):
                date = _DATE.search(line)
                return number, date[1] if date else ""
    return 0, ""


def _date_of(path: Path | None) -> str:
    try:
        return "" if path is None else format_date(path.stat().st_mtime)
    except OSError:
        return ""


def format_date(seconds: float) -> str:
    """Return the local date at `seconds` since the epoch, in ISO format."""
    return datetime.fromtimestamp(seconds, UTC).astimezone().date().isoformat()
