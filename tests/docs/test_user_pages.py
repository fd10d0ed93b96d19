"""The pages for new users: links work, commands run, configs load, and quoted keys and messages exist."""

import re
import shlex
from pathlib import Path

import pytest

from kimi_tui.base.exit_codes import ExitCode
from kimi_tui.config.loader import read_config, settings_of
from kimi_tui.config.theme_names import user_theme_path
from kimi_tui.permission.rule import parse_rule
from kimi_tui.tui.keys.keymap import GROUPS, keymap_errors
from kimi_tui.tui.user_themes import load_user_theme
from tests.docs.pages import DOCS, Example, examples
from tests.e2e.program import Program

ROOT = DOCS.parent
PAGES = ["install.md", "first-task.md", "screen-and-keys.md", "permissions.md", "troubleshooting.md"]
EVERY_PAGE = sorted([*DOCS.glob("*.md"), ROOT / "README.md", ROOT / "README.zh.md"])
_LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


@pytest.mark.parametrize("page", EVERY_PAGE, ids=lambda page: page.name)
def test_every_link_points_to_a_file(page: Path) -> None:
    local = [link for link in _LINK.findall(page.read_text("utf-8")) if "://" not in link]
    assert [link for link in local if not (page.parent / link).exists()] == []


def test_every_page_is_in_the_index() -> None:
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
            arguments = shlex.split(command, comments=True)
            assert arguments.pop(0) == "kimi-tui", line
            stdin = " ".join(shlex.split(piped)[1:])
            if "-p" in arguments and "--demo" not in arguments:
                program.script("text: done")  # the example assumes a configured model
            finished = program.run(*arguments, stdin=stdin)
            # Nothing is allowed in a new home, so `permissions test` exits as the page says.
            asks = arguments[:2] == ["permissions", "test"]
            assert finished.exit_code == (ExitCode.DENIED if asks else ExitCode.DONE), (line, finished.stderr)


THEMES = "Themes"
"""Heading of the example that is a theme instead of a config."""


def configs() -> list[Example]:
    found = [example for page in PAGES for example in examples(page, language="toml")]
    return [example for example in found if example.heading != THEMES]


def test_the_theme_loads(tmp_path: Path) -> None:
    found = (it for page in PAGES for it in examples(page, language="toml") if it.heading == THEMES)
    user_theme_path(tmp_path, "ocean").parent.mkdir()
    user_theme_path(tmp_path, "ocean").write_text(next(found).text)
    assert load_user_theme("ocean", tmp_path).dark


@pytest.mark.parametrize("example", configs(), ids=lambda example: example.heading)
def test_every_config_loads(example: Example, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(example.text)
    settings = settings_of(read_config(data_dir=tmp_path, work_dir=tmp_path, environ={}))
    assert list(keymap_errors(settings.keymap)) == []
    rules = settings.permissions
    for text in (*rules.allow, *rules.ask, *rules.deny):
        parse_rule(text)


def test_every_key_on_the_page_is_bound() -> None:
    known = {key for _, group in GROUPS for entry in group for key in entry.keys.split(",")}
    page = (DOCS / "screen-and-keys.md").read_text("utf-8").partition("## Most used")[2].partition("##")[0]
    documented_keys = [
        key
        for row in page.splitlines()
        if row.startswith("| `")
        for key in re.findall(r"`([^`]+)`", row.split("|")[1])
    ]
    assert [key for key in documented_keys if key not in known] == []


def test_the_program_contains_every_message_of_the_troubleshooting_page() -> None:
    """Search the source for each fixed part of a message, so that this test fails when a message changes."""
    source = " ".join(path.read_text("utf-8") for path in (ROOT / "kimi_tui").rglob("*.py"))
    source = re.sub(r'"\s+f?"', "", source)
    page = (DOCS / "troubleshooting.md").read_text("utf-8")
    messages = re.findall(r"^\| `([^`]+)`", page, re.MULTILINE)
    parts = [part.strip() for message in messages for part in message.split("…") if part.strip()]
    assert [part for part in parts if part not in source and not part.isdigit()] == []
