"""Gitignore rules give the same results as pathspec, without slow regular expressions."""

import itertools
import random
from pathlib import Path

import pytest
from pathspec import GitIgnoreSpec

from kimi_tui.base.gitignore import IgnoreFile, parse_rules

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
def test_paths_are_ignored_exactly_as_by_pathspec(seed: int) -> None:
    rng = random.Random(seed)
    lines = rng.sample(PATTERNS, 4)
    spec = GitIgnoreSpec.from_lines(lines)
    rules = parse_rules(lines, Path("/work"))
    for names in itertools.product(NAMES, rng.sample(NAMES, 4)):
        path = "/".join(names)
        for ending in ("", "/"):
            expected = bool(spec.check_file(path + ending).include)
            assert rules.ignores(f"/work/{path}", is_folder=bool(ending)) == expected, (lines, path)


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("line", "mismatch", "match"),
    [
        ("*a" * 12 + "*b", "a" * 200, "a" * 200 + "b"),
        ("*[ab]?" * 9 + "*c", "a" * 200, "a" * 200 + "c"),
        ("**/a/" * 9 + "z", "a/" * 900 + "y", "a/" * 900 + "z"),
        ("a/**/*a*a*a*a*b/**/*a*a*b", "a/" + "a" * 200 + "/" + "a" * 200, "a/x/aaaab/y/aab"),
    ],
)
def test_no_pattern_and_path_cause_slow_matching(line: str, mismatch: str, match: str) -> None:
    """A malicious repository must not block the program: matching holds the interpreter lock."""
    patterns = IgnoreFile([line])
    assert patterns.check(mismatch) is None
    assert patterns.check(match) is True
