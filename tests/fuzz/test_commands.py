"""No command may be allowed that runs something else: what is read is held against what a real bash does."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_tui.tools.approval import CommandSubject
from kimi_tui.tools.permission.places import Places
from kimi_tui.tools.permission.reading import only_reads
from tests.fuzz.commands import RULES, TRICKS, command_line
from tests.fuzz.hostile import often
from tests.fuzz.watched_bash import WatchedBash
from tests.tools.rules import rules_of

LINES_A_SEED = 4
"""Most lines that come by chance are asked for, which takes no bash to see."""
ALLOWED = (
    ("cat",), ("git", "diff"), ("grep",), ("ls",), ("make", "all"), ("make", "test"), ("npm", "run", "build"),
    ("python", "-m", "pytest"), ("sed", "-n"), ("sort",),
)  # fmt: skip
READING = (("cat",), ("find",), ("git", "diff"), ("grep",), ("ls",), ("sed", "-n"), ("sort",))


@pytest.fixture(scope="module")
def bash(tmp_path_factory: pytest.TempPathFactory) -> WatchedBash:
    return WatchedBash(tmp_path_factory.mktemp("watched"))


def assert_nothing_else_runs(bash: WatchedBash, text: str) -> None:
    granted: list[tuple[str, tuple[tuple[str, ...], ...]]] = []
    if rules_of(allow=RULES, work_dir=bash.work_dir).verdict(CommandSubject(text)) == "allow":
        granted.append(("is allowed", ALLOWED))
    if only_reads(text, Places.of(bash.work_dir)):
        granted.append(("counts as reading", READING))
    if not granted:
        return
    seen = bash.run(text)
    for why, wanted in granted:
        others = [call for call in seen.calls if not any(call[: len(words)] == words for words in wanted)]
        assert not others, f"{text!r} {why}, and runs {others}"
        assert not seen.changed, f"{text!r} {why}, and changes {seen.changed}"


@often
@given(seed=st.integers(0, 1 << 30))
def test_what_is_allowed_runs_nothing_else_in_a_real_shell(bash: WatchedBash, seed: int) -> None:
    for number in range(LINES_A_SEED):
        assert_nothing_else_runs(bash, command_line(random.Random(f"{seed}:{number}")))


def test_no_known_trick_runs_what_was_not_allowed(bash: WatchedBash) -> None:
    for text in TRICKS:
        assert_nothing_else_runs(bash, text)


def test_the_watched_shell_sees_what_runs_and_what_changes(bash: WatchedBash) -> None:
    seen = bash.run("ls 'b c' > made; echo x >> fine/a; $(evil); PATH=0; ls")
    assert seen.calls == (("ls", "b c"), ("evil",), ("planted",))
    assert seen.changed == ("made",)
    seen = bash.run("DEBUG=1 make; cc=evil make; DEBUG='$(evil)' npm")
    assert seen.calls == (("make",), ("make",), ("obeys",), ("npm",), ("obeys",))
