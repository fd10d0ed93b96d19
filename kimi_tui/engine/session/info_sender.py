"""Protocol for sending the session info."""

from typing import Protocol


class InfoSender(Protocol):
    """Sends the session info."""

    def send_info(self) -> None:
        """Send all session info. Call this after each change."""
        ...
