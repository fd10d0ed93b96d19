"""Going back in time through the engine, with real tools and a scripted model."""

import hashlib
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from kimi_tui.wire.commands import PlanRevert, Redo, Revert, RunSlash, Undo
from kimi_tui.wire.events import CheckpointCreated, Notification, Reverted, RevertPlan, TurnEnd
from tests.engine.session import Talk, calls, says, session

STORY = (
    calls(("WriteFile", {"path": "a.py", "content": "print(1)\n"})),
    says("written"),
    calls(("Bash", {"command": "echo changed >> README.md; echo new > bash.txt"})),
    says("done"),
    says("just talk"),
    says("after the revert"),
)


@pytest.fixture
def work_dir(work_dir: Path) -> Path:
    (work_dir / "README.md").write_text("readme\n")
    return work_dir


def files_in(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted(folder.iterdir()) if path.is_file()}


def fingerprint(folder: Path) -> dict[str, str]:
    """Every file below a folder, by its digest and time."""
    return {
        str(path): f"{hashlib.sha256(path.read_bytes()).hexdigest()} {path.stat().st_mtime_ns}"
        for path in folder.rglob("*")
        if path.is_file()
    }


def first_of(talk: Talk, turn: int) -> int:
    """The checkpoint before what the user said in a turn, counted from 0."""
    return [event.id for event in talk.all(CheckpointCreated) if event.kind == "user"][turn]


async def tell_the_story(talk: Talk, work_dir: Path) -> None:
    await talk.ask("write a.py")
    await talk.ask("run something")
    (work_dir / "user.txt").write_text("mine\n")
    with (work_dir / "a.py").open("a") as file:
        file.write("print(2)\n")
    await talk.ask("talk")


