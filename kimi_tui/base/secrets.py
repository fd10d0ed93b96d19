"""What must stay with the user: keys, tokens and passwords, blacked out of what may be shown to others."""

import re
from collections.abc import Iterable, Mapping

HIDDEN = "[hidden]"
SECRET_WORDS = (
    "KEY", "KEYS", "TOKEN", "TOKENS", "SECRET", "SECRETS", "PASSWORD", "PASSWD", "PASS", "PASSPHRASE",
    "CREDENTIAL", "CREDENTIALS", "PAT", "AUTH", "AUTHORIZATION", "COOKIE",
)  # fmt: skip
"""Of a name that consists of words, those that make it the name of a secret."""

_NAMED = re.compile(
    r"(?P<keep>(?:authorization|cookie|api[-_]?key|secret|token|passw(?:or)?d)[\"']?\s*[:=]\s*[\"']?"
    r"(?:(?:basic|bearer|digest|token)\s+)?|\bbearer\s+)[^\s\"',;}]+",
    re.IGNORECASE,
)
"""A value behind a name that says what it is."""
_SHAPED = re.compile(
    r"\bsk-[A-Za-z0-9_-]{8,}"
    r"|\b(?:gh[oprsu]_|github_pat_|glpat-|xox[abeoprs]-|npm_|hf_|pypi-)[A-Za-z0-9_-]{16,}"
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[A-Za-z0-9_-]{35}"
    r"|\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"
    r"|(?P<keep>\b[a-z][a-z0-9+.-]{0,20}://[^\s/:@\"']{0,100}:)[^\s/@\"']{1,200}(?=@)"
    r"|-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|\Z)",
    re.DOTALL,
)
"""What can be nothing else: keys of known services, signed tokens, passwords of addresses, private keys."""
_SCHEMES = {"basic", "bearer", "digest", "negotiate", "token"}
"""What stands before a credential, and alone where a token's kind is named; no secret itself."""
_SHORTEST = 6
"""A shorter value would black out ordinary words."""
_SHORTEST_IN_WORDS = 8

_known: set[str] = set()


def sounds_secret(name: str) -> bool:
    """Whether a variable or a header of this name is likely to hold a secret."""
    return any(word in SECRET_WORDS for word in re.split(r"[^A-Z0-9]+", name.upper()))


def keep_hidden(values: Iterable[str]) -> None:
    """Black these out from now on, wherever this process is about to show them to others."""
    for value in values:
        _known.update(
            each
            for each in {value, value.rpartition(" ")[2]}
            if len(each) >= _SHORTEST and each.strip().lower() not in _SCHEMES
        )


def is_kept_hidden(value: str, *, shortest: int = _SHORTEST) -> bool:
    """Whether `value` is, or holds, one of those that are blacked out, of at least `shortest` characters."""
    return any(len(secret) >= shortest and secret in value for secret in _known)


def secrets_in(named: Mapping[str, str]) -> Iterable[str]:
    """The values of `named`, such as an environment, whose names say that they are secrets."""
    return [value for name, value in named.items() if sounds_secret(name) and not value.startswith("/")]


def blacked_out(text: str) -> str:
    """`text`, such as a line of a log, without known secrets and without what only looks like one."""
    for secret in _known:
        text = text.replace(secret, HIDDEN)
    return without_secrets(text)


def without_secrets(text: str) -> str:
    """`text` with what looks like a key, a token or a password blacked out."""
    return _SHAPED.sub(_hidden, _NAMED.sub(_hidden, text))


def fit_to_share(text: str) -> str:
    """`text`, such as a conversation, without known secrets and without what can be nothing else.

    Code that speaks of tokens and passwords stays as it is.
    """
    for secret in _known:
        if len(secret) >= _SHORTEST_IN_WORDS:
            text = text.replace(secret, HIDDEN)
    return _SHAPED.sub(_hidden, text)


def _hidden(match: re.Match[str]) -> str:
    return f"{match['keep'] or ''}{HIDDEN}"
