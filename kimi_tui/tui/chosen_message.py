"""A message that the user chose in the search of all sessions."""

from typing import Literal

from kimi_tui.base.frozen import frozen
from kimi_tui.wire.message_search import MessageMatch


@frozen
class ChosenMessage:
    """A message, and whether to open its session or to quote it in the prompt."""

    match: MessageMatch
    action: Literal["open", "quote"]
