"""Rule sets from rules as users write them."""

from collections.abc import Iterable
from pathlib import Path

from kimi_tui.permission.rule import Rule, parse_rule
from kimi_tui.permission.rule_set import RuleSet, Verdict
from kimi_tui.permission.subject import CommandSubject, Subject


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


def verdict_on(rules: RuleSet, subject: Subject | str) -> Verdict | None:
    """Return what the rules say about a subject or a command."""
    return rules.verdict(rules.assess(_as_subject(subject)))


def grant_for(rules: RuleSet, subject: Subject | str) -> tuple[Rule, ...]:
    """Return the rules that "Always allow" would save for a subject or a command."""
    return rules.propose_grant(rules.assess(_as_subject(subject)))


def _as_subject(subject: Subject | str) -> Subject:
    return CommandSubject.parse(subject) if isinstance(subject, str) else subject
