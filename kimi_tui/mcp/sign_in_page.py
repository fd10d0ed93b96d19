"""Sign-in page of a server, shown to the user in the browser."""

import asyncio
import webbrowser
from abc import ABC, abstractmethod


class SignInPage(ABC):
    """Shows the user where to sign in."""

    async def show(self, url: str) -> None:
        """Announce the page at `url` and open it in the browser, if available."""
        self.announce(url)
        await asyncio.to_thread(webbrowser.open, url)

    @abstractmethod
    def announce(self, url: str) -> None:
        """Show the user the address, in case the browser doesn't open."""
