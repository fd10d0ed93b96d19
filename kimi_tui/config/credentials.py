"""Keys that `kimi-tui login` was given: the share dir's `credentials.json`, for the owner alone.

They take the place of environment variables that aren't set. A key that the config holds itself goes before.
A key under any other name is that of the provider which the config calls so.
"""

from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kimi_tui.base.errors import ConfigError
from kimi_tui.base.private_file import replace_private_file
from kimi_tui.base.value import value
from kimi_tui.config.environment import KNOWN_PROVIDERS, environment_layer

if TYPE_CHECKING:
    from kimi_tui.config.settings import Settings

_SERVICES = frozenset(known.name for known in KNOWN_PROVIDERS)


@value
class Credential:
    """A provider's key, and its address when it is not the usual one."""

    api_key: str = field(repr=False)
    base_url: str | None = None


def secrets_of(settings: "Settings") -> Iterator[str]:
    """What of `settings` must not be shown."""
    for provider in settings.providers.values():
        yield provider.api_key.get_secret_value()
        yield from provider.custom_headers.values()


class Credentials:
    """The keys of a share dir by their providers' names: kimi, openai, anthropic, those of the config."""

    def __init__(self, share_dir: Path) -> None:
        self.path = share_dir / "credentials.json"

    def read(self) -> dict[str, Credential]:
        """What is stored. Raises ConfigError for a file that can't be read."""
        try:
            text = self.path.read_text("utf-8")
            import json  # the first frame waits, and most have no such file

            data: Any = json.loads(text)
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            problem = getattr(error, "strerror", None) or "it is not JSON"
            raise ConfigError(
                f"The stored keys in {self.path} can't be read: {problem}.",
                hint="Remove the file and run `kimi-tui login` again.",
            ) from None
        tables = data.items() if isinstance(data, dict) else ()
        return {
            name: Credential(table["api_key"], table.get("base_url"))
            for name, table in tables
            if isinstance(table, dict) and isinstance(table.get("api_key"), str) and table["api_key"]
        }

    def keep(self, provider: str, credential: Credential) -> None:
        """Store a key, in place of an earlier one. Raises ConfigError."""
        self._write({**self.read(), provider: credential})

    def forget(self, provider: str) -> None:
        """Remove a provider's key, if there is one. Raises ConfigError."""
        self._write({name: it for name, it in self.read().items() if name != provider})

    def _write(self, stored: Mapping[str, Credential]) -> None:
        import json

        tables = {
            name: {"api_key": it.api_key} | ({"base_url": it.base_url} if it.base_url else {})
            for name, it in stored.items()
        }
        try:
            if tables:
                replace_private_file(self.path, json.dumps(tables, indent=1))
            else:
                self.path.unlink(missing_ok=True)
        except OSError as error:
            raise ConfigError(
                f"{self.path} can't be written: {error.strerror or error}.",
                hint="Make the share folder writable, or set KIMI_SHARE_DIR.",
            ) from error


def stored_layer(
    configured: Mapping[str, Any], stored: Mapping[str, Credential], environ: Mapping[str, str]
) -> dict[str, Any]:
    """What the stored keys and the environment add to the settings that files have `configured`.

    As `environment_layer`, for which a stored key is a variable that isn't set. Raises ConfigError.
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
        if isinstance(provider, Mapping) and not provider.get("api_key"):
            layer.setdefault("providers", {}).setdefault(name, {})["api_key"] = credential.api_key
    return layer
