"""`kimi-tui checkpoints` on a session with a scripted model."""

import fcntl
import json
import os
import signal
import subprocess

import pytest

from tests.e2e.program import Program, script, tool_call
from tests.e2e.scenarios import wait_for


def make_session(program: Program) -> None:
    """Create a session with file snapshots and changed files."""
    (program.work_dir / "mine").write_text("mine\n")
    program.script(
        script(tool_call("c", "Bash", command="echo one > made; echo more >> mine")), script("text: done")
    )
    with (program.data_dir / "config.toml").open("a") as config:
        config.write("\n[checkpoints]\nfiles = true\n")
    assert program.run("-y", "-p", "make it").exit_code == 0


def test_checkpoints_are_listed_compared_previewed_and_reverted_to(program: Program) -> None:
    make_session(program)
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
        fcntl.flock(lock, fcntl.LOCK_EX)  # as a process with the session open does
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
    assert "was deleted to free space" in program.run("checkpoints", "revert", last, "--dry-run").stdout


def test_what_a_command_deleted_before_a_kill_is_restored_after_a_restart(program: Program) -> None:
    (program.work_dir / "src").mkdir()
    (program.work_dir / "src" / "a").write_text("a\n")
    program.script(
        script(tool_call("c", "Bash", command="rm -rf src; touch gone ../gone; exec sleep 600", timeout=300)),
        script("text: done"),
    )
    with (program.data_dir / "config.toml").open("a") as config:
        config.write("\n[checkpoints]\nfiles = true\n")
    devnull = subprocess.DEVNULL
    process = program.start("-y", "-p", "clean up", stdout=devnull, stderr=devnull)
    wait_for((program.home / "gone").exists, message="the command has not run")
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    program.script(script("text: fine"))
    assert program.run("-y", "--continue", "-p", "go on").exit_code == 0
    first = program.run("checkpoints", "list").stdout.splitlines()[-1].split()[0]
    plan = program.run("checkpoints", "revert", first, "--dry-run").stdout
    assert [line.split()[:2] for line in plan.splitlines()[:3]] == [
        ["delete", "gone"], ["recreate", "src/"], ["recreate", "src/a"],
    ]  # fmt: skip
    program.run("checkpoints", "revert", first, "--yes")
    assert (program.work_dir / "src" / "a").read_text() == "a\n"


def test_without_a_session_the_error_says_so(program: Program) -> None:
    done = program.run("checkpoints", "list")
    assert done.exit_code != 0
    assert "No session in this directory." in done.stderr


def test_hints_name_subcommands_instead_of_slash_commands(program: Program) -> None:
    make_session(program)
    for arguments, message in {
        ("revert", "99", "-y"): "Checkpoint 99 doesn't exist. Use `kimi-tui checkpoints list`",
        ("switch", "9", "-y"): "Branch 9 doesn't exist. Use `kimi-tui checkpoints branches`",
        ("undo", "-y"): "Nothing to undo. Use `kimi-tui checkpoints revert`",
    }.items():
        assert message in program.run("checkpoints", *arguments).stderr
    (program.data_dir / "config.toml").write_text('language = "zh"')
    assert "`kimi-tui checkpoints list`" in program.run("checkpoints", "diff", "77").stderr


@pytest.mark.parametrize("backend", ["overlayfs", "none"])
def test_the_preview_of_an_incomplete_plan_begins_with_what_is_unknown(
    backend: str, program: Program
) -> None:
    if backend == "overlayfs" and "overlayfs" not in program.run("info").stdout:
        pytest.skip("no workspaces here")
    (program.work_dir / "mine").write_text("mine\n")
    program.script(script(tool_call("c", "Bash", command="rm mine; touch $(seq 40)")), script("text: done"))
    with (program.data_dir / "config.toml").open("a") as config:
        config.write("\n[checkpoints]\nfiles = true\nmax_files = 20\n")
        config.write(f'[workspaces]\nbackend = "{backend}"\n')
    assert program.run("-y", "-p", "make it").exit_code == 0
    listed = program.run("checkpoints", "list").stdout.splitlines()
    first, *others = program.run(
        "checkpoints", "revert", listed[-1].split()[0], "--dry-run"
    ).stdout.splitlines()
    assert first == (
        "This preview is incomplete, because the working directory contains more than 20 files. "
        "Changes to files that weren't stored before are unknown."
    )
    actions = {line.split()[1]: line.split()[0] for line in others if line.startswith(("delete", "recreate"))}
    # What a command created is known exactly if it ran in a workspace, and to no scan otherwise.
    created = map(str, range(1, 41)) if backend == "overlayfs" else ()
    assert actions == {"mine": "recreate", **dict.fromkeys(created, "delete")}


