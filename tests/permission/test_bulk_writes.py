"""Bulk writes: wildcard rules don't allow extracting or copying files that may replace git's own."""

from pathlib import Path

import pytest

from kimi_tui.permission.rule_set import RuleSet
from tests.tools.rule_sets import build_rule_set, grant_for, verdict_on

RULES = ("cp", "mv", "tar", "unzip", "patch", "cat", "rsync", "7z")


@pytest.fixture
def work_dir(tmp_path: Path) -> Path:
    """Return a project that contains an untrusted folder, next to a folder with secrets."""
    work = tmp_path / "work"
    for folder in ("evil/.git", "src", "deep/conf"):
        (work / folder).mkdir(parents=True)
    (work / "deep" / "conf" / ".env").write_text("KEY=1")
    (tmp_path / "keys" / ".aws").mkdir(parents=True)
    (tmp_path / "keys" / ".aws" / "credentials").write_text("KEY=1")
    return work


def verdict(work_dir: Path, command: str) -> str | None:
    rules = build_rule_set(allow=[f"Bash({name} *)" for name in RULES], work_dir=work_dir)
    return verdict_on(rules, command)


@pytest.mark.parametrize(
    "command",
    [
        "tar xf a.tar", "tar -xzf a.tgz", "tar -f a.tar -x", "tar --extract --file=a", "tar xf a -C .",
        "tar xf a --one-top-level=/etc", "tar cf a -g .git/config src", "unzip a.zip", "unzip -o a.zip",
        "unzip a.zip -d ./", "patch -p1 < a", "patch -d .. < a", "patch .git/config a", "patch -o .git/x a b",
        "7z x a.7z", "cp -r evil/.git .", "cp -r evil/.GIT .", "cp -r evil/. .", "cp -r evil/.. src",
        "cp -r evil/{.git,x} .", "cp -r evil/.* .", "cp -rT evil .", "cp -r --no-target-dir evil .",
        "cp -rt . evil/.git", 'cp -r "$x" .', "mv evil/.* .", "rsync -a evil/ .",
    ],
)  # fmt: skip
def test_a_wildcard_does_not_allow_replacing_gits_files(work_dir: Path, command: str) -> None:
    assert verdict(work_dir, command) is None


@pytest.mark.parametrize(
    "command",
    [
        "tar cf a.tar src", "tar tf a.tar", "tar xf a.tar -C src", "unzip -l a.zip", "unzip a.zip -d src",
        "cp -r evil src", "cp -r src other", "cp -r evil/* src", "cp .env.example .env2", "cp a b",
        "cp a deep/conf", "cat a; cat credentials", "cp a b; cat c",
        "cp -r .github other", "mv a b", "rsync -a src other", "patch --dry-run < a",
    ],
)  # fmt: skip
def test_a_wildcard_allows_harmless_bulk_writes(work_dir: Path, command: str) -> None:
    assert verdict(work_dir, command) == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "cp -r deep other", "cp -rt src deep", "cp -r ../keys other", "mv deep other", "rsync -a deep other",
        "cp a b; cat other/.env", "mv a b && cat < other/.env",
    ],
)  # fmt: skip
def test_a_wildcard_does_not_allow_copying_secrets_under_another_name(work_dir: Path, command: str) -> None:
    assert verdict(work_dir, command) is None


def test_the_exact_command_can_be_granted(work_dir: Path) -> None:
    rules = RuleSet(work_dir=work_dir)
    grant = grant_for(rules, "tar xf a.tar")
    assert [str(rule) for rule in grant] == ["Bash(tar xf a.tar)"]
    assert verdict_on(rules.with_allowed(*grant), "tar xf a.tar") == "allow"
