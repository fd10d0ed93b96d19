"""Prompt shown when another process is using the session to open."""

from kimi_tui.base.errors import SessionInUse
from kimi_tui.i18n.translate import tr, translate_message
from kimi_tui.tui.commands.command_host import CommandHost
from kimi_tui.tui.session_request import SessionRequest
from kimi_tui.tui.widgets.choice_list import Choice


async def offer_alternatives(error: SessionInUse, host: CommandHost) -> None:
    """Let the user fork the session, open it read-only or start a new one. A session has a single writer."""
    choices = (
        Choice(value="copy", label=tr("fork the session"), detail=tr("with the whole conversation")),
        Choice(value="read", label=tr("open read-only"), detail=tr("and follow the other process")),
        Choice(value="new", label=tr("start a new session")),
        Choice(value="leave", label=tr("quit")),
    )
    match await host.choose(translate_message(error.what), choices):
        case "read":
            host.open_session(SessionRequest(session_id=error.session_id, read_only=True))
        case "copy":
            host.open_session(SessionRequest(session_id=error.session_id, fork=True))
        case "new":
            host.open_session(SessionRequest())
        case "leave":
            host.leave()
        case _:
            pass
