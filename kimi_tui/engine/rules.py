"""The rules a session starts with: the config's, and what the user granted in the session before."""

import logging
from collections.abc import Iterable
from pathlib import Path

from kimi_tui.base.errors import ConfigError
from kimi_tui.config.settings import Permissions
from kimi_tui.tools.permission.rule import Rule, parse_rule
from kimi_tui.tools.permission.rulebook import RuleBook
from kimi_tui.tools.workspace import Workspace

logger = logging.getLogger(__name__)


def starting_rules(permissions: Permissions, grants: Iterable[str], workspace: Workspace) -> RuleBook:
    """The rules in force. A saved grant that can't be read costs itself only.

    Raises ConfigError, which names the list, for a rule of the config that can't be used.
    """
    book = RuleBook(
        _usable("allow", permissions.allow),
        _usable("ask", permissions.ask),
        _usable("deny", permissions.deny),
        work_dir=workspace.work_dir,
        additional_dirs=workspace.additional_dirs,
    )
    for text in grants:
        book = _with_grant(book, text)
    return book


def check_rule(name: str, text: str) -> None:
    """Raises ConfigError when `text` can't stand in the list `name` of the config."""
    rule = parse_rule(text)
    if name == "allow":
        RuleBook((rule,), work_dir=Path("/"))


def _usable(name: str, texts: Iterable[str]) -> tuple[Rule, ...]:
    try:
        return tuple(parse_rule(text) for text in texts)
    except ConfigError as error:
        raise ConfigError(
            f"A rule of permissions.{name} in the config can't be used. {error.what}",
            hint=f"{error.hint} `kimi-tui config check` says where it stands.",
        ) from error


def _with_grant(book: RuleBook, text: str) -> RuleBook:
    try:
        return book.with_allowed(parse_rule(text))
    except ConfigError:
        logger.warning("the session's grant %r can't be used and is left out", text)
        return book
