"""Store for OAuth tokens: one file per server in `credentials/mcp` of the data directory (0600)."""

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, SupportsFloat

from kimi_tui.base.atomic_file import write_private_atomic
from kimi_tui.base.redaction import register_secrets, secret_values


def token_path(data_dir: Path, url: str) -> Path:
    """Return the path of the token file for the server at `url`."""
    key = hashlib.sha256(url.rstrip("/").encode()).hexdigest()[:24]
    return data_dir / "credentials" / "mcp" / f"{key}.json"


class TokenStore:
    """Key-value store with collections, as fastmcp requires. Its methods raise OSError."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @property
    def has_tokens(self) -> bool:
        """Whether the user has signed in. The tokens may have expired."""
        return any("token" in key and "expiry" not in key for key in self._read())

    def clear(self) -> bool:
        """Delete the file. Return whether it existed."""
        try:
            self._path.unlink()
        except FileNotFoundError:
            return False
        return True

    async def get(self, key: str, *, collection: str | None = None) -> dict[str, Any] | None:
        """Return the value; None if the value doesn't exist or has expired."""
        return (await self.ttl(key, collection=collection))[0]

    async def ttl(
        self, key: str, *, collection: str | None = None
    ) -> tuple[dict[str, Any] | None, float | None]:
        """Return the value and the seconds until it expires. Either can be None: no value, or no expiry."""
        entry = self._read().get(_entry_name(key, collection))
        if not isinstance(entry, dict):
            return None, None
        remaining_s = None if entry.get("until") is None else entry["until"] - time.time()
        if remaining_s is not None and remaining_s <= 0:
            return None, None
        value = entry.get("value")
        _register_secrets(value)
        return value, remaining_s

    async def put(
        self,
        key: str,
        value: Mapping[str, Any],
        *,
        collection: str | None = None,
        ttl: SupportsFloat | None = None,
    ) -> None:
        """Store `value`, for `ttl` seconds if given."""
        _register_secrets(value)
        until = None if ttl is None else time.time() + float(ttl)
        self._write({**self._read(), _entry_name(key, collection): {"value": dict(value), "until": until}})

    async def delete(self, key: str, *, collection: str | None = None) -> bool:
        """Delete a value; return whether it existed."""
        entries = self._read()
        if entries.pop(_entry_name(key, collection), None) is None:
            return False
        self._write(entries)
        return True

    async def get_many(
        self, keys: Sequence[str], *, collection: str | None = None
    ) -> list[dict[str, Any] | None]:
        """Return the value of each key."""
        return [await self.get(key, collection=collection) for key in keys]

    async def ttl_many(
        self, keys: Sequence[str], *, collection: str | None = None
    ) -> list[tuple[dict[str, Any] | None, float | None]]:
        """Return the value of each key with the seconds until it expires."""
        return [await self.ttl(key, collection=collection) for key in keys]

    async def put_many(
        self,
        keys: Sequence[str],
        values: Sequence[Mapping[str, Any]],
        *,
        collection: str | None = None,
        ttl: SupportsFloat | None = None,
    ) -> None:
        """Store several values."""
        for key, value in zip(keys, values, strict=True):
            await self.put(key, value, collection=collection, ttl=ttl)

    async def delete_many(self, keys: Sequence[str], *, collection: str | None = None) -> int:
        """Delete several values; return how many existed."""
        return sum([await self.delete(key, collection=collection) for key in keys])

    def _read(self) -> dict[str, Any]:
        with suppress(OSError, ValueError):
            data = json.loads(self._path.read_text("utf-8"))
            if isinstance(data, dict):
                return data
        return {}

    def _write(self, entries: dict[str, Any]) -> None:
        write_private_atomic(self._path, json.dumps(entries))


def _register_secrets(value: Any) -> None:
    if isinstance(value, Mapping):
        register_secrets(secret_values({name: each for name, each in value.items() if isinstance(each, str)}))


def _entry_name(key: str, collection: str | None) -> str:
    return f"{collection or ''} {key}"
