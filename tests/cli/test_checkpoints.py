"""`kimi-tui checkpoints` on a session that a scripted model worked in."""

import fcntl
import subprocess

from tests.e2e.program import Program, script, tool_call


def work_in(program: Program) -> None:
    """A session that keeps the files' states, and has changed some."""
    (program.work_dir / "mine").write_text("mine\n")
    program.script(
        script(tool_call("c", "Bash", command="echo one > made; echo more >> mine")), script("text: done")
    )
    with (program.share_dir / "config.toml").open("a") as config:
        config.write("\n[checkpoints]\nfiles = true\n")
    assert program.run("-y", "-p", "make it").exit_code == 0


def test_they_are_listed_previewed_reverted_to_and_counted(program: Program) -> None:
    work_in(program)
    listed = program.run("checkpoints", "list")
    assert listed.exit_code == 0
    rows = [line.split() for line in listed.stdout.splitlines()]
    first, last = rows[-1][0], rows[0][0]
    assert rows[-1][3:] == ["user", "make", "it"]
    assert rows[0][3:] == ["step", "done"]

    changed = program.run("checkpoints", "diff", first, last).stdout.splitlines()
    assert changed == ["A made  +1 −0", "M mine  +1 −0"]

    patch = program.run("checkpoints", "diff", "--patch").stdout
    elsewhere = program.home / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "mine").write_text("mine\n")
    subprocess.run(["git", "apply"], input=patch, text=True, cwd=elsewhere, check=True)
    for name in ("made", "mine"):
        assert (elsewhere / name).read_text() == (program.work_dir / name).read_text()

    (journal,) = program.context_files
    with (journal.parent.parent / "locks" / journal.parent.name).open("a+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # as a process does that has the session open
        assert "in use" in program.run("checkpoints", "revert", first, "--yes").stderr
        assert program.run("checkpoints", "diff", first, last).stdout.splitlines() == changed
        assert program.run("checkpoints", "diff", "--patch").stdout == patch

    plan = program.run("checkpoints", "revert", first, "--dry-run").stdout.splitlines()
    assert [line.split()[:2] for line in plan[:2]] == [["delete", "made"], ["restore", "mine"]]
    assert plan[2].endswith("$ echo one > made; echo more >> mine")
    assert (program.work_dir / "made").exists()

    assert program.run("checkpoints", "revert", first).exit_code != 0
    done = program.run("checkpoints", "revert", first, "--yes")
    assert "2 files changed" in done.stdout
    assert not (program.work_dir / "made").exists()
    assert (program.work_dir / "mine").read_text() == "mine\n"

    assert "contents" in program.run("checkpoints", "du").stdout
    assert "Freed" in program.run("checkpoints", "prune", "--days", "0").stdout
    assert "not kept any more" in program.run("checkpoints", "revert", last, "--dry-run").stdout


def test_without_a_session_it_says_so(program: Program) -> None:
    done = program.run("checkpoints", "list")
    assert done.exit_code != 0
    assert "There is no session in this folder." in done.stderr


def test_what_cannot_be_done_is_said_with_subcommands(program: Program) -> None:
    work_in(program)
    for arguments, told in {
        ("revert", "99", "-y"): "There is no checkpoint 99. `kimi-tui checkpoints list` lists",
        ("switch", "9", "-y"): "There is no branch 9. `kimi-tui checkpoints branches` lists",
        ("undo", "-y"): "There is nothing to undo. `kimi-tui checkpoints revert` goes back",
    }.items():
        assert told in program.run("checkpoints", *arguments).stderr
    (program.share_dir / "config.toml").write_text('language = "zh"')
    assert "`kimi-tui checkpoints list`" in program.run("checkpoints", "diff", "77").stderr
