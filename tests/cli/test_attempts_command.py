"""`kimi-tui attempts` on a session with stored attempts."""

import json

from kimi_tui.engine.attempts.attempt_store import AttemptStore, StoredAttempt
from kimi_tui.history.snapshots.entry import Entry
from kimi_tui.wire.attempts import Attempt
from tests.e2e.program import Program, script


def make_attempt(program: Program, number: int, path: str, before: str, after: str) -> None:
    """Store an attempt that changed one file of the session."""
    (journal,) = program.context_files
    store = AttemptStore(journal.parent)
    entries = [
        Entry("file", 0o644, len(text), store.contents.put(text.encode())) if text else None
        for text in (before, after)
    ]
    attempt = Attempt(
        number=number,
        checkpoint=0,
        prompt="try it",
        model="big",
        thinking="off",
        state="finished",
        files=1,
        added=1,
        last_message="It works. Type /attempts --adopt 1.",
    )
    store.write(StoredAttempt(attempt=attempt, changes={path: entries[1]}, base={path: entries[0]}))


def make_session(program: Program) -> None:
    (program.work_dir / "mine").write_text("mine\n")
    (program.work_dir / "mine").chmod(0o644)
    program.script(script("text: done"))
    with (program.data_dir / "config.toml").open("a") as config:
        config.write("\n[checkpoints]\nfiles = true\n")
    assert program.run("-y", "-p", "hello").exit_code == 0


def test_attempts_are_listed_shown_adopted_and_discarded(program: Program) -> None:
    make_session(program)
    assert "No attempts." in program.run("attempts", "list").stderr
    make_attempt(program, 1, "made", "", "one\n")
    make_attempt(program, 2, "mine", "mine\n", "theirs\n")
    listed = program.run("attempts", "list").stdout
    assert "finished" in listed
    assert "1 file +1" in listed
    rows = [json.loads(line) for line in program.run("attempts", "list", "--json").stdout.splitlines()]
    assert [row["number"] for row in rows] == [1, 2]

    shown = program.run("attempts", "show", "2").stdout
    assert "It works. Type /attempts --adopt 1." in shown
    assert "theirs" in shown
    assert "kimi-tui attempts adopt 2" in shown

    assert "made" in program.run("attempts", "adopt", "1", "--dry-run").stdout
    assert not (program.work_dir / "made").exists()
    assert program.run("attempts", "adopt", "1").exit_code != 0
    assert program.run("attempts", "adopt", "1", "--yes").exit_code == 0
    assert (program.work_dir / "made").read_text() == "one\n"
    assert "adopted" in program.run("attempts", "list").stdout
    assert program.run("checkpoints", "undo", "--yes").exit_code == 0
    assert "adopted" not in program.run("attempts", "list").stdout
    assert program.run("checkpoints", "redo", "--yes").exit_code == 0
    assert "adopted" in program.run("attempts", "list").stdout

    (program.work_dir / "mine").write_text("changed\n")
    assert "conflict" in program.run("attempts", "adopt", "2", "--yes").stdout
    assert (program.work_dir / "mine").read_text() == "changed\n"
    adopted = program.run("attempts", "adopt", "2", "--choose", "mine=checkpoint", "--yes")
    assert adopted.exit_code == 0
    assert (program.work_dir / "mine").read_text() == "theirs\n"
    assert program.run("checkpoints", "undo", "--yes").exit_code == 0
    assert (program.work_dir / "mine").read_text() == "changed\n"

    assert program.run("attempts", "discard", "1", "2").exit_code == 0
    assert "No attempts." in program.run("attempts", "list").stderr


def test_a_missing_attempt_is_named_with_the_command_that_lists_them(program: Program) -> None:
    make_session(program)
    for arguments in (("show", "7"), ("adopt", "7", "--yes"), ("discard", "7")):
        result = program.run("attempts", *arguments)
        assert result.exit_code != 0
        assert "Attempt 7 doesn't exist." in result.stderr
        assert "`kimi-tui attempts list`" in result.stderr
