"""A data directory that Kimi CLI 1.49 wrote: used in place, where both programs share it, and imported.

`data/kimi-cli-1.49` was written by that release with its scripted model. Its system prompts were shortened.
Its sessions: a file and a sub-agent; a D-Mail, which leaves a branch; a flow skill, without a state file.
"""

import json
import os
import shutil
from pathlib import Path

import pytest

from kimi_tui.base.paths import work_dir_key
from tests.e2e.program import Program

DATA = Path(__file__).parent / "data" / "kimi-cli-1.49"
WRITTEN, DMAIL, FLOW = "1b888ffb", "01d73528", "d81f0ebb"


def copy_data(target: Path, work_dir: Path) -> None:
    """Copy the data directory to `target`, as if its sessions were of `work_dir`."""
    shutil.copytree(DATA, target, dirs_exist_ok=True)
    sessions = target / "sessions"
    (sessions / work_dir_key(work_dir)).mkdir()
    for folder in [path for path in sessions.iterdir() if "-" in path.name]:
        folder.rename(sessions / work_dir_key(work_dir) / folder.name)
    (target / "kimi.json").write_text(json.dumps({"work_dirs": [{"path": str(work_dir)}]}))


@pytest.fixture
def shared(program: Program) -> Program:
    """Return a program that shares its data directory with Kimi CLI."""
    program.data_dir.mkdir(mode=0o700)
    copy_data(program.data_dir, program.work_dir)
    return program


@pytest.fixture(params=["in place", "imported"])
def either(request: pytest.FixtureRequest, program: Program) -> Program:
    """Return a program with Kimi CLI's sessions: shared, or imported from another directory."""
    if request.param == "in place":
        program.data_dir.mkdir(mode=0o700)
        copy_data(program.data_dir, program.work_dir)
        return program
    copy_data(program.home / ".kimi", program.work_dir)
    done = program.run("import")
    assert done.exit_code == 0, done.stdout + done.stderr
    return program


def run(program: Program, session: str, prompt: str) -> str:
    done = program.run("--demo", "--yolo", "--session", session, "-p", prompt)
    assert done.exit_code == 0, done.stderr
    return done.stdout


def theirs(program: Program) -> dict[Path, bytes]:
    files = (program.data_dir / "sessions").rglob("*")
    return {path: path.read_bytes() for path in files if path.is_file()}


def context_of(program: Program, session: str) -> Path:
    (path,) = program.data_dir.glob(f"sessions/*/{session}*/context.jsonl")
    return path


def test_all_sessions_are_listed_with_titles(either: Program) -> None:
    listed = either.run("sessions", "list").stdout
    assert [line.split("  ")[-1] for line in sorted(listed.splitlines())] == [
        "find the best idea",
        "write a file",
        "Build it",
    ]


def test_the_timeline_has_prompts_steps_and_times(either: Program) -> None:
    checkpoints = run(either, WRITTEN, "/checkpoints")
    for label in ("write a file", "WriteFile a.txt", "look around", "Agent Look around"):
        assert label in checkpoints
    assert "1970" not in checkpoints


def test_a_session_is_resumed_reverted_and_the_revert_is_undone(either: Program) -> None:
    assert run(either, WRITTEN, "hello").strip()
    run(either, WRITTEN, "/revert 3 conversation")
    assert "Agent Look around" not in run(either, WRITTEN, "/checkpoints")
    run(either, WRITTEN, "/undo")
    assert "Agent Look around" in run(either, WRITTEN, "/checkpoints")


def test_the_branch_that_a_dmail_left_can_be_switched_to(either: Program) -> None:
    assert "find the best idea" in run(either, DMAIL, "/branches")
    assert "  dmail  " in run(either, DMAIL, "/checkpoints")
    either.run("--demo", "--session", DMAIL, "-p", "/switch 1")
    assert "SetTodoList" in run(either, DMAIL, "/checkpoints")


