"""Tokens that open the app in a browser. Only their hashes are on disk."""

import hashlib
import hmac
import secrets
import time
from pathlib import Path

from kimi_tui.base.atomic_file import write_private_atomic
from kimi_tui.base.errors import KimiTuiError, UsageError
from kimi_tui.base.frozen import frozen
from kimi_tui.base.json_codec import from_json, to_json
from kimi_tui.base.message_text import msg

TOKEN_BYTES = 32
_ID_BYTES = 8
LIFETIME_S = 7 * 24 * 3600.0
"""Seconds after which a token is no longer accepted."""


@frozen(kw_only=True)
class WebToken:
    """A token, without its secret."""

    id: str
    """Part of the address of the page. Other programs on the machine don't know it."""
    digest: str
    """SHA-256 of the secret, in hexadecimal."""
    created: float
    """Seconds since the epoch."""
    is_viewer: bool = False
    """Whether it only lets its holder watch."""
    session: str = ""
    """Id of the session that it opens; empty for the last one of the directory."""


@frozen
class _TokenFile:
    tokens: tuple[WebToken, ...] = ()


class WebTokenStore:
    """Tokens in a file that only its owner can read. It is read again for each check, so that a token
    revoked by another process is refused immediately.
    """

    def __init__(self, data_dir: Path) -> None:
        self.path = data_dir / "web-tokens.json"

    def list(self) -> tuple[WebToken, ...]:
        """Return the tokens that haven't expired, oldest first. Raises KimiTuiError."""
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise KimiTuiError(
                msg("Can't read {path}: {reason}.", path=self.path, reason=error.strerror or error),
                hint=msg("Make {path} readable, or remove it. Then its tokens are revoked.", path=self.path),
            ) from error
        try:
            tokens = from_json(_TokenFile, data).tokens
        except ValueError as error:
            raise KimiTuiError(
                msg("Can't read {path}: invalid content.", path=self.path),
                hint=msg("Remove {path}. Then its tokens are revoked.", path=self.path),
            ) from error
        now = time.time()
        return tuple(token for token in tokens if 0 <= now - token.created < LIFETIME_S)

    def create(self, *, is_viewer: bool, session: str) -> tuple[WebToken, str]:
        """Store a new token. Return it and its secret, which isn't stored. Raises KimiTuiError."""
        secret = secrets.token_urlsafe(TOKEN_BYTES)
        token = WebToken(
            id=secrets.token_hex(_ID_BYTES),
            digest=_digest(secret),
            created=time.time(),
            is_viewer=is_viewer,
            session=session,
        )
        self._save((*self.list(), token))
        return token, secret

    def revoke(self, prefix: str) -> tuple[WebToken, ...]:
        """Revoke the token whose id begins with `prefix`, or all for `all`. Return the revoked tokens.

        Raises UsageError if there is no such token or there are several.
        """
        tokens = self.list()
        revoked = (
            tokens if prefix == "all" else tuple(it for it in tokens if prefix and it.id.startswith(prefix))
        )
        if prefix != "all" and len(revoked) != 1:
            raise UsageError(
                msg("“{prefix}” matches no token, or more than one.", prefix=prefix),
                hint="`kimi-tui web --list` lists the tokens.",
            )
        self._save(tuple(token for token in tokens if token not in revoked))
        return revoked

    def find(self, token_id: str, secret: str) -> WebToken | None:
        """Return the token with this id if `secret` is its secret. Raises KimiTuiError."""
        digest = _digest(secret)
        for token in self.list():
            if token.id == token_id and hmac.compare_digest(token.digest, digest):
                return token
        return None

    def has(self, token_id: str) -> bool:
        """Return whether a token has this id. Raises KimiTuiError."""
        return any(token.id == token_id for token in self.list())

    def _save(self, tokens: tuple[WebToken, ...]) -> None:
        try:
            write_private_atomic(self.path, to_json(_TokenFile(tokens)).decode())
        except OSError as error:
            raise KimiTuiError(
                msg("Can't write {path}: {reason}.", path=self.path, reason=error.strerror or error),
                hint="Make the data directory writable, or set KIMI_SHARE_DIR.",
            ) from error


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
