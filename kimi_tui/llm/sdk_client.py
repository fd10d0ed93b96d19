"""The client of a provider's SDK: made off the event loop when it is first needed, then shared."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Generic, Protocol, TypeVar

from kimi_tui.base.collection import uncollected
from kimi_tui.base.errors import ChatProviderError
from kimi_tui.llm.endpoint import Endpoint


class Closable(Protocol):
    """What every SDK's asynchronous client can do."""

    async def close(self) -> None:
        """Close the connections."""
        ...


C = TypeVar("C", bound=Closable)


class SdkClient(Generic[C]):
    """Holds the client of one provider and of its copies.

    Importing an SDK takes a second or two of CPU: a thread does it, so that the screen goes on answering
    keys.
    """

    def __init__(self, create: Callable[[], C], endpoint: Endpoint) -> None:
        self._create = create
        self._endpoint = endpoint
        self._lock = asyncio.Lock()
        self._client: C | None = None

    async def get(self) -> C:
        """The client. Raises ChatProviderError when the environment names a proxy that can't be used."""
        async with self._lock:
            if self._client is None:
                try:
                    with uncollected():
                        self._client = await asyncio.to_thread(self._made)
                except (ImportError, ValueError, OSError) as error:
                    endpoint = self._endpoint
                    raise ChatProviderError(
                        f"No connection to {endpoint.host} can be prepared: {endpoint.quote(str(error))}",
                        hint="Check HTTPS_PROXY, ALL_PROXY and SSL_CERT_FILE in the environment.",
                    ) from error
            return self._client

    def _made(self) -> C:
        client = self._create()
        with suppress(ImportError):
            # The connections would import it when the first request is sent, on the event loop.
            import_module("anyio._backends._asyncio")
        return client

    async def aclose(self) -> None:
        """Close the connections; the next `get` makes a new client."""
        async with self._lock:
            client, self._client = self._client, None
        if client is not None:
            await client.close()