def test_a_session_without_a_state_file_is_resumed(either: Program) -> None:
    assert "Test it" in run(either, FLOW, "/checkpoints")


def test_kimi_clis_files_are_never_written(shared: Program) -> None:
    before = theirs(shared)
    for session in (WRITTEN, DMAIL, FLOW):
        run(shared, session, "hello")
        run(shared, session, "/revert 1 conversation")
    shared.run("--demo", "-p", "a session of our own")
    shared.run("sessions", "list")
    assert theirs(shared) == before
    assert len(shared.context_files) == 4


def test_a_session_that_only_kimi_cli_continued_is_copied_again(shared: Program) -> None:
    run(shared, WRITTEN, "/checkpoints")
    with context_of(shared, WRITTEN).open("a") as file:
        file.write('{"role": "_checkpoint", "id": 6}\n{"role": "user", "content": "later in Kimi CLI"}\n')
    os.utime(context_of(shared, WRITTEN), (2_000_000_000, 2_000_000_000))
    assert "later in Kimi CLI" in run(shared, WRITTEN, "/checkpoints")


def test_a_session_that_both_continued_keeps_what_kimi_tui_wrote(shared: Program) -> None:
    run(shared, WRITTEN, "hello from kimi-tui")
    with context_of(shared, WRITTEN).open("a") as file:
        file.write('{"role": "_checkpoint", "id": 6}\n{"role": "user", "content": "later in Kimi CLI"}\n')
    assert "hello from kimi-tui" in run(shared, WRITTEN, "/checkpoints")


def test_a_fork_and_a_read_only_view_leave_the_original_alone(shared: Program) -> None:
    before = theirs(shared)
    done = shared.run("--demo", "--session", WRITTEN, "--fork", "-p", "hello")
    assert done.exit_code == 0, done.stderr
    assert "About" not in done.stderr
    assert theirs(shared) == before
    assert "write a file" in shared.run("sessions", "show", WRITTEN).stdout


def test_kimi_clis_session_cannot_be_deleted_here(shared: Program) -> None:
    done = shared.run("sessions", "rm", "--yes", WRITTEN)
    assert done.exit_code == 1
    assert "belongs to Kimi CLI" in done.stderr
    assert context_of(shared, WRITTEN).exists()


def test_sessions_of_earlier_versions_leave_kimi_clis_directory(shared: Program) -> None:
    shared.run("--demo", "-p", "our own")
    (ours,) = shared.context_files
    old = shared.data_dir / "sessions" / ours.parent.parent.name
    before = theirs(shared)
    ours.parent.rename(old / ours.parent.name)
    (ours.parent.parent / "index.jsonl").rename(old / "index.jsonl")
    assert "our own" in shared.run("sessions", "list").stdout
    assert theirs(shared) == before
    assert "our own" in run(shared, ours.parent.name, "/checkpoints")


def test_a_session_without_a_state_file_is_found_by_its_folder_or_by_kimi_json(shared: Program) -> None:
    elsewhere = Program(shared.home / "elsewhere", env={"KIMI_SHARE_DIR": str(shared.data_dir)})
    assert f"Build it  {shared.work_dir}\n" in elsewhere.run("sessions", "list", "--all").stdout
    (shared.data_dir / "kimi.json").unlink()
    shutil.rmtree(shared.data_dir / "tui-sessions", ignore_errors=True)
    assert "Build it" in shared.run("sessions", "list").stdout


def test_a_title_that_kimi_cli_saves_later_is_shown(shared: Program) -> None:
    state = context_of(shared, WRITTEN).with_name("state.json")
    content = json.loads(state.read_text())
    state.unlink()
    assert "write a file" in shared.run("sessions", "list").stdout
    state.write_text(json.dumps({**content, "custom_title": "My own title"}))
    os.utime(state, (2_000_000_000, 2_000_000_000))
    assert "My own title" in shared.run("sessions", "list").stdout
    assert "My own title" in shared.run("sessions", "show", WRITTEN).stdout
