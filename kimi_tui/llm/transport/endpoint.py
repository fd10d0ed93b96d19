"""Validated connection settings of a model's server, and their representation in errors."""

import re
from dataclasses import field
from urllib.parse import urlsplit

from kimi_tui.base.errors import ConfigError
from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.llm.provider import ProviderKind, ProviderSettings

DEFAULT_BASE_URLS: dict[ProviderKind, str] = {
    "kimi": "https://api.moonshot.cn/v1",
    "openai": "https://api.openai.com/v1",
    "openai_responses": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com",
}
"""Default base URL of each kind of provider."""

KEY_VARIABLES: dict[ProviderKind, str] = {
    "kimi": "KIMI_API_KEY",
    "openai": "OPENAI_API_KEY",
    "openai_responses": "OPENAI_API_KEY",
    "anthropic": "ANTHROPIC_API_KEY",
}
"""Environment variable for the API key of each kind of provider."""

MAX_QUOTE_CHARS = 300
"""Maximum length of a server's message in an error."""

_SENDABLE = re.compile(r"[\t\x20-\x7e]*")
_HOST = re.compile(r"[\w.:-]+")
_MIN_SECRET_LENGTH = 8
_URL_SUFFIXES: dict[ProviderKind, tuple[str, ...]] = {
    "kimi": ("/chat/completions",),
    "openai": ("/chat/completions",),
    "openai_responses": ("/responses", "/chat/completions"),
    "anthropic": ("/v1/messages", "/v1"),
}
"""Suffixes that users copy from documentation along with a base URL."""


@frozen(kw_only=True)
class Endpoint:
    """A model and its server."""

    kind: ProviderKind
    base_url: str
    model: str
    api_key: str = field(default="", repr=False)
    headers: dict[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def from_settings(cls, settings: ProviderSettings) -> "Endpoint":
        """Return the endpoint for `settings`. Raises ConfigError for an invalid URL, key or header."""
        kind = settings.kind
        base_url = (settings.base_url or DEFAULT_BASE_URLS[kind]).strip().rstrip("/")
        for suffix in _URL_SUFFIXES[kind]:
            base_url = base_url.removesuffix(suffix)
        if not _is_http_url(base_url):
            raise ConfigError(
                msg(
                    "The {kind} provider's base URL “{url}” isn't a valid URL.",
                    kind=kind,
                    url=sanitize_line(base_url),
                ),
                hint=msg("Use a URL such as {url}.", url=DEFAULT_BASE_URLS[kind]),
            )
        api_key = settings.api_key.strip()
        if not _SENDABLE.fullmatch(api_key):
            raise ConfigError(
                msg("The {kind} provider's API key contains invalid characters.", kind=kind),
                hint=msg(
                    "Copy the key again into {variable} or the provider's api_key.",
                    variable=KEY_VARIABLES[kind],
                ),
            )
        headers = {name: value.strip() for name, value in (settings.headers or {}).items()}
        for name, value in headers.items():
            if not name or not _SENDABLE.fullmatch(name) or not _SENDABLE.fullmatch(value):
                raise ConfigError(
                    msg(
                        "The {kind} provider's header “{name}” isn't valid.",
                        kind=kind,
                        name=sanitize_line(name),
                    ),
                    hint="Each header must be a single line of ASCII. Fix custom_headers.",
                )
        return cls(kind=kind, base_url=base_url, model=settings.model, api_key=api_key, headers=headers)

    @property
    def host(self) -> str:
        """The server's host name, with the port if the URL has one."""
        parts = urlsplit(self.base_url)
        name = f"[{parts.hostname}]" if ":" in str(parts.hostname) else str(parts.hostname)
        return f"{name}:{parts.port}" if parts.port else name

    @property
    def address(self) -> str:
        """The base URL without credentials and query."""
        parts = urlsplit(self.base_url)
        return f"{parts.scheme}://{self.host}{parts.path}"

    @property
    def is_local(self) -> bool:
        """Whether the server runs on this machine."""
        return urlsplit(self.base_url).hostname in {"localhost", "127.0.0.1", "::1", "0.0.0.0"}

    @property
    def key_advice(self) -> str:
        """Hint on how to set the API key."""
        return msg(
            "Set {variable}, or the provider's api_key in config.toml.", variable=KEY_VARIABLES[self.kind]
        )

    def redact(self, text: str) -> str:
        """Return a server's message as one short line. Keys that the server may echo are replaced."""
        text = sanitize_line(text[: MAX_QUOTE_CHARS * 20])
        for secret in (self.api_key, *self._header_secrets()):
            if len(secret) >= _MIN_SECRET_LENGTH:
                text = text.replace(secret, "[key]")
        return text if len(text) <= MAX_QUOTE_CHARS else text[: MAX_QUOTE_CHARS - 1] + "…"

    def _header_secrets(self) -> list[str]:
        values = list(self.headers.values())
        return values + [word for value in values for word in value.split()]


def _is_http_url(url: str) -> bool:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return False
    has_host = _HOST.fullmatch(parts.hostname or "") is not None
    return parts.scheme in {"http", "https"} and has_host and port != 0
