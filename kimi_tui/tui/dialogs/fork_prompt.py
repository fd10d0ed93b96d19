"""Prompt after a fork: open the new session or stay in this one."""

from kimi_tui.i18n.translate import tr
from kimi_tui.tui.commands.command_host import CommandHost
from kimi_tui.tui.session_request import SessionRequest
from kimi_tui.tui.widgets.choice_list import Choice
from kimi_tui.wire.timeline import SessionForked


async def ask_after_fork(fork: SessionForked, host: CommandHost) -> None:
    """Let the user open the fork or stay. The conversation also shows how to open it later."""
    choices = (
        Choice(value="open", label=tr("open the new session"), detail=fork.title),
        Choice(value="stay", label=tr("stay in this session")),
    )
    if await host.choose(tr("Session forked"), choices) == "open":
        host.open_session(SessionRequest(session_id=fork.session_id))
