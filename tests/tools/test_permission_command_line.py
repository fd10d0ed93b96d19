"""Command lines are read as bash reads them, or not at all."""

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from kimi_tui.tools.permission.command_line import parse_command
from kimi_tui.tools.permission.part import Part
from tests.tools.telltale_bash import TellTaleBash

TOKENS = st.sampled_from(
    [
        *"ab ;\n|&()`'\"\\<>{}[]$#!*?~=,\t-1", "&&", "||", "$(", "${x:-", "$x", ">(", "<(", "<<E", "\nE\n",
        "<<'E'", "2>&1", "&>", ">&", "|&", "if ", "; then ", "; fi", "for i in ", "; do ", "; done", "time ",
        "$((", "))", "$'", "\\\n", "..", "\r", "é", "case ", " in ", "esac", ";;", "[[ ", "]]", "function ",
        "()",
    ]
)  # fmt: skip
SCRIPTS = st.one_of(st.text(max_size=60), st.lists(TOKENS, max_size=25).map("".join))


def commands(text: str) -> list[str]:
    """The commands of `text`, each as one line; an unknown word as it was written."""
    line = parse_command(text)
    assert not line.unreadable, line.unreadable
    return [_shown(part) for part in line.parts]


def _shown(part: Part) -> str:
    assignments = [f"{each.name}={each.value.text}" for each in part.assignments]
    redirections = [f"{each.operator}{each.target.text}" for each in part.redirections]
    return " ".join((*assignments, *(word.text for word in part.words), *redirections))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("git diff", ["git diff"]),
        ("a && b || c; d & e", ["a", "b", "c", "d", "e"]),
        ("a | b |& c", ["a", "b", "c"]),
        ("a\nb\n\n# nothing\nc # d", ["a", "b", "c"]),
        ("(a; b) && { c; d; }", ["a", "b", "c", "d"]),
        ("a $(b $(c)) `d`", ["c", "b $(c)", "d", "a $(b $(c)) `d`"]),
        ('a "x $(b "$(c)") y"', ["c", 'b "$(c)"', 'a "x $(b "$(c)") y"']),
        ("a <(b) >(c)", ["b", "c", "a <(b) >(c)"]),
        ("a > f 2>&1 < g", ["a >f >&1 <g"]),
        ("a >&-b", ["a b >&-"]),
        ("> f a", ["a >f"]),
        ("{ a; } > f", ["a", ">f"]),
        ("X=1 Y='2 3' a", ["X=1 Y=2 3 a"]),
        ("if a; then b; elif c; then d; else e; fi", ["a", "b", "c", "d", "e"]),
        ("while a; do b; done < f", ["a", "b", "<f"]),
        ("for x in $(a) b; do c $x; done", ["x=", "a", "c $x"]),
        ("! a | time b", ["a", "b"]),
        ("a 'b;c' \"d|e\" f\\;g", ["a b;c d|e f;g"]),
        ("a \\\n  b", ["a b"]),
        ("cat <<E | a\nx $(b)\nE\nc", ["cat <<E", "a", "b", "c"]),
        ("cat <<'E'\nx $(b)\nE\nc", ["cat <<E", "c"]),
        ("cat <<-E\n\tx\n\tE\nc", ["cat <<-E", "c"]),
        ("a $((1 + 2)) ${b} ${c:-d}", ["a $((1 + 2)) ${b} ${c:-d}"]),
        ("[ -f a ]", ["[ -f a ]"]),
    ],
)
def test_a_command_line_is_split_into_its_commands(text: str, expected: list[str]) -> None:
    assert commands(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("timeout -k 5 60 pytest -x", ["pytest -x"]),
        ("env A=1 nice -n 5 make test", ["A=1 make test"]),
        ("nohup /usr/bin/env pytest", ["pytest"]),
        ("stdbuf -oL a", ["a"]),
        ("bash -c 'a && b'", ["a", "b"]),
        ("bash -lc 'a' > f", ["a", ">f"]),
        ("ls | xargs -n 1 grep x", ["ls", "grep x …"]),
        ("xargs -I {} cp {} b", ["cp {} b"]),
        ("find . -exec grep x {} +", ["find . -exec grep x {} +", "grep x {}"]),
        ("env -S 'a b'", ["env -S a b"]),
        ("timeout --odd 5 a", ["timeout --odd 5 a"]),
        ("./env a", ["./env a"]),
    ],
)
def test_what_a_wrapper_runs_stands_in_its_place(text: str, expected: list[str]) -> None:
    assert commands(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "f() { a; }", "function f { a; }", "a=(b c)", "a[0]=b", "case a in b) c;; esac", "[[ -v x ]]",
        "((x))", "a $((x))", "a ${!x}", "a ${x@P}", "a ${x:1}", "a $'\\x62'", "a 'b", 'a "b', "a $(b", "a `b",
        "a &&", "a ;;", "| a", "a )", "(a", "{ a", "a; }", "if a; then b", "a <<E", "a <<E\nb", "a >", "a\\",
        "a $\\\n(b)", "a & | b", "a ; ; b", "a <<$x\nb\n$x", "a `b \\`c\\``", "$(a # )\n)", "coproc a",
        "a {fd}> b", "a\0b", "a $[1]", "a >& '$(b)'",
        "a <& $b", "$(cat <<'E'\n'(' ) ; b\nE\n)", "a" * 300_000,
        "$(" * 500 + ")" * 500,
    ],
    ids=lambda text: text[:30],
)  # fmt: skip
def test_what_is_not_certain_is_unreadable(text: str) -> None:
    line = parse_command(text)
    assert line.unreadable
    assert not line.parts


def test_words_know_whether_they_mean_themselves() -> None:
    (part,) = parse_command('a \'b\' "c" d\\ e *.f ~/g {h,i} $j "k$l" m$n "$@"').parts
    assert [word.kind for word in part.words] == [
        "literal", "literal", "literal", "literal", "pattern", "pattern", "pattern", "unknown", "unknown",
        "unknown", "unknown",
    ]  # fmt: skip
    assert [word.lead for word in part.words[4:]] == ["", "~", "", "", "k", "", ""]


def test_a_command_behind_a_pipe_says_so() -> None:
    parts = parse_command("a | { b; (c); } && d").parts
    assert [(part.head, part.reads_pipe) for part in parts] == [
        ("a", False), ("b", True), ("c", True), ("d", False),
    ]  # fmt: skip


@given(SCRIPTS)
@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@example("{ " * 2000)
@example("if " * 2000)
@example("`" * 999)
@example("bash -c " * 100)
def test_reading_never_raises(text: str) -> None:
    line = parse_command(text)
    assert not (line.unreadable and line.parts)


@pytest.fixture(scope="module")
def bash(tmp_path_factory: pytest.TempPathFactory) -> TellTaleBash:
    return TellTaleBash(tmp_path_factory.mktemp("bash"))


QUIET_TOKENS = TOKENS.filter(lambda token: not set(token) & set("&*<>") and "while" not in token)


@given(st.lists(QUIET_TOKENS, max_size=14).map("".join))
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@example("a `b c` \"$(a 'b')\" ; b")
@example("a | b # a")
@example("if a; then b; fi\n{ a; }")
def test_bash_runs_nothing_that_was_not_read(bash: TellTaleBash, text: str) -> None:
    line = parse_command(text)
    heads = {part.head for part in (*line.parts, *line.suspects)}
    if line.unreadable or any(part.words and part.head is None for part in line.parts):
        return
    assert bash.programs(text) <= heads
