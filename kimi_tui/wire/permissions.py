"""Permission rules with their sources, and commands that change them."""

from typing import Literal

from kimi_tui.base.frozen import frozen
from kimi_tui.wire.base_command import BaseCommand

RuleList = Literal["allow", "ask", "deny"]
RuleSource = Literal["mode", "session", "option", "project", "user"]
"""`mode`: built in, or added by the permission mode. `option`: for this run. `project`, `user`: a config
file.
"""


@frozen(kw_only=True)
class PermissionRule:
    """A rule of the session."""

    list: RuleList
    rule: str
    """The rule as text; for `mode`, a description of what needs no question."""
    source: RuleSource
    place: str = ""
    """The config file, option or permission mode."""
    line: int = 0
    """Line in the config file; 0 if unknown."""
    added: str = ""
    """Date in ISO format on which it was added; empty if unknown."""
    file_changed: str = ""
    """Date in ISO format of the last change of the config file, if `added` is unknown."""
    needs_confirmation: bool = False
    """Whether it was allowed for the session in an earlier run, and isn't in effect until confirmed."""
    is_editable: bool = True
    """Whether it can be revoked and edited here."""
    note: str = ""
    """What it covers that its author may not expect, or that it isn't in effect; usually empty."""


@frozen
class ListPermissions(BaseCommand):
    """List the session's rules. The reply is a PermissionList."""

    scheduling = "concurrent"


@frozen
class ChangePermission(BaseCommand):
    """Revoke or replace a rule, effective immediately. The replies are PermissionChanged and
    PermissionList.
    """

    scheduling = "concurrent"

    list: RuleList
    rule: str
    source: RuleSource
    place: str = ""
    """As in PermissionRule."""
    new_rule: str | None = None
    """The rule that replaces it; None to revoke it."""


@frozen
class ConfirmGrants(BaseCommand):
    """Decide about rules that were allowed for the session in an earlier run.

    The replies are PermissionChanged and PermissionList.
    """

    scheduling = "concurrent"

    keep: bool
    """Whether they are in effect again. Otherwise they are revoked."""
    rules: tuple[str, ...] | None = None
    """The rules to decide about; None for all."""


@frozen
class PermissionList:
    """Reply to ListPermissions. Also sent at the start if grants of an earlier run need confirmation.

    Not in kimi-cli.
    """

    rules: tuple[PermissionRule, ...]
    is_question: bool = False
    """Whether it's sent at the start, so that the user can confirm the session's grants."""


@frozen
class PermissionChanged:
    """Reply to ChangePermission and ConfirmGrants. Not in kimi-cli."""

    rule: str = ""
    problem: str = ""
    """Why nothing changed, as sentences; empty if it did."""


PermissionCommand = ListPermissions | ChangePermission | ConfirmGrants
"""Commands of front ends for the rules."""
