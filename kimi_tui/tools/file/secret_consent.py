"""Consent for reading files that may hold secrets or are outside the session's bounds."""

from kimi_tui.base.errors import FileProblem
from kimi_tui.base.secret_paths import is_private, is_secret
from kimi_tui.permission.subject import PathSubject
from kimi_tui.tools.approval import Approval
from kimi_tui.tools.path_scope import LocatedPath
from kimi_tui.tools.tool import CallContext


def may_hold_secrets(file: LocatedPath) -> bool:
    """Return whether `file` or its link target is likely to hold secrets, as kimi-tui's own config does."""
    return is_secret(str(file.path)) or is_private(file.real)


async def require_folder_consent(folder: LocatedPath, call: CallContext, approval: Approval) -> None:
    """Return once the model may search the directory `folder`. Asks the user if it's outside the session's
    bounds or a rule demands it.

    Raises ToolRejected; FileProblem if the path resolves to a different directory after that.
    """
    if approval.may_read(folder.real / "any"):
        return
    await approval.request(
        call,
        action="search a directory",
        description=f"Let the model search {folder.display_path_with_target}",
        subject=PathSubject(folder.real, writes=False, is_folder=True),
    )
    _require_same_target(folder)


def _require_same_target(file: LocatedPath) -> None:
    if not file.is_current:
        raise FileProblem(
            f"{file.display_path} now resolves to a different path.", hint="Check its symbolic links."
        )


async def require_read_consent(file: LocatedPath, call: CallContext, approval: Approval) -> None:
    """Return once the model may read `file`. Asks the user if it may hold secrets, is outside the session's
    bounds, or a rule demands it.

    Raises ToolRejected; FileProblem if the path resolves to a different file after that.
    """
    if may_hold_secrets(file):
        action, reason = "read secret file", ", which may contain passwords, tokens or keys"
    elif not approval.may_read(file.real):
        action, reason = "read file", ""
    else:
        return
    await approval.request(
        call,
        action=action,
        description=f"Let the model read {file.display_path_with_target}{reason}",
        subject=PathSubject(file.real, writes=False),
    )
    _require_same_target(file)
