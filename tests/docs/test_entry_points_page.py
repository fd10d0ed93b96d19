"""The page about entry points names all of them, and its tests exist."""

import re

import pytest

from kimi_tui.cli.main import SUBCOMMANDS
from tests.docs.pages import DOCS

ROOT = DOCS.parent
PAGE = (DOCS / "entry-points.md").read_text("utf-8")
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines()[4:]]


@pytest.mark.parametrize("name", SUBCOMMANDS)
def test_every_subcommand_is_named_as_a_start(name: str) -> None:
    starts = " ".join(row[1] for row in ROWS[2:])
    assert re.search(rf"\b{name}\b", starts)


def test_every_entry_point_has_features_and_tests() -> None:
    assert ROWS[0] == ["Entry point", "Start", "Features", "How it is tested"]
    assert [row[0] for row in ROWS[2:] if len(row) != 4 or not all(row)] == []


def test_the_named_tests_and_targets_exist() -> None:
    folders = set(re.findall(r"`(tests/[\w/]+)`", PAGE))
    assert len(folders) > 10
    assert [folder for folder in folders if not (ROOT / folder).is_dir()] == []
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    named = set(re.findall(r"`make (\w+)`", PAGE))
    assert {"peers", "dist"} <= named <= set(targets)
