"""Books of rules as users write them."""

from collections.abc import Iterable
from pathlib import Path

from kimi_tui.tools.permission.rule import parse_rule
from kimi_tui.tools.permission.rulebook import RuleBook


def rules_of(
    *,
    allow: Iterable[str] = (),
    ask: Iterable[str] = (),
    deny: Iterable[str] = (),
    work_dir: Path,
    additional_dirs: tuple[Path, ...] = (),
) -> RuleBook:
    """The book of rules written as text. Raises ConfigError."""
    read = (tuple(parse_rule(text) for text in texts) for texts in (allow, ask, deny))
    return RuleBook(*read, work_dir=work_dir, additional_dirs=additional_dirs)
