"""Domains of web addresses, in one spelling."""

import re
from urllib.parse import urlsplit

_URL = re.compile(r"https?://[^\s'\"<>]+", re.IGNORECASE)


def normalize_domain(name: str) -> str:
    """Return a domain in lower case, without a final dot, with other letters as in DNS (RFC 3490)."""
    domain = name.lower().removesuffix(".")
    if domain.isascii():
        return domain
    try:
        return domain.encode("idna").decode("ascii")
    except UnicodeError:
        return domain


def domain_of(url: str) -> str:
    """Return the normalized domain of `url`; empty if it has none."""
    try:
        return normalize_domain(urlsplit(url.strip()).hostname or "")
    except ValueError:
        return ""


def find_domains(text: str) -> set[str]:
    """Return the domains of the web addresses in `text`."""
    return {domain for match in _URL.finditer(text) if (domain := domain_of(match.group()))}


def is_same_site(one: str, other: str) -> bool:
    """Return whether two domains are the same, with or without `www.`."""
    return one.removeprefix("www.") == other.removeprefix("www.")


def matches_domain(pattern: str, domain: str) -> bool:
    """Return whether a rule's `pattern` covers `domain`: `*`, a domain, or `*.` for its subdomains."""
    if pattern.startswith("*."):
        return domain.endswith(pattern[1:])
    return pattern in ("*", domain)
