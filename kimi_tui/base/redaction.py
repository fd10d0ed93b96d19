"""Redaction of keys, tokens and passwords."""

import re
from collections.abc import Iterable, Mapping

REDACTED = "[hidden]"
SECRET_WORDS = (
    "KEY", "KEYS", "TOKEN", "TOKENS", "SECRET", "SECRETS", "PASSWORD", "PASSWD", "PASS", "PASSPHRASE",
    "CREDENTIAL", "CREDENTIALS", "PAT", "AUTH", "AUTHORIZATION", "COOKIE",
)  # fmt: skip
"""Words that mark a variable or header name as the name of a secret."""

_NAMED_SECRET = re.compile(
    r"(?P<keep>(?:authorization|cookie|api[-_]?key|secret|token|passw(?:or)?d)[\"']?\s*[:=]\s*[\"']?"
    r"(?:(?:basic|bearer|digest|token)\s+)?|\bbearer\s+)[^\s\"',;}]+",
    re.IGNORECASE,
)
"""A value after a name that marks it as a secret."""
_SECRET_SHAPE = re.compile(
    r"\bsk-[A-Za-z0-9_-]{8,}"
    r"|\b(?:gh[oprsu]_|github_pat_|glpat-|xox[abeoprs]-|npm_|hf_|pypi-)[A-Za-z0-9_-]{16,}"
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[A-Za-z0-9_-]{35}"
    r"|\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"
    r"|(?P<keep>\b[a-z][a-z0-9+.-]{0,20}://[^\s/:@\"']{0,100}:)[^\s/@\"']{1,200}(?=@)"
    r"|-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|\Z)",
    re.DOTALL,
)
"""Unambiguous secrets: keys of known services, signed tokens, passwords in URLs, private keys."""
_ASSIGNMENT = re.compile(
    r"(?:(?<![A-Za-z0-9_$.])|(?<=\\n)|(?<=\\t))(?P<keep>(?P<name>[A-Z][A-Z0-9_]*)=(?:\\?[\"'])?)"
    r"[^\s\"'\\$(){}\[\]<>,;]{4,}(?=[\s\"'\\,;}]|\Z)"
)
"""A shell variable with a literal value, as in `.env` files; also after an escaped line break in JSON."""
_SCHEMES = {"basic", "bearer", "digest", "negotiate", "token"}
"""Authentication schemes. They precede a credential, but aren't secret themselves."""
_MIN_LENGTH = 6
"""Shorter values aren't redacted, because they could be ordinary words."""
_MIN_LENGTH_IN_TEXT = 8

_known: set[str] = set()


def looks_like_secret_name(name: str) -> bool:
    """Return whether a variable or header of this name is likely to contain a secret."""
    return any(word in SECRET_WORDS for word in re.split(r"[^A-Z0-9]+", name.upper()))


def register_secrets(values: Iterable[str]) -> None:
    """Register secrets that are redacted in all later output of this process."""
    for value in values:
        _known.update(
            each
            for each in {value, value.rpartition(" ")[2]}
            if len(each) >= _MIN_LENGTH and each.strip().lower() not in _SCHEMES
        )


def contains_known_secret(value: str, *, min_length: int = _MIN_LENGTH) -> bool:
    """Return whether `value` contains a registered secret of at least `min_length` characters."""
    return any(len(secret) >= min_length and secret in value for secret in _known)


def secret_values(variables: Mapping[str, str]) -> Iterable[str]:
    """Return the values of `variables`, such as an environment, whose names look like names of secrets."""
    return [
        value
        for name, value in variables.items()
        if looks_like_secret_name(name) and not value.startswith("/")
    ]


def redact(text: str) -> str:
    """Redact registered secrets and everything that looks like one in `text`, such as a log line."""
    for secret in _known:
        text = text.replace(secret, REDACTED)
    return redact_patterns(text)


def redact_patterns(text: str) -> str:
    """Redact everything in `text` that looks like a key, token or password."""
    return _SECRET_SHAPE.sub(_replacement, _NAMED_SECRET.sub(_replacement, text))


def redact_for_sharing(text: str) -> str:
    """Redact registered and unambiguous secrets in `text`, such as a conversation.

    These include variables such as `DB_PASSWORD=…`. Code that only mentions secrets is unchanged.
    """
    for secret in _known:
        if len(secret) >= _MIN_LENGTH_IN_TEXT:
            text = text.replace(secret, REDACTED)
    return _SECRET_SHAPE.sub(_replacement, _ASSIGNMENT.sub(_redact_assignment, text))


def _redact_assignment(match: re.Match[str]) -> str:
    return f"{match['keep']}{REDACTED}" if looks_like_secret_name(match["name"]) else match[0]


def _replacement(match: re.Match[str]) -> str:
    return f"{match['keep'] or ''}{REDACTED}"
