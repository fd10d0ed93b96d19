"""Reading files that hold secrets: only with the user's consent."""

import os

from kimi_tui.base.errors import FileProblem
from kimi_tui.base.secret_paths import is_private, is_secret
from kimi_tui.tools.approval import Approval, PathSubject
from kimi_tui.tools.tool import RunningCall
from kimi_tui.tools.workspace import Located


def holds_secrets(file: Located) -> bool:
    """Whether `file`, or what its links lead to, is likely to hold secrets. Our own settings are."""
    return is_secret(str(file.path)) or is_private(file.real)


async def consent_to_read(file: Located, call: RunningCall, approval: Approval) -> None:
    """Return when the model may read `file`: one that holds secrets, or that a rule names, takes a yes.

    Raises ToolRejected otherwise; FileProblem when the path leads somewhere else by then.
    """
    if holds_secrets(file):
        action, why = "read secret file", ", which may hold passwords, tokens or keys"
    elif not approval.may_read(file.real):
        action, why = "read file", ""
    else:
        return
    await approval.request(
        call,
        action=action,
        description=f"Let the model read {file.named}{why}",
        subject=PathSubject(file.real, writes=False),
    )
    if os.path.realpath(file.path) != str(file.real):
        raise FileProblem(f"{file.shown} leads somewhere else by now.", hint="Look at its links.")
