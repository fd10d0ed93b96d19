"""What encrypted connections to models are checked against: read once, and only for those."""

import os
import ssl
from collections.abc import Iterable
from functools import cache
from typing import Any


def tls_for(base_url: str) -> ssl.SSLContext:
    """The context for connections to `base_url`. Raises OSError for a wrong SSL_CERT_FILE or SSL_CERT_DIR."""
    return _trusted() if base_url.lower().startswith("https:") else _LateContext(ssl.PROTOCOL_TLS_CLIENT)


class _LateContext(ssl.SSLContext):
    """Reads the certificates when a connection is encrypted after all, as by a redirect or a proxy.

    That takes longer than a local model's server takes to answer.
    """

    def wrap_bio(self, *args: Any, **options: Any) -> ssl.SSLObject:
        return _trusted().wrap_bio(*args, **options)

    def set_alpn_protocols(self, alpn_protocols: Iterable[str]) -> None:
        """Nothing: every server speaks HTTP/1.1 when no protocol is asked for."""


def _trusted() -> ssl.SSLContext:
    return _read(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))


@cache
def _read(_file: str | None, _folder: str | None) -> ssl.SSLContext:
    import httpx2  # with a provider's SDK

    return httpx2.create_ssl_context()
