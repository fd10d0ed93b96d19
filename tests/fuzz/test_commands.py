"""Allowed and read-only commands run nothing else, compared with what a real bash runs."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_tui.permission.bash.command_line import parse_command
from kimi_tui.permission.read_only_commands import is_read_only
from kimi_tui.permission.writable_roots import WritableRoots
from tests.fuzz.command_lines import RULES, TRICKS, command_line
from tests.fuzz.mangled_text import fuzz_settings
from tests.fuzz.sandboxed_bash import SandboxedBash
from tests.tools.rule_sets import build_rule_set, verdict_on

LINES_PER_SEED = 4
"""Most random command lines need approval and don't have to be run in bash."""
ALLOWED = (
    ("cat",), ("git", "diff"), ("grep",), ("ls",), ("make", "all"), ("make", "test"), ("npm", "run", "build"),
    ("python", "-m", "pytest"), ("sed", "-n"), ("sort",),
)  # fmt: skip
READING = (("cat",), ("find",), ("git", "diff"), ("grep",), ("ls",), ("sed", "-n"), ("sort",))


@pytest.fixture(scope="module")
def bash(tmp_path_factory: pytest.TempPathFactory) -> SandboxedBash:
    return SandboxedBash(tmp_path_factory.mktemp("sandbox"))


def assert_nothing_else_runs(bash: SandboxedBash, text: str) -> None:
    verdicts: list[tuple[str, tuple[tuple[str, ...], ...]]] = []
    if verdict_on(build_rule_set(allow=RULES, work_dir=bash.work_dir), text) == "allow":
        verdicts.append(("is allowed", ALLOWED))
    if is_read_only(parse_command(text), WritableRoots.resolve(bash.work_dir)):
        verdicts.append(("counts as read-only", READING))
    if not verdicts:
        return
    effects = bash.run(text)
    for verdict, prefixes in verdicts:
        others = [call for call in effects.calls if not any(call[: len(it)] == it for it in prefixes)]
        assert not others, f"{text!r} {verdict}, but runs {others}"
        assert not effects.changed, f"{text!r} {verdict}, but changes {effects.changed}"


@fuzz_settings
@given(seed=st.integers(0, 1 << 30))
def test_allowed_commands_run_nothing_else_in_a_real_shell(bash: SandboxedBash, seed: int) -> None:
    for number in range(LINES_PER_SEED):
        assert_nothing_else_runs(bash, command_line(random.Random(f"{seed}:{number}")))


def test_no_known_trick_runs_a_program_that_is_not_allowed(bash: SandboxedBash) -> None:
    for text in TRICKS:
        assert_nothing_else_runs(bash, text)


def test_the_sandboxed_shell_records_programs_and_changes(bash: SandboxedBash) -> None:
    effects = bash.run("ls 'b c' > made; echo x >> fine/a; $(evil); PATH=0; ls")
    assert effects.calls == (("ls", "b c"), ("evil",), ("planted",))
    assert effects.changed == ("made",)
    effects = bash.run("DEBUG=1 make; cc=evil make; DEBUG='$(evil)' npm")
    assert effects.calls == (("make",), ("make",), ("obeys",), ("npm",), ("obeys",))
