"""Detection of files that are likely to contain secrets, by path.

Their content isn't sent to the model unasked.
"""

import os
import re
from collections.abc import Callable
from fnmatch import translate
from functools import cache
from pathlib import Path

from kimi_tui.base.paths import data_dir

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
    "*.tfvars.json",
    "*.tfstate",
    "*.tfstate.backup",
    ".terraformrc",
    "terraform.rc",
    "rclone.conf",
    ".bash_history",
    ".zsh_history",
    ".sh_history",
    ".fish_history",
    "fish_history",
    ".python_history",
    ".node_repl_history",
    ".irb_history",
    ".psql_history",
    ".mysql_history",
    ".sqlite_history",
    ".rediscli_history",
    ".mongo_history",
    ".dbshell",
    "consolehost_history.txt",
    "*.keychain",
    "*.keychain-db",
    "wallet.dat",
)
"""Patterns of file names in lower case, also understood by ripgrep."""

_CREDENTIAL_NAMES = (
    ".env",
    ".env.*",
    "*.env",
    "id_rsa",
    "id_ed25519",
    "id_ecdsa",
    ".netrc",
    ".pgpass",
    ".git-credentials",
    "credentials",
    "*.tfvars",
    "*.tfvars.json",
    "*.tfstate",
)
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
    "*/.password-store/*",
    "*/.local/share/keyrings/*",
    "*/.local/share/kwalletd/*",
    "*/.config/op/*",
    "*/.config/bitwarden*/*",
    "*/.config/keybase/*",
    "*/.mozilla/*",
    "*/.librewolf/*",
    "*/.thunderbird/*",
    "*/.config/google-chrome*/*",
    "*/.config/chromium/*",
    "*/.config/microsoft-edge*/*",
    "*/.config/bravesoftware/*",
    "*/.config/vivaldi*/*",
    "*/.config/opera*/*",
    "*/.var/app/*/config/*",
    "*/snap/firefox/*",
    "*/snap/chromium/*",
    "*/library/keychains/*",
    "*/library/cookies/*",
    "*/library/safari/*",
    "*/library/application support/google/chrome/*",
    "*/library/application support/firefox/*",
    "*/library/application support/bravesoftware/*",
    "*/library/application support/microsoft edge/*",
    "*/library/application support/arc/*",
    "/proc/*/environ",
    "/proc/*/mem",
    "/etc/shadow*",
    "/etc/gshadow*",
)
"""Patterns of absolute paths, each in a hidden or system directory or one of `_UNHIDDEN_FOLDERS`."""
_UNHIDDEN_FOLDERS = ("/library/", "/snap/")
_SYSTEM_FOLDERS = ("/proc/", "/etc/")
_HARMLESS_PATHS = ("*/.ssh/known_hosts*", "*/.ssh/config", "*/.ssh/*.pub")


_OUTPUT_FOLDERS = frozenset({"output", "tasks"})
_SESSION_FOLDERS = frozenset({"sessions", "tui-sessions"})
_OWN_PRIVATE_NAMES = frozenset({"credentials", "drafts", "logs", "store", "user-history", "workspaces"})
"""Directories of kimi-tui with keys, or with text of other sessions."""
_OWN_PRIVATE_FILES = ("config.*", "credentials.json", "*mcp.json", "*.db", "*.db-*", "trusted.json")
"""Files of kimi-tui with keys, text of other sessions, or what the user trusts."""


def is_secret(path: str) -> bool:
    """Return whether the file at `path` is likely to contain passwords, tokens or private keys.

    `path` must be absolute.
    """
    normalized = path.replace(os.sep, "/").lower()
    name = normalized.rpartition("/")[2]
    if _matcher(SECRET_NAMES)(name):
        return not _matcher(_HARMLESS_NAMES)(name)
    is_candidate = "/." in normalized or any(folder in normalized for folder in _UNHIDDEN_FOLDERS)
    if not is_candidate and not normalized.startswith(_SYSTEM_FOLDERS):
        return False
    return bool(_matcher(_SECRET_PATHS)(normalized)) and not _matcher(_HARMLESS_PATHS)(normalized)


def is_credential(name: str) -> bool:
    """Return whether a file of this name is hardly ever a public example, unlike a certificate in tests."""
    return bool(_matcher(_CREDENTIAL_NAMES)(name.lower())) and not _matcher(_HARMLESS_NAMES)(name.lower())


def is_private(path: Path) -> bool:
    """Return whether the file at `path` is likely to contain secrets or is a kimi-tui config file.

    Symbolic links in `path` must be resolved.
    """
    return _is_own_setting(path) or is_secret(str(path))


def _is_own_setting(path: Path) -> bool:
    root = data_dir().resolve()
    if root not in path.parents:
        return False
    top = path.relative_to(root).parts[0]
    # the session points the model to the complete output of its commands and tasks
    is_output = not _OUTPUT_FOLDERS.isdisjoint(path.relative_to(root).parts)
    if top in _SESSION_FOLDERS:
        return not is_output
    return top in _OWN_PRIVATE_NAMES or bool(_matcher(_OWN_PRIVATE_FILES)(top))


@cache
def _matcher(patterns: tuple[str, ...]) -> Callable[[str], object]:
    return re.compile("|".join(map(translate, patterns))).match
