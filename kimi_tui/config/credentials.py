"""API keys stored by `kimi-tui login`: `credentials.json` in the data directory, readable only by its owner.

A stored key replaces an environment variable that isn't set. A key in the config takes precedence. Keys under
names other than those of known providers belong to the provider with that name in the config.
"""

from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kimi_tui.base.atomic_file import write_private_atomic
from kimi_tui.base.errors import ConfigError, UsageError
from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg
from kimi_tui.config.environment import KNOWN_PROVIDERS, environment_layer

if TYPE_CHECKING:
    from kimi_tui.config.settings import Settings

_SERVICES = frozenset(known.name for known in KNOWN_PROVIDERS)


@frozen
class Credential:
    """A provider's API key, and its base URL if it isn't the default."""

    api_key: str = field(repr=False)
    base_url: str | None = None


def secrets_of(settings: "Settings") -> Iterator[str]:
    """Yield the parts of `settings` that must not be shown."""
    for provider in settings.providers.values():
        yield provider.api_key.get_secret_value()
        yield from provider.custom_headers.values()


class Credentials:
    """API keys in a data directory by provider name: kimi, openai, anthropic, or a provider in the config."""

    def __init__(self, data_dir: Path) -> None:
        self.path = data_dir / "credentials.json"

    def read(self) -> dict[str, Credential]:
        """Return the stored credentials. Raises ConfigError for an unreadable file."""
        try:
            text = self.path.read_text("utf-8")
            import json  # on demand, to keep startup fast

            data: Any = json.loads(text)
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            problem = getattr(error, "strerror", None) or "not valid JSON"
            raise ConfigError(
                msg("Can't read the stored API keys in {path}: {reason}.", path=self.path, reason=problem),
                hint="Remove the file and run `kimi-tui login` again.",
            ) from None
        tables = data.items() if isinstance(data, dict) else ()
        return {
            name: Credential(table["api_key"], table.get("base_url"))
            for name, table in tables
            if isinstance(table, dict) and isinstance(table.get("api_key"), str) and table["api_key"]
        }

    def choose_stored(self, provider: str | None) -> tuple[str, ...]:
        """Return the provider whose key is to be removed: `provider`, or the only one with a stored key.

        Empty without stored keys. Raises UsageError if it isn't clear or has no key, and ConfigError.
        """
        stored = tuple(self.read())
        names = ", ".join(stored)
        if not stored:
            return ()
        if provider is None and len(stored) > 1:
            raise UsageError(
                "API keys of several providers are stored.",
                hint=msg("Name one of them: {names}.", names=names),
            )
        chosen = provider or stored[0]
        if chosen not in stored:
            raise UsageError(
                msg("No API key stored for “{name}”.", name=chosen), hint=msg("Stored: {names}.", names=names)
            )
        return (chosen,)

    def save(self, provider: str, credential: Credential) -> None:
        """Store a provider's key, replacing an earlier one. Raises ConfigError."""
        self._write({**self.read(), provider: credential})

    def delete(self, provider: str) -> None:
        """Remove a provider's key, if any. Raises ConfigError."""
        self._write({name: it for name, it in self.read().items() if name != provider})

    def _write(self, stored: Mapping[str, Credential]) -> None:
        import json

        tables = {
            name: {"api_key": it.api_key} | ({"base_url": it.base_url} if it.base_url else {})
            for name, it in stored.items()
        }
        try:
            if tables:
                write_private_atomic(self.path, json.dumps(tables, indent=1))
            else:
                self.path.unlink(missing_ok=True)
        except OSError as error:
            raise ConfigError(
                msg("Can't write {path}: {reason}.", path=self.path, reason=error.strerror or error),
                hint="Make the data directory writable, or set KIMI_SHARE_DIR.",
            ) from error


def credentials_layer(
    configured: Mapping[str, Any], stored: Mapping[str, Credential], environ: Mapping[str, str]
) -> dict[str, Any]:
    """Return the settings that stored keys and the environment add to `configured`, the settings in files.

    Same as `environment_layer`, with stored keys as variables that aren't set. Raises ConfigError.
    """
    variables: dict[str, str] = {}
    keys: dict[str, str] = {}
    for known in KNOWN_PROVIDERS:
        credential = stored.get(known.name)
        if credential is not None and not environ.get(known.key_variable):
            variables[known.key_variable] = keys[f"env:{known.key_variable}"] = credential.api_key
            if credential.base_url and not environ.get(known.url_variable):
                variables[known.url_variable] = credential.base_url
    layer = environment_layer(configured, {**environ, **variables})
    own = configured.get("providers")
    for name, change in layer.get("providers", {}).items():
        configured_so = own.get(name, {}) if isinstance(own, Mapping) else {}
        if change.get("api_key") not in keys:
            continue
        if configured_so.get("api_key") and configured_so["api_key"] not in keys:
            del change["api_key"]
        else:
            change["api_key"] = keys[change["api_key"]]
        if configured_so.get("base_url") and not environ.get("KIMI_BASE_URL"):
            change.pop("base_url", None)
    for name, credential in stored.items():
        provider = own.get(name) if isinstance(own, Mapping) and name not in _SERVICES else None
        if isinstance(provider, Mapping) and not _has_key(provider, environ):
            layer.setdefault("providers", {}).setdefault(name, {})["api_key"] = credential.api_key
    return layer


def _has_key(provider: Mapping[str, Any], environ: Mapping[str, str]) -> bool:
    """Return whether a provider's table has a key: its own, or a variable that is set."""
    key = str(provider.get("api_key") or "")
    return bool(environ.get(key.removeprefix("env:")) if key.startswith("env:") else key)
