"""Ignore files: what is told by letters alone is what every pattern would say."""

import itertools
import random
from pathlib import Path

import pytest
from pathspec import GitIgnoreSpec

from kimi_tui.base.ignore import rules_of

PATTERNS = (
    "__pycache__/", "*.py[cod]", "build/", "/target", "*.log", "!keep.log", "docs/_build/", "**/foo",
    "foo/**", "a?c", "[!a]b", "[]a]c", "a/**/b", "# a comment", "", "/", "  ", "*", "!*", "\\#c", "a b ",
    "x\\ ", "!tmp/",
)  # fmt: skip
NAMES = (
    "a",
    "b",
    "build",
    "x.pyc",
    "keep.log",
    "a.log",
    "tmp",
    "docs",
    "_build",
    "foo",
    "a b",
    "target",
    "#c",
)


@pytest.mark.parametrize("seed", range(12))
def test_a_path_is_ignored_just_when_the_patterns_say_so(seed: int) -> None:
    chance = random.Random(seed)
    lines = chance.sample(PATTERNS, 4)
    spec = GitIgnoreSpec.from_lines(lines)
    rules = rules_of(lines, Path("/work"))
    for names in itertools.product(NAMES, chance.sample(NAMES, 4)):
        path = "/".join(names)
        for ending in ("", "/"):
            expected = bool(spec.check_file(path + ending).include)
            assert rules.ignores(f"/work/{path}", is_folder=bool(ending)) == expected, (lines, path)
