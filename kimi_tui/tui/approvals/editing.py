"""Changing a proposal in the user's editor."""

from typing import Any

from textual.app import App

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.terminal import plain
from kimi_tui.language.errors import told
from kimi_tui.language.saying import say
from kimi_tui.tui.external_editor import edited
from kimi_tui.wire.requests import ApprovalRequest


async def edited_proposal(app: App[Any], request: ApprovalRequest) -> str | None:
    """What the user makes of the proposal; None when it stays as it is, or when there is no editor."""
    if request.proposal is None:
        return None
    before = request.proposal.text
    try:
        text = await edited(app, before, name=request.proposal.name)
    except KimiTuiError as error:
        app.notify(plain(told(error)), severity="error", timeout=8, markup=False)
        return None
    if text.rstrip("\n") == before.rstrip("\n"):
        app.notify(say("Nothing was changed."), markup=False)
        return None
    return text
