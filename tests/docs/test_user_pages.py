"""The pages for newcomers: links lead somewhere, commands run, configs load, keys and messages exist."""

import re
import shlex
from pathlib import Path

import pytest

from kimi_tui.config.loading import read_config, settings_of
from kimi_tui.tools.permission.rule import parse_rule
from kimi_tui.tui.keys import GROUPS, complaints
from tests.docs.pages import DOCS, Example, examples
from tests.e2e.program import Program

ROOT = DOCS.parent
PAGES = ["install.md", "first-task.md", "screen-and-keys.md", "approvals-and-rules.md", "troubleshooting.md"]
EVERY_PAGE = sorted([*DOCS.glob("*.md"), ROOT / "README.md", ROOT / "README.zh.md"])
_LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


@pytest.mark.parametrize("page", EVERY_PAGE, ids=lambda page: page.name)
def test_every_link_leads_to_a_file(page: Path) -> None:
    local = [link for link in _LINK.findall(page.read_text("utf-8")) if "://" not in link]
    assert [link for link in local if not (page.parent / link).exists()] == []


def test_every_page_is_on_the_index() -> None:
    index = (DOCS / "README.md").read_text("utf-8")
    assert [
        page.name for page in DOCS.glob("*.md") if page.name != "README.md" and f"({page.name})" not in index
    ] == []


@pytest.mark.parametrize("page", PAGES)
def test_every_command_runs(page: str, tmp_path: Path) -> None:
    program = Program(tmp_path)
    (program.work_dir / "notes.txt").write_text("milk\n")
    for example in examples(page, language="sh"):
        for line in example.lines:
            piped, _, command = line.rpartition(" | ")
            words = shlex.split(command, comments=True)
            assert words.pop(0) == "kimi-tui", line
            stdin = " ".join(shlex.split(piped)[1:])
            done = program.run(*words, stdin=stdin)
            assert done.exit_code == 0, (line, done.stderr)


def configs() -> list[Example]:
    return [example for page in PAGES for example in examples(page, language="toml")]


@pytest.mark.parametrize("example", configs(), ids=lambda example: example.heading)
def test_every_config_loads(example: Example, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(example.text)
    settings = settings_of(read_config(share_dir=tmp_path, work_dir=tmp_path, environ={}))
    assert list(complaints(settings.keymap)) == []
    rules = settings.permissions
    for text in (*rules.allow, *rules.ask, *rules.deny):
        parse_rule(text)


def test_the_keys_of_the_screen_are_the_keys_of_the_app() -> None:
    known = {key for _, group in GROUPS for entry in group for key in entry.keys.split(",")}
    page = (DOCS / "screen-and-keys.md").read_text("utf-8").partition("## Most used")[2].partition("##")[0]
    named = [
        key
        for row in page.splitlines()
        if row.startswith("| `")
        for key in re.findall(r"`([^`]+)`", row.split("|")[1])
    ]
    assert [key for key in named if key not in known] == []


def test_the_messages_of_troubleshooting_are_those_of_the_program() -> None:
    """Each fixed piece of a message stands in the source, so that a change of it is noticed."""
    source = " ".join(path.read_text("utf-8") for path in (ROOT / "kimi_tui").rglob("*.py"))
    source = re.sub(r'"\s+f?"', "", source)
    page = (DOCS / "troubleshooting.md").read_text("utf-8")
    told = re.findall(r"^\| `([^`]+)`", page, re.MULTILINE)
    pieces = [piece.strip() for message in told for piece in message.split("…") if piece.strip()]
    assert [piece for piece in pieces if piece not in source and not piece.isdigit()] == []
