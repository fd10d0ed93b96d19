"""Ignore files: what is told by letters alone is what every pattern would say."""

import itertools
import random
from pathlib import Path

import pytest
from pathspec import GitIgnoreSpec

from kimi_tui.base.ignore import Patterns, rules_of

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


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("line", "near", "there"),
    [
        ("*a" * 12 + "*b", "a" * 200, "a" * 200 + "b"),
        ("*[ab]?" * 9 + "*c", "a" * 200, "a" * 200 + "c"),
        ("**/a/" * 9 + "z", "a/" * 900 + "y", "a/" * 900 + "z"),
        ("a/**/*a*a*a*a*b/**/*a*a*b", "a/" + "a" * 200 + "/" + "a" * 200, "a/x/aaaab/y/aab"),
    ],
)
def test_no_pattern_and_name_that_somebody_thought_of_keep_it_busy(line: str, near: str, there: str) -> None:
    """As in a repository that was made for it: a regular expression stops the whole program."""
    patterns = Patterns([line])
    assert patterns.check(near) is None
    assert patterns.check(there) is True
