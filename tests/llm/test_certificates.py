"""Certificates are read once, and only for connections that are encrypted."""

from pathlib import Path

import httpx2
import pytest

from kimi_tui.llm.certificates import tls_for
from tests.llm.servers import CERTIFICATE, OpenAIServer


def test_connections_share_what_was_read() -> None:
    assert tls_for("https://one.test/v1") is tls_for("HTTPS://two.test")


def test_another_file_of_certificates_is_read_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    before = tls_for("https://one.test")
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    assert len(tls_for("https://one.test").get_ca_certs()) == 1
    assert tls_for("https://one.test") is not before


def test_plain_connections_need_no_certificates(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "missing.pem"))
    assert tls_for("http://127.0.0.1:8000/v1").get_ca_certs() == []
    with pytest.raises(OSError, match="No such file"):
        tls_for("https://127.0.0.1:8000/v1")


async def test_a_plain_connection_that_is_redirected_to_an_encrypted_one_is_checked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with OpenAIServer([], tls=True) as server:
        async with httpx2.AsyncClient(verify=tls_for("http://127.0.0.1")) as stranger:
            with pytest.raises(httpx2.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
                await stranger.get(server.base_url)
        monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
        async with httpx2.AsyncClient(verify=tls_for("http://127.0.0.1")) as client:
            assert (await client.get(server.base_url)).status_code
