"""A message that the user chose in the search of all sessions."""

from pathlib import Path
from typing import Literal

from kimi_tui.base.frozen import frozen
from kimi_tui.tui.session_request import SessionRequest
from kimi_tui.wire.message_search import MessageMatch


@frozen
class ChosenMessage:
    """A message, and whether to open its session or to quote it in the prompt."""

    match: MessageMatch
    action: Literal["open", "quote"]

    @property
    def session_request(self) -> SessionRequest:
        """The request to open the message's session at its checkpoint."""
        match = self.match
        return SessionRequest(
            session_id=match.session_id,
            work_dir=Path(match.work_dir) if match.work_dir else None,
            checkpoint=match.checkpoint,
        )


@frozen
class MessageSearchText:
    """Text to search in the messages of all sessions."""

    text: str
