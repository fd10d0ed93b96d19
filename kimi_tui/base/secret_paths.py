"""Which files are likely to hold secrets, told by their paths. What they hold reaches no model unasked."""

import os
import re
from collections.abc import Callable
from fnmatch import translate
from functools import cache
from pathlib import Path

from kimi_tui.base.paths import share_dir

SECRET_NAMES = (
    ".env",
    ".env.*",
    "*.env",
    ".envrc",
    "id_rsa*",
    "id_dsa*",
    "id_ecdsa*",
    "id_ed25519*",
    "*.pem",
    "*.key",
    "*.ppk",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.keystore",
    "*.kdbx",
    "*.ovpn",
    ".netrc",
    "_netrc",
    ".npmrc",
    ".yarnrc.yml",
    ".pypirc",
    ".pgpass",
    ".my.cnf",
    ".htpasswd",
    ".git-credentials",
    ".dockercfg",
    ".vault-token",
    ".boto",
    ".s3cfg",
    "credentials",
    "credentials.json",
    "credentials.toml",
    ".credentials.json",
    "credentials.tfrc.json",
    "application_default_credentials.json",
    "client_secret*.json",
    "service-account*.json",
    "service_account*.json",
    "secrets.json",
    "secrets.toml",
    "secrets.yaml",
    "secrets.yml",
    "*.tfvars",
    "*.tfstate",
)
"""Patterns of whole file names, lower case; ripgrep understands them too."""

_HARMLESS_NAMES = (
    ".env.example",
    ".env.*.example",
    ".env.sample",
    ".env.template",
    ".env.dist",
    ".env.defaults",
    "example.env",
    "sample.env",
    "template.env",
    "*.example.env",
    "*.pub",
)

_SECRET_PATHS = (
    "*/.ssh/*",
    "*/.gnupg/*",
    "*/.aws/config",
    "*/.aws/sso/cache/*",
    "*/.azure/*.json",
    "*/.kube/config",
    "*/.docker/config.json",
    "*/.config/gcloud/*",
    "*/.config/gh/hosts.yml",
    "*/.cargo/credentials*",
    "*/.gem/credentials",
    "*/.m2/settings.xml",
    "*/.codex/auth.json",
    "*/.kimi*/config.*",
    "*/.kimi*/credentials/*",
    "/proc/*/environ",
    "/etc/shadow*",
    "/etc/gshadow*",
)
"""Patterns of whole paths, each below a hidden folder or a system folder."""
_SYSTEM_FOLDERS = ("/proc/", "/etc/")
_HARMLESS_PATHS = ("*/.ssh/known_hosts*", "*/.ssh/config", "*/.ssh/*.pub")


def is_secret(path: str) -> bool:
    """Whether the file at `path`, absolute, is likely to hold passwords, tokens or private keys."""
    whole = path.replace(os.sep, "/").lower()
    name = whole.rpartition("/")[2]
    if _matcher(SECRET_NAMES)(name):
        return not _matcher(_HARMLESS_NAMES)(name)
    if "/." not in whole and not whole.startswith(_SYSTEM_FOLDERS):
        return False
    return bool(_matcher(_SECRET_PATHS)(whole)) and not _matcher(_HARMLESS_PATHS)(whole)


def is_private(path: Path) -> bool:
    """Whether the file at `path`, links resolved, is likely to hold secrets, or is a setting of ours."""
    return _is_setting_of_ours(path) or is_secret(str(path))


def _is_setting_of_ours(path: Path) -> bool:
    share = share_dir().resolve()
    if share not in path.parents:
        return False
    top = path.relative_to(share).parts[0]
    return top.startswith("config.") or top in {"mcp.json", "credentials"}


@cache
def _matcher(patterns: tuple[str, ...]) -> Callable[[str], object]:
    return re.compile("|".join(map(translate, patterns))).match
