"""Rules are parsed from and formatted as one line of text."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kimi_tui.base.errors import ConfigError
from kimi_tui.permission.path_pattern import matches_path
from kimi_tui.permission.rule import (
    CommandPrefix,
    ExactCommand,
    McpRule,
    PathRule,
    Rule,
    ToolRule,
    parse_rule,
)

WORDS = st.text(min_size=1, max_size=12).filter(lambda word: "\0" not in word)
RESERVED = {
    "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "select", "then",
    "time", "until", "while",
}  # fmt: skip
FIRST_WORDS = st.from_regex(r"[a-z./][a-z0-9./-]*", fullmatch=True).filter(lambda word: word not in RESERVED)
NAMES = st.from_regex(r"[A-Z_][A-Z0-9_]*", fullmatch=True)
PATTERNS = st.from_regex(r"[~a-z./*]+", fullmatch=True).filter(lambda pattern: ".." not in pattern)
RULES: st.SearchStrategy[Rule] = st.one_of(
    st.builds(
        lambda first, rest, values: CommandPrefix((first, *rest), tuple(values)),
        FIRST_WORDS,
        st.lists(WORDS, max_size=3),
        st.lists(st.tuples(NAMES, st.text(max_size=8).filter(lambda value: "\0" not in value)), max_size=2),
    ),
    st.just(CommandPrefix(())),
    st.builds(ExactCommand, st.text(min_size=1).filter(lambda text: bool(text.strip()))),
    st.builds(PathRule, st.sampled_from(["Edit", "Read"]), PATTERNS),
    st.builds(
        McpRule, st.from_regex(r"[a-z:-]+[a-z]", fullmatch=True), st.sampled_from(["*", "find", "a-b"])
    ),
)


@given(RULES)
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_rule_is_unchanged_after_formatting_and_parsing(rule: Rule) -> None:
    assert parse_rule(str(rule)) == rule


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("Bash(pytest *)", CommandPrefix(("pytest",))),
        ("Bash(git diff *)", CommandPrefix(("git", "diff"))),
        ("Bash(A='x y' make test *)", CommandPrefix(("make", "test"), (("A", "x y"),))),
        ("Bash(make test)", ExactCommand("make test")),
        ("Bash(=ls *)", ExactCommand("ls *")),
        ("Bash(a; b $(c))", ExactCommand("a; b $(c)")),
        ("Bash(*)", CommandPrefix(())),
        ("Edit(src/**)", PathRule("Edit", "src/**")),
        ("Read(.env)", PathRule("Read", ".env")),
        ("MCP(files:search)", McpRule("files", "search")),
        ("MCP(files:*)", McpRule("files", "*")),
        ("Tool(send_mail)", ToolRule("send_mail")),
    ],
)
def test_each_form_of_rule_is_parsed(text: str, rule: Rule) -> None:
    assert parse_rule(text) == rule
    assert parse_rule(str(rule)) == rule


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("", "Write it like"),
        ("pytest", "Write it like"),
        ("Bash", "Write it like"),
        ("Bash()", "Write it like"),
        ("Shell(ls)", "Write it like"),
        ("Bash(pytest:*)", "Bash(pytest *)"),
        ("Bash(pytest*)", "Bash(pytest *)"),
        ("Bash(a && b *)", "one rule for each"),
        ("Bash(a > f *)", "one rule for each"),
        ("Bash(a $x *)", "one rule for each"),
        ("Bash(f() { a; } *)", "plain words"),
        ("Edit(!a)", "deny"),
        ("Edit(../a)", "absolute path"),
        ("MCP(server)", "MCP(server:tool)"),
        ("Tool(*)", "Tool(send_mail)"),
        ("MCP(*:tool)", "MCP(server:tool)"),
    ],
)
def test_an_invalid_rule_raises_an_error_with_a_hint(text: str, hint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_rule(text)
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("src/**", "/w/src/a.py", True),
        ("src/**", "/w/src/deep/a.py", True),
        ("src/**", "/w/lib/src/a.py", False),
        ("src/", "/w/src/a.py", True),
        ("*.py", "/w/deep/a.py", True),
        ("./a.py", "/w/a.py", True),
        ("./a.py", "/w/deep/a.py", False),
        ("a.py", "/w/deep/a.py", True),
        ("**", "/w/a", True),
        ("**", "/other/a", False),
        ("src/**", "/other/src/a.py", False),
        ("/other/**", "/other/a", True),
        ("/other/*", "/other/deep/a", True),
        ("/other", "/otherwise/a", False),
        (r"a\[1\]/**", "/w/a[1]/b", True),
        ("a[1]/**", "/w/a[1]/b", False),
    ],
)
def test_path_patterns_match_as_in_gitignore_below_the_working_directory(
    pattern: str, path: str, expected: bool
) -> None:
    assert matches_path(pattern, Path(path), Path("/w")) is expected
