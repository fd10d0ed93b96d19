"""Shared HTTP client or SDK client, created in a thread on first use."""

import asyncio
from contextlib import suppress
from importlib import import_module
from typing import Generic, Protocol, TypeVar

from kimi_tui.base.errors import ChatProviderError
from kimi_tui.base.gc_control import gc_paused
from kimi_tui.base.message_text import msg
from kimi_tui.llm.transport.endpoint import Endpoint

C = TypeVar("C")


class ClientFactory(Protocol[C]):
    """Creates and closes a client for one server."""

    @property
    def endpoint(self) -> Endpoint:
        """The server."""
        ...

    def create_client(self) -> C:
        """Import the required modules and return a client. Called in a thread.

        Raises ImportError, ValueError, OSError.
        """
        ...

    async def close_client(self, client: C, /) -> None:
        """Close the connections of `client`."""
        ...


class SharedClient(Generic[C]):
    """Holds the client of one provider and of its copies.

    Importing an SDK can take a second of CPU time, so a thread does it to keep the interface responsive.
    """

    def __init__(self, factory: ClientFactory[C]) -> None:
        self._factory = factory
        self._lock = asyncio.Lock()
        self._client: C | None = None

    async def get(self) -> C:
        """Return the client. Raises ChatProviderError if the environment configures an invalid proxy or
        certificate.
        """
        async with self._lock:
            if self._client is None:
                try:
                    with gc_paused():
                        self._client = await asyncio.to_thread(self._create_client)
                except (ImportError, ValueError, OSError) as error:
                    endpoint = self._factory.endpoint
                    raise ChatProviderError(
                        msg(
                            "Can't set up the connection to {host}: {problem}",
                            host=endpoint.host,
                            problem=endpoint.redact(str(error)),
                        ),
                        hint="Check HTTPS_PROXY, ALL_PROXY and SSL_CERT_FILE in the environment.",
                    ) from error
            return self._client

    def _create_client(self) -> C:
        client = self._factory.create_client()
        with suppress(ImportError):
            # Otherwise the first request would import it on the event loop.
            import_module("anyio._backends._asyncio")
        return client

    async def aclose(self) -> None:
        """Close the connections. The next `get` creates a new client."""
        async with self._lock:
            client, self._client = self._client, None
        if client is not None:
            await self._factory.close_client(client)