def test_hunks_and_choices_of_a_revert_are_listed_and_chosen(program: Program) -> None:
    (program.work_dir / "f").write_text("1\n2\n3\n4\n5\n")
    command = "sed -i 's/1/one/; s/5/five/' f; echo agent > a.py"
    program.script(script(tool_call("c", "Bash", command=command)), script("text: done"))
    with (program.data_dir / "config.toml").open("a") as config:
        config.write("\n[checkpoints]\nfiles = true\n")
    assert program.run("-y", "-p", "make it").exit_code == 0
    program.script(script("text: fine"))
    with (program.work_dir / "a.py").open("a") as file:
        file.write("mine\n")
    assert program.run("-y", "--continue", "-p", "go on").exit_code == 0
    first = program.run("checkpoints", "list").stdout.splitlines()[-1].split()[0]

    printed = program.run("checkpoints", "revert", first, "--dry-run").stdout
    plan = [line.strip() for line in printed.splitlines()]
    assert "choices: mine, merge (default), checkpoint" in plan
    assert plan[-4:-2] == ["hunk 1: line 1  +1 −1", "hunk 2: line 5  +1 −1"]

    revert = ("checkpoints", "revert", first, "--yes")
    for option, value, message in (
        ("--choose", "a.py=x", "Unknown choice “x”. Use one of mine, checkpoint, both, merge."),
        ("--hunks", "f=x", "“x” isn't a list of hunk numbers."),
        ("--choose", "b.py=mine", "The preview doesn't contain b.py."),
    ):
        assert message in program.run(*revert, option, value).stderr
    done = program.run(*revert, "--choose", "a.py=mine", "--hunks", "f=2")
    assert "1 file changed" in done.stdout, done
    assert (program.work_dir / "f").read_text() == "one\n2\n3\n4\n5\n"
    assert (program.work_dir / "a.py").read_text() == "agent\nmine\n"
    program.run("checkpoints", "undo", "--yes")
    assert (program.work_dir / "f").read_text() == "one\n2\n3\n4\nfive\n"


def test_a_replaced_version_is_named_read_and_restored(program: Program) -> None:
    make_session(program)
    program.script(script("text: fine"))
    (program.work_dir / "mine").write_text("mine\nmore, but by me\n")
    assert program.run("-y", "--continue", "-p", "go on").exit_code == 0
    first = program.run("checkpoints", "list").stdout.splitlines()[-1].split()[0]
    options = ("--scope", "files", "--choose", "mine=checkpoint")

    plan = program.run("checkpoints", "revert", first, "--dry-run", "--json", *options)
    planned = json.loads(plan.stdout)
    saved_in = str(planned["saved_in"])
    assert [file["path"] for file in planned["files"] if file["is_saved"]] == ["mine"]
    printed = program.run("checkpoints", "revert", first, "--yes", *options).stdout
    show = ("checkpoints", "show", saved_in, "mine")
    restore = ("checkpoints", "revert", saved_in, "--scope", "files", "--only")
    assert f"is saved in checkpoint {saved_in}. To read it: kimi-tui {' '.join(show[:3])} FILE" in printed
    assert f"Your version of mine is saved in checkpoint {saved_in}." in printed
    assert f"to restore it: kimi-tui {' '.join(restore)} mine" in printed
    assert (program.work_dir / "mine").read_text() == "mine\n"

    assert program.run(*show).stdout == "mine\nmore, but by me\n"
    failed = program.run(*show[:3], "none")
    assert (failed.exit_code != 0, failed.stdout) == (True, "")
    assert f"Checkpoint {saved_in} has no file none." in failed.stderr
    results = program.run(*restore, "mine", "--yes", "--json").stdout.splitlines()
    assert json.loads(results[1])["files"] == ["mine"]
    assert (program.work_dir / "mine").read_text() == "mine\nmore, but by me\n"


def test_bisect_prints_the_step_its_diff_and_the_commands_for_it(program: Program) -> None:
    make_session(program)
    found = program.run("checkpoints", "bisect", "--", "test", "!", "-e", "made")
    assert found.exit_code == 0, found.stderr
    assert "made “test '!' -e made” fail." in found.stdout
    lines = found.stdout.splitlines()
    assert "Prompt: make it" in lines
    assert "  +one" in lines
    assert any(
        line.startswith("kimi-tui checkpoints revert ") and " --scope turn  " in line for line in lines
    )
    assert "current files ✗ fails" in found.stderr

    failed = program.run("checkpoints", "bisect", "false")
    assert (failed.exit_code, "even at the first checkpoint" in failed.stdout) == (1, True)


def test_why_shows_the_prompt_behind_a_line(program: Program) -> None:
    make_session(program)
    lines = program.run("why", "mine:2").stdout.splitlines()
    assert lines[:3] == ["mine, line 2: the agent", "  more", "Prompt: make it"]
    assert "Command: echo one > made; echo more >> mine" in lines
    assert lines[-1].startswith("kimi-tui checkpoints diff ")
    reason = json.loads(program.run("why", "--json", "mine:1").stdout)
    assert (reason["by"], reason["note"]) == ("you", "It was there before the first file snapshot.")
    assert program.run("why", "mine").exit_code != 0
