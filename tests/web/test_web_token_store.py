"""Tokens of links: only hashes are stored, and a revoked or expired token is gone."""

import stat
from pathlib import Path

import pytest

from kimi_tui.base.errors import KimiTuiError, UsageError
from kimi_tui.web.web_token_store import LIFETIME_S, WebTokenStore


def test_the_secret_of_a_token_is_not_stored(tmp_path: Path) -> None:
    store = WebTokenStore(tmp_path)
    token, secret = store.create(is_viewer=True, session="s")
    assert secret not in store.path.read_text()
    assert stat.S_IMODE(store.path.stat().st_mode) == 0o600
    assert WebTokenStore(tmp_path).find(token.id, secret) == token
    assert store.find(token.id, "wrong") is None
    assert store.find("wrong", secret) is None


def test_one_or_all_tokens_are_revoked(tmp_path: Path) -> None:
    store = WebTokenStore(tmp_path)
    tokens = [store.create(is_viewer=False, session="")[0] for _ in range(3)]
    assert store.revoke(tokens[1].id[:12]) == (tokens[1],)
    assert store.list() == (tokens[0], tokens[2])
    with pytest.raises(UsageError):
        store.revoke("")
    assert len(store.revoke("all")) == 2
    assert store.list() == ()


def test_a_token_expires(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = WebTokenStore(tmp_path)
    token, secret = store.create(is_viewer=False, session="")
    monkeypatch.setattr("time.time", lambda: token.created + LIFETIME_S)
    assert store.find(token.id, secret) is None


def test_a_damaged_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    store = WebTokenStore(tmp_path)
    store.path.write_text("{")
    with pytest.raises(KimiTuiError, match=r"web-tokens\.json"):
        store.list()
