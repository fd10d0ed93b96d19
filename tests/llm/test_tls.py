"""Certificates are loaded once, and only for encrypted connections."""

from pathlib import Path

import httpx2
import pytest

from kimi_tui.llm.transport.tls import ssl_context_for
from tests.llm.servers import CERTIFICATE, OpenAIServer


def test_connections_share_their_certificates() -> None:
    assert ssl_context_for("https://one.test/v1") is ssl_context_for("HTTPS://two.test")


def test_a_changed_certificate_file_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    before = ssl_context_for("https://one.test")
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    assert len(ssl_context_for("https://one.test").get_ca_certs()) == 1
    assert ssl_context_for("https://one.test") is not before


def test_plain_connections_need_no_certificates(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "missing.pem"))
    assert ssl_context_for("http://127.0.0.1:8000/v1").get_ca_certs() == []
    with pytest.raises(OSError, match="No such file"):
        ssl_context_for("https://127.0.0.1:8000/v1")


async def test_a_redirect_from_http_to_https_is_verified(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with OpenAIServer([], tls=True) as server:
        async with httpx2.AsyncClient(verify=ssl_context_for("http://127.0.0.1")) as client:
            with pytest.raises(httpx2.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
                await client.get(server.base_url)
        monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
        async with httpx2.AsyncClient(verify=ssl_context_for("http://127.0.0.1")) as client:
            assert (await client.get(server.base_url)).status_code
