"""Which files count as secrets, for all tools, attachments and commands."""

from pathlib import Path

import pytest

from kimi_tui.base.paths import data_dir
from kimi_tui.base.secret_paths import is_private, is_secret

SECRETS = [
    ".bash_history", ".zsh_history", ".python_history", ".node_repl_history", ".psql_history",
    ".local/share/fish/fish_history", ".mozilla/firefox/a.default/logins.json",
    ".config/google-chrome/Default/Login Data", ".config/chromium/Default/Cookies",
    ".config/BraveSoftware/Brave-Browser/Default/Login Data", "snap/firefox/common/.mozilla/key4.db",
    "Library/Keychains/login.keychain-db", "Library/Application Support/Firefox/Profiles/a/key4.db",
    ".local/share/keyrings/login.keyring", ".local/share/kwalletd/kdewallet.kwl", ".password-store/mail.gpg",
    ".config/rclone/rclone.conf", ".terraformrc", "infra/prod.tfvars.json", "infra/terraform.tfstate.backup",
    ".env", ".env.local", "prod.env", ".ssh/id_ed25519", ".aws/credentials", ".netrc", ".npmrc",
    "service-account.json", ".kube/config",
]  # fmt: skip
OTHERS = [
    "src/history.py", "docs/history.md", "library/keys.py", "Library/README.md", "snap/snapcraft.yaml",
    ".config/htop/htoprc", "main.tf", "variables.tf", ".env.example", ".ssh/known_hosts", "src/keyring.py",
    "tests/chrome/test_login.py",
]  # fmt: skip


@pytest.mark.parametrize("name", SECRETS)
def test_a_file_that_is_likely_to_hold_secrets_is_a_secret(name: str) -> None:
    assert is_secret(f"/home/me/{name}")
    assert is_secret(f"/home/me/{name}".upper())


@pytest.mark.parametrize("name", OTHERS)
def test_an_ordinary_file_is_not_a_secret(name: str) -> None:
    assert not is_secret(f"/home/me/project/{name}")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("sessions/a/b/context.jsonl", True),
        ("sessions/a/b/wire.jsonl", True),
        ("sessions/a/b/output/1.txt", False),
        ("sessions/a/b/tasks/c/output.txt", False),
        ("user-history/a.jsonl", True),
        ("store/a/b", True),
        ("config.toml", True),
        ("skills/a/SKILL.md", False),
        ("agents/a/agent.yaml", False),
        ("plans/a.md", False),
    ],
)
def test_what_was_said_in_other_sessions_is_private(name: str, expected: bool) -> None:
    path: Path = data_dir().resolve() / name
    assert is_private(path) == expected
