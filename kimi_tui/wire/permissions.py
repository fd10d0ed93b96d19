"""Permission rules with their sources, and commands that change them."""

from typing import Literal

from kimi_tui.base.frozen import frozen
from kimi_tui.wire.base_command import BaseCommand

RuleList = Literal["allow", "ask", "deny"]
RuleSource = Literal["mode", "session", "option", "project", "user"]
"""`mode`: built in, or added by the permission mode. `option`: a command-line option of this run. `project`,
`user`: a config file.
"""


@frozen(kw_only=True)
class PermissionRule:
    """A rule of the session."""

    list: RuleList
    rule: str
    """The rule as text; for `mode`, a description of the actions that need no approval."""
    source: RuleSource
    place: str = ""
    """The config file, option or permission mode."""
    line: int = 0
    """Line in the config file; 0 if unknown."""
    added: str = ""
    """Date in ISO format when the rule was added; empty if unknown."""
    file_changed: str = ""
    """Date in ISO format of the last change of the config file, if `added` is unknown."""
    needs_confirmation: bool = False
    """Whether the rule is from an earlier run of the session. It has no effect until the user confirms it."""
    is_editable: bool = True
    """Whether ChangePermission can revoke or replace the rule."""
    note: str = ""
    """Warning about an unexpected effect of the rule, or that the rule has no effect; usually empty."""


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
    """The rule that replaces `rule`; None to revoke `rule`."""


@frozen
class ConfirmGrants(BaseCommand):
    """Confirm or revoke rules that were allowed for the session in an earlier run.

    The replies are PermissionChanged and PermissionList.
    """

    scheduling = "concurrent"

    keep: bool
    """True to confirm the rules, False to revoke them."""
    rules: tuple[str, ...] | None = None
    """The rules to confirm or revoke; None for all."""


@frozen
class PermissionList:
    """Reply to ListPermissions. Also sent when a session opens with grants that need confirmation.

    Not in kimi-cli.
    """

    rules: tuple[PermissionRule, ...]
    is_question: bool = False
    """Whether the list contains only the grants that the user must confirm, sent when the session opens."""


@frozen
class PermissionChanged:
    """Reply to ChangePermission and ConfirmGrants. Not in kimi-cli."""

    rule: str = ""
    problem: str = ""
    """Why nothing changed, in complete sentences; empty on success."""


PermissionCommand = ListPermissions | ChangePermission | ConfirmGrants
"""Commands of front ends for the rules."""
