"""Editing a proposal in the user's editor."""

from typing import Any

from textual.app import App

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.terminal_text import sanitize
from kimi_tui.i18n.translate import tr, translate_error
from kimi_tui.tui.terminal.edit_text import edit_text
from kimi_tui.wire.requests import ApprovalRequest


async def edit_proposal(app: App[Any], request: ApprovalRequest) -> str | None:
    """Return the edited proposal. None if the proposal is unchanged or no editor could be opened."""
    if request.proposal is None:
        return None
    before = request.proposal.text
    try:
        text = await edit_text(app, before, name=request.proposal.name)
    except KimiTuiError as error:
        app.notify(sanitize(translate_error(error)), severity="error", timeout=8, markup=False)
        return None
    if text.rstrip("\n") == before.rstrip("\n"):
        app.notify(tr("No changes made."), markup=False)
        return None
    return text
