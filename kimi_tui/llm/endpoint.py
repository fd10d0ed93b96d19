"""The endpoint: where a model is reached, checked, and in the words that errors use of it."""

import re
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from kimi_tui.base.errors import ConfigError
from kimi_tui.base.terminal import plain_line
from kimi_tui.llm.provider import ProviderKind, ProviderSettings

DEFAULT_BASE_URLS: dict[ProviderKind, str] = {
    "kimi": "https://api.moonshot.cn/v1",
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com",
}
"""Where each kind of provider is reached when its settings don't say."""

KEY_VARIABLES: dict[ProviderKind, str] = {
    "kimi": "KIMI_API_KEY",
    "openai": "OPENAI_API_KEY",
    "anthropic": "ANTHROPIC_API_KEY",
}
"""The environment variable that holds each kind's API key."""

LONGEST_QUOTE = 300
"""Characters of a server's own words that an error repeats."""

_SENDABLE = re.compile(r"[\t\x20-\x7e]*")
_HOST = re.compile(r"[\w.:-]+")
_SHORTEST_SECRET = 8
_ENDINGS: dict[ProviderKind, tuple[str, ...]] = {
    "kimi": ("/chat/completions",),
    "openai": ("/chat/completions",),
    "anthropic": ("/v1/messages", "/v1"),
}
"""What people copy from documentation along with a base URL."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """A server and a model on it."""

    kind: ProviderKind
    base_url: str
    model: str
    api_key: str = field(default="", repr=False)
    headers: dict[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, settings: ProviderSettings) -> "Endpoint":
        """The endpoint that `settings` describe. Raises ConfigError for what can't be a URL, key or
        header."""
        kind = settings.kind
        base_url = (settings.base_url or DEFAULT_BASE_URLS[kind]).strip().rstrip("/")
        for ending in _ENDINGS[kind]:
            base_url = base_url.removesuffix(ending)
        if not _is_address(base_url):
            raise ConfigError(
                f"The base URL “{plain_line(base_url)}” of the {kind} provider is no address of a server.",
                hint=f"Write it like {DEFAULT_BASE_URLS[kind]}.",
            )
        api_key = settings.api_key.strip()
        if not _SENDABLE.fullmatch(api_key):
            raise ConfigError(
                f"The API key of the {kind} provider holds characters that no key has.",
                hint=f"Copy it anew into {KEY_VARIABLES[kind]} or the provider's api_key.",
            )
        headers = {name: value.strip() for name, value in (settings.headers or {}).items()}
        for name, value in headers.items():
            if not name or not _SENDABLE.fullmatch(name) or not _SENDABLE.fullmatch(value):
                raise ConfigError(
                    f"The header “{plain_line(name)}” of the {kind} provider can't be sent.",
                    hint="Headers are one line of plain ASCII; mend custom_headers.",
                )
        return cls(kind=kind, base_url=base_url, model=settings.model, api_key=api_key, headers=headers)

    @property
    def host(self) -> str:
        """The server as people name it: host, and port when it was given."""
        parts = urlsplit(self.base_url)
        name = f"[{parts.hostname}]" if ":" in str(parts.hostname) else str(parts.hostname)
        return f"{name}:{parts.port}" if parts.port else name

    @property
    def address(self) -> str:
        """The base URL without anything that may be secret in it."""
        parts = urlsplit(self.base_url)
        return f"{parts.scheme}://{self.host}{parts.path}"

    @property
    def is_local(self) -> bool:
        """Whether the server runs on this machine."""
        return urlsplit(self.base_url).hostname in {"localhost", "127.0.0.1", "::1", "0.0.0.0"}

    @property
    def key_advice(self) -> str:
        """How to set the API key."""
        return f"Set {KEY_VARIABLES[self.kind]}, or the provider's api_key in config.toml."

    def quote(self, text: str) -> str:
        """What the server said, fit for one line of an error: shortened, and without keys it may echo."""
        text = plain_line(text[: LONGEST_QUOTE * 20])
        for secret in (self.api_key, *self._header_secrets()):
            if len(secret) >= _SHORTEST_SECRET:
                text = text.replace(secret, "[key]")
        return text if len(text) <= LONGEST_QUOTE else text[: LONGEST_QUOTE - 1] + "…"

    def _header_secrets(self) -> list[str]:
        values = list(self.headers.values())
        return values + [word for value in values for word in value.split()]


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return False
    is_named = _HOST.fullmatch(parts.hostname or "") is not None
    return parts.scheme in {"http", "https"} and is_named and port != 0
