"""The tokens that servers gave the user: a file a server in `credentials/mcp` of the share dir (0600)."""

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, SupportsFloat

from kimi_tui.base.private_file import replace_private_file
from kimi_tui.base.secrets import keep_hidden, secrets_in


def token_path(share_dir: Path, url: str) -> Path:
    """Where the tokens for the server at `url` are kept."""
    key = hashlib.sha256(url.rstrip("/").encode()).hexdigest()[:24]
    return share_dir / "credentials" / "mcp" / f"{key}.json"


class TokenFile:
    """A store of small values by collection and key, as fastmcp asks for one. Its methods raise OSError."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @property
    def has_tokens(self) -> bool:
        """Whether the user has signed in, which may have expired."""
        return any("token" in key and "expiry" not in key for key in self._read())

    def forget(self) -> bool:
        """Drop everything; whether there was anything."""
        try:
            self._path.unlink()
        except FileNotFoundError:
            return False
        return True

    async def get(self, key: str, *, collection: str | None = None) -> dict[str, Any] | None:
        """The value; None when there is none, or its time is over."""
        return (await self.ttl(key, collection=collection))[0]

    async def ttl(
        self, key: str, *, collection: str | None = None
    ) -> tuple[dict[str, Any] | None, float | None]:
        """The value, and for how many seconds it still holds."""
        entry = self._read().get(_name(key, collection))
        if not isinstance(entry, dict):
            return None, None
        left = None if entry.get("until") is None else entry["until"] - time.time()
        if left is not None and left <= 0:
            return None, None
        value = entry.get("value")
        _keep_hidden(value)
        return value, left

    async def put(
        self,
        key: str,
        value: Mapping[str, Any],
        *,
        collection: str | None = None,
        ttl: SupportsFloat | None = None,
    ) -> None:
        """Keep `value`, for `ttl` seconds when that is given."""
        _keep_hidden(value)
        until = None if ttl is None else time.time() + float(ttl)
        self._write({**self._read(), _name(key, collection): {"value": dict(value), "until": until}})

    async def delete(self, key: str, *, collection: str | None = None) -> bool:
        """Drop a value; whether there was one."""
        entries = self._read()
        if entries.pop(_name(key, collection), None) is None:
            return False
        self._write(entries)
        return True

    async def get_many(
        self, keys: Sequence[str], *, collection: str | None = None
    ) -> list[dict[str, Any] | None]:
        """`get` for each key."""
        return [await self.get(key, collection=collection) for key in keys]

    async def ttl_many(
        self, keys: Sequence[str], *, collection: str | None = None
    ) -> list[tuple[dict[str, Any] | None, float | None]]:
        """`ttl` for each key."""
        return [await self.ttl(key, collection=collection) for key in keys]

    async def put_many(
        self,
        keys: Sequence[str],
        values: Sequence[Mapping[str, Any]],
        *,
        collection: str | None = None,
        ttl: SupportsFloat | None = None,
    ) -> None:
        """`put` for each key."""
        for key, value in zip(keys, values, strict=True):
            await self.put(key, value, collection=collection, ttl=ttl)

    async def delete_many(self, keys: Sequence[str], *, collection: str | None = None) -> int:
        """`delete` for each key; how many there were."""
        return sum([await self.delete(key, collection=collection) for key in keys])

    def _read(self) -> dict[str, Any]:
        with suppress(OSError, ValueError):
            data = json.loads(self._path.read_text("utf-8"))
            if isinstance(data, dict):
                return data
        return {}

    def _write(self, entries: dict[str, Any]) -> None:
        replace_private_file(self._path, json.dumps(entries))


def _keep_hidden(value: Any) -> None:
    if isinstance(value, Mapping):
        keep_hidden(secrets_in({name: each for name, each in value.items() if isinstance(each, str)}))


def _name(key: str, collection: str | None) -> str:
    return f"{collection or ''} {key}"