@pytest.mark.parametrize("place", ["in a git repository", "outside of one", "without git"])
async def test_the_acceptance_story(
    place: str, work_dir: Path, share_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if place == "in a git repository":
        identity = ("-c", "user.name=you", "-c", "user.email=you@example.org")
        for command in (("init", "-q"), ("add", "."), (*identity, "commit", "-qm", "start")):
            subprocess.run(["git", *command], cwd=work_dir, check=True)
    elif place == "without git":
        programs = tmp_path / "bin"
        programs.mkdir()
        for name in ("bash", "sh", "echo", "cat"):
            if found := shutil.which(name):
                (programs / name).symlink_to(found)
        monkeypatch.setenv("PATH", str(programs))
        assert shutil.which("git") is None
    git_before = fingerprint(work_dir / ".git")
    async with session(work_dir, share_dir, *STORY) as talk:
        await tell_the_story(talk, work_dir)
        before = files_in(work_dir)
        start = first_of(talk, 0)

        plan = await talk.do(PlanRevert(start), RevertPlan)
        assert {file.path: file.action for file in plan.files} == {
            "README.md": "restore",
            "a.py": "conflict",
            "bash.txt": "delete",
            "user.txt": "keep",
        }
        assert plan.commands == ("echo changed >> README.md; echo new > bash.txt",)
        readme = plan.files[0]
        assert (readme.added, readme.removed) == (0, 1)
        assert readme.diff is not None
        assert (readme.diff.old_text, readme.diff.new_text) == ("readme\nchanged\n", "readme\n")
        assert files_in(work_dir) == before

        reverted = await talk.do(Revert(start), Reverted)
        assert reverted.prompt == "write a.py"
        assert set(reverted.files) == {"README.md", "bash.txt"}
        assert files_in(work_dir) == {
            "README.md": "readme\n",
            "a.py": "print(1)\nprint(2)\n",
            "user.txt": "mine\n",
        }

        (work_dir / "user.txt").write_text("mine, newer\n")
        undone = await talk.do(Undo(), Reverted)
        assert undone.reason == "undo"
        assert files_in(work_dir) == before | {"user.txt": "mine, newer\n"}

        redone = await talk.do(Redo(), Reverted)
        assert redone.reason == "redo"
        assert files_in(work_dir) == {
            "README.md": "readme\n",
            "a.py": "print(1)\nprint(2)\n",
            "user.txt": "mine, newer\n",
        }
    assert fingerprint(work_dir / ".git") == git_before


async def test_the_agents_version_of_a_conflict_goes_when_it_is_ticked(
    work_dir: Path, share_dir: Path
) -> None:
    async with session(work_dir, share_dir, *STORY) as talk:
        await tell_the_story(talk, work_dir)
        await talk.do(Revert(first_of(talk, 0), paths=("a.py",)), Reverted)
        assert set(files_in(work_dir)) == {"README.md", "bash.txt", "user.txt"}
        await talk.do(Undo(), Reverted)
        assert files_in(work_dir)["a.py"] == "print(1)\nprint(2)\n"


async def test_undo_works_after_a_restart(work_dir: Path, share_dir: Path) -> None:
    async with session(work_dir, share_dir, *STORY) as talk:
        await tell_the_story(talk, work_dir)
        before = files_in(work_dir)
        await talk.do(Revert(first_of(talk, 1)), Reverted)
        assert set(files_in(work_dir)) == {"README.md", "a.py", "user.txt"}
    async with session(work_dir, share_dir, continue_last=True) as talk:
        await talk.do(Undo(), Reverted)
    assert files_in(work_dir) == before
    context = next(share_dir.glob("sessions/*/*/context.jsonl")).read_text()
    assert "just talk" in context


async def test_a_conversation_goes_back_alone_and_so_do_files(work_dir: Path, share_dir: Path) -> None:
    async with session(work_dir, share_dir, *STORY) as talk:
        await tell_the_story(talk, work_dir)
        before = files_in(work_dir)
        await talk.do(Revert(first_of(talk, 1), scope="conversation"), Reverted)
        assert files_in(work_dir) == before
        await talk.do(Undo(), Reverted)
        reverted = await talk.do(Revert(first_of(talk, 1), scope="files"), Reverted)
        assert (reverted.prompt, reverted.branch) == (None, None)
        assert set(files_in(work_dir)) == {"README.md", "a.py", "user.txt"}
    context = next(share_dir.glob("sessions/*/*/context.jsonl")).read_text()
    assert "just talk" in context


async def test_the_model_is_told_which_files_changed_and_which_not(work_dir: Path, share_dir: Path) -> None:
    async with session(work_dir, share_dir, *STORY) as talk:
        await tell_the_story(talk, work_dir)
        await talk.do(Revert(first_of(talk, 0)), Reverted)
        await talk.ask("go on")
    records = [
        json.loads(line)
        for line in next(share_dir.glob("sessions/*/*/context.jsonl")).read_text().splitlines()
    ]
    notes = [json.dumps(record) for record in records if "took the conversation back" in json.dumps(record)]
    assert len(notes) == 1
    assert "Changed on disk by that: README.md, bash.txt." in notes[0]
    assert "since they were kept: a.py, user.txt." in notes[0]


async def test_a_checkpoint_says_how_the_files_changed(work_dir: Path, share_dir: Path) -> None:
    async with session(work_dir, share_dir, *STORY) as talk:
        await talk.ask("write a.py")
        last = talk.all(CheckpointCreated)[-1]
    assert last.files is not None
    assert (last.files.changed, last.files.added_lines, last.files.removed_lines) == (1, 1, 0)


async def test_a_turn_ends_with_the_files_that_its_tools_changed(work_dir: Path, share_dir: Path) -> None:
    scripts = (
        calls(
            ("WriteFile", {"path": "a.py", "content": "print(1)\n"}),
            ("Bash", {"command": "mkdir d; echo 1 > d/b"}),
        ),
        says("written"),
        says("just talk"),
        calls(("Bash", {"command": "rm a.py"})),
        says("removed"),
    )
    async with session(work_dir, share_dir, *scripts) as talk:
        for text in ("write", "talk", "remove"):
            await talk.ask(text)
            (work_dir / "README.md").write_text(f"{text}, by hand\n")
        assert [end.files for end in talk.all(TurnEnd)] == [("a.py", "d/b"), (), ("a.py",)]


async def test_slash_commands_preview_and_list(work_dir: Path, share_dir: Path) -> None:
    async with session(work_dir, share_dir, *STORY) as talk:
        await talk.ask("write a.py")
        start = first_of(talk, 0)
        plan = await talk.do(RunSlash(f"revert {start} --dry-run"), RevertPlan)
        assert [file.path for file in plan.files] == ["a.py"]
        listed = await talk.do(RunSlash("checkpoints"), Notification)
        assert "write a.py" in listed.body
        assert (await talk.do(RunSlash("revert"), Notification)).title.startswith("/revert takes the number")
        assert (await talk.do(RunSlash("undo"), Notification)).title == "There is nothing to undo."
        assert (await talk.do(RunSlash("revert 999"), Notification)).severity == "error"
        await talk.do(RunSlash(f"revert {start}"), Reverted)
    assert set(files_in(work_dir)) == {"README.md"}


async def test_a_cleared_conversation_comes_back_by_undo(work_dir: Path, share_dir: Path) -> None:
    async with session(work_dir, share_dir, *STORY) as talk:
        await talk.ask("write a.py")
        for wrong in ("clear it", "undo 3", "redo x"):
            refused = await talk.do(RunSlash(wrong), Notification)
            assert refused.severity == "error"
            assert refused.title.startswith(f"/{wrong.split()[0]} takes ")
        await talk.do(RunSlash("clear"), Reverted)
        await talk.do(RunSlash("undo"), Reverted)
    assert "written" in next(share_dir.glob("sessions/*/*/context.jsonl")).read_text()


async def test_a_store_that_cannot_be_written_costs_the_files_states_only(
    work_dir: Path, share_dir: Path
) -> None:
    share_dir.mkdir()
    (share_dir / "store").write_text("in the way")
    async with session(work_dir, share_dir, *STORY) as talk:
        await talk.ask("write a.py")
        plan = await talk.do(PlanRevert(first_of(talk, 0)), RevertPlan)
        assert plan.files == ()
        assert plan.note
        await talk.do(Revert(first_of(talk, 0)), Reverted)
    assert set(files_in(work_dir)) == {"README.md", "a.py"}
