"""Command lines are parsed exactly as bash does, or reported as unparsable."""

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from kimi_tui.permission.bash.command_line import parse_command
from kimi_tui.permission.bash.simple_command import SimpleCommand
from tests.tools.recording_bash import RecordingBash

TOKENS = st.sampled_from(
    [
        *"ab ;\n|&()`'\"\\<>{}[]$#!*?~=,\t-1", "&&", "||", "$(", "${x:-", "$x", ">(", "<(", "<<E", "\nE\n",
        "<<'E'", "2>&1", "&>", ">&", "|&", "if ", "; then ", "; fi", "for i in ", "; do ", "; done", "time ",
        "$((", "))", "$'", "\\\n", "..", "\r", "é", "case ", " in ", "esac", ";;", "[[ ", "]]", "function ",
        "()",
    ]
)  # fmt: skip
SCRIPTS = st.one_of(st.text(max_size=60), st.lists(TOKENS, max_size=25).map("".join))


def parsed_commands(text: str) -> list[str]:
    """Return the commands of `text`, one string each; an unknown word as it was written."""
    line = parse_command(text)
    assert not line.unparsable_reason, line.unparsable_reason
    return [_format_command(command) for command in line.commands]


def _format_command(command: SimpleCommand) -> str:
    assignments = [f"{each.name}={each.value.text}" for each in command.assignments]
    redirections = [f"{each.operator}{each.target.text}" for each in command.redirections]
    return " ".join((*assignments, *(word.text for word in command.words), *redirections))


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
    assert parsed_commands(text) == expected


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
def test_a_wrapper_is_replaced_by_the_command_it_runs(text: str, expected: list[str]) -> None:
    assert parsed_commands(text) == expected


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
def test_a_command_line_of_uncertain_meaning_is_unparsable(text: str) -> None:
    line = parse_command(text)
    assert line.unparsable_reason
    assert not line.commands


def test_words_are_classified_as_literal_pattern_or_unknown() -> None:
    (command,) = parse_command('a \'b\' "c" d\\ e *.f ~/g {h,i} $j "k$l" m$n "$@"').commands
    assert [word.kind for word in command.words] == [
        "literal", "literal", "literal", "literal", "pattern", "pattern", "pattern", "unknown", "unknown",
        "unknown", "unknown",
    ]  # fmt: skip
    assert [word.prefix for word in command.words[4:]] == ["", "~", "", "", "k", "", ""]


def test_a_command_after_a_pipe_reads_the_pipe() -> None:
    commands = parse_command("a | { b; (c); } && d").commands
    assert [(command.head, command.reads_pipe) for command in commands] == [
        ("a", False), ("b", True), ("c", True), ("d", False),
    ]  # fmt: skip


@given(SCRIPTS)
@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@example("{ " * 2000)
@example("if " * 2000)
@example("`" * 999)
@example("bash -c " * 100)
def test_parsing_never_raises(text: str) -> None:
    line = parse_command(text)
    assert not (line.unparsable_reason and line.commands)


@pytest.fixture(scope="module")
def bash(tmp_path_factory: pytest.TempPathFactory) -> RecordingBash:
    return RecordingBash(tmp_path_factory.mktemp("bash"))


QUIET_TOKENS = TOKENS.filter(lambda token: not set(token) & set("&*<>") and "while" not in token)


@given(st.lists(QUIET_TOKENS, max_size=14).map("".join))
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@example("a `b c` \"$(a 'b')\" ; b")
@example("a | b # a")
@example("if a; then b; fi\n{ a; }")
def test_bash_runs_only_the_parsed_commands(bash: RecordingBash, text: str) -> None:
    line = parse_command(text)
    heads = {command.head for command in (*line.commands, *line.suspects)}
    if line.unparsable_reason or any(command.words and command.head is None for command in line.commands):
        return
    assert bash.executed_programs(text) <= heads
