"""What is unpacked or copied may be a `.git/config` of somebody else's: only the very command is granted."""

from pathlib import Path

import pytest

from kimi_tui.tools.approval import CommandSubject
from kimi_tui.tools.permission.rulebook import RuleBook
from tests.tools.rules import rules_of

RULES = ("cp", "mv", "tar", "unzip", "patch", "cat", "rsync", "7z")


@pytest.fixture
def work_dir(tmp_path: Path) -> Path:
    """A project with somebody else's files in it, and a secret of the user's."""
    work = tmp_path / "work"
    for folder in ("evil/.git", "src", "deep/conf"):
        (work / folder).mkdir(parents=True)
    (work / "deep" / "conf" / ".env").write_text("KEY=1")
    (tmp_path / "keys" / ".aws").mkdir(parents=True)
    (tmp_path / "keys" / ".aws" / "credentials").write_text("KEY=1")
    return work


def verdict(work_dir: Path, command: str) -> str | None:
    book = rules_of(allow=[f"Bash({name} *)" for name in RULES], work_dir=work_dir)
    return book.verdict(CommandSubject(command))


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
def test_what_may_replace_gits_files_is_no_matter_of_a_wildcard(work_dir: Path, command: str) -> None:
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
def test_what_can_not_is(work_dir: Path, command: str) -> None:
    assert verdict(work_dir, command) == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "cp -r deep other", "cp -rt src deep", "cp -r ../keys other", "mv deep other", "rsync -a deep other",
        "cp a b; cat other/.env", "mv a b && cat < other/.env",
    ],
)  # fmt: skip
def test_secrets_are_not_carried_to_where_they_are_called_otherwise(work_dir: Path, command: str) -> None:
    assert verdict(work_dir, command) is None


def test_the_very_command_may_be_granted(work_dir: Path) -> None:
    book = RuleBook(work_dir=work_dir)
    granted = book.grant_for(CommandSubject("tar xf a.tar"))
    assert [str(rule) for rule in granted] == ["Bash(tar xf a.tar)"]
    assert book.with_allowed(*granted).verdict(CommandSubject("tar xf a.tar")) == "allow"
