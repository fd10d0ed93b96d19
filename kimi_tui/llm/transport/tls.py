"""TLS contexts for model connections. Certificates are loaded once, and only for encrypted connections."""

import os
import ssl
from collections.abc import Iterable
from functools import cache
from typing import Any


def ssl_context_for(base_url: str) -> ssl.SSLContext:
    """Return the context for `base_url`. Raises OSError for an invalid SSL_CERT_FILE or SSL_CERT_DIR."""
    return (
        _shared_context()
        if base_url.lower().startswith("https:")
        else _LazySslContext(ssl.PROTOCOL_TLS_CLIENT)
    )


class _LazySslContext(ssl.SSLContext):
    """Loads the certificates only if a connection is encrypted after a redirect or through a proxy.

    Loading certificates takes longer than a response of a local model's server.
    """

    def wrap_bio(self, *args: Any, **options: Any) -> ssl.SSLObject:
        return _shared_context().wrap_bio(*args, **options)

    def set_alpn_protocols(self, alpn_protocols: Iterable[str]) -> None:
        """Do nothing: without ALPN, every server uses HTTP/1.1."""


def _shared_context() -> ssl.SSLContext:
    return _load_context(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))


@cache
def _load_context(_file: str | None, _directory: str | None) -> ssl.SSLContext:
    import httpx2  # slow to import

    return httpx2.create_ssl_context()
