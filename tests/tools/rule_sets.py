"""Rule sets from rules as users write them."""

from collections.abc import Iterable
from pathlib import Path

from kimi_tui.permission.rule import parse_rule
from kimi_tui.permission.rule_set import RuleSet


def build_rule_set(
    *,
    allow: Iterable[str] = (),
    ask: Iterable[str] = (),
    deny: Iterable[str] = (),
    work_dir: Path,
    additional_dirs: tuple[Path, ...] = (),
) -> RuleSet:
    """Return the rule set of rules given as text. Raises ConfigError."""
    parsed = (tuple(parse_rule(text) for text in texts) for texts in (allow, ask, deny))
    return RuleSet(*parsed, work_dir=work_dir, additional_dirs=additional_dirs)
