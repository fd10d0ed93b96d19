"""Reverts through the engine, with real tools and a scripted model."""

import hashlib
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from kimi_tui.wire.commands import PlanRevert, Redo, Revert, RunSlash, Undo
from kimi_tui.wire.events import CheckpointCreated, Notification, Reverted, RevertPlan, TurnEnd
from kimi_tui.wire.timeline import FileChoice
from tests.engine.engine_client import EngineClient, session, text_reply, tool_calls

SCRIPTS = (
    tool_calls(("WriteFile", {"path": "a.py", "content": "print(1)\n"})),
    text_reply("written"),
    tool_calls(("Bash", {"command": "echo changed >> README.md; echo new > bash.txt"})),
    text_reply("done"),
    text_reply("just talk"),
    text_reply("after the revert"),
)


@pytest.fixture
def work_dir(work_dir: Path) -> Path:
    (work_dir / "README.md").write_text("readme\n")
    return work_dir


def read_files(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted(folder.iterdir()) if path.is_file()}


def fingerprint(folder: Path) -> dict[str, str]:
    """Return the digest and modification time of every file in a directory."""
    return {
        str(path): f"{hashlib.sha256(path.read_bytes()).hexdigest()} {path.stat().st_mtime_ns}"
        for path in folder.rglob("*")
        if path.is_file()
    }


def prompt_checkpoint(client: EngineClient, turn: int) -> int:
    """Return the id of the checkpoint before the prompt of a turn, counted from 0."""
    return [event.id for event in client.all(CheckpointCreated) if event.kind == "user"][turn]


async def run_turns(client: EngineClient, work_dir: Path) -> None:
    await client.ask("write a.py")
    await client.ask("run something")
    (work_dir / "user.txt").write_text("mine\n")
    with (work_dir / "a.py").open("a") as file:
        file.write("print(2)\n")
    await client.ask("talk")


@pytest.mark.parametrize("location", ["in a git repository", "outside of one", "without git"])
async def test_a_revert_undo_and_redo_in_a_real_directory(
    location: str, work_dir: Path, data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if location == "in a git repository":
        identity = ("-c", "user.name=you", "-c", "user.email=you@example.org")
        for command in (("init", "-q"), ("add", "."), (*identity, "commit", "-qm", "start")):
            subprocess.run(["git", *command], cwd=work_dir, check=True)
    elif location == "without git":
        programs = tmp_path / "bin"
        programs.mkdir()
        for name in ("bash", "sh", "echo", "cat"):
            if program := shutil.which(name):
                (programs / name).symlink_to(program)
        monkeypatch.setenv("PATH", str(programs))
        assert shutil.which("git") is None
    git_before = fingerprint(work_dir / ".git")
    async with session(work_dir, data_dir, *SCRIPTS) as client:
        await run_turns(client, work_dir)
        before = read_files(work_dir)
        start = prompt_checkpoint(client, 0)

        plan = await client.run_command(PlanRevert(start), RevertPlan)
        assert {file.path: file.action for file in plan.files} == {
            "README.md": "restore",
            "a.py": "merge",
            "bash.txt": "delete",
            "user.txt": "keep",
        }
        assert plan.commands == ("echo changed >> README.md; echo new > bash.txt",)
        readme = plan.files[0]
        assert (readme.added, readme.removed) == (0, 1)
        assert readme.diff is not None
        assert (readme.diff.old_text, readme.diff.new_text) == ("readme\nchanged\n", "readme\n")
        assert read_files(work_dir) == before

        reverted = await client.run_command(Revert(start), Reverted)
        assert reverted.prompt == "write a.py"
        assert set(reverted.files) == {"README.md", "a.py", "bash.txt"}
        assert read_files(work_dir) == {
            "README.md": "readme\n",
            "a.py": "print(2)\n",
            "user.txt": "mine\n",
        }

        (work_dir / "user.txt").write_text("mine, newer\n")
        undone = await client.run_command(Undo(), Reverted)
        assert undone.reason == "undo"
        assert read_files(work_dir) == before | {"user.txt": "mine, newer\n"}

        redone = await client.run_command(Redo(), Reverted)
        assert redone.reason == "redo"
        assert read_files(work_dir) == {
            "README.md": "readme\n",
            "a.py": "print(2)\n",
            "user.txt": "mine, newer\n",
        }
    assert fingerprint(work_dir / ".git") == git_before


async def test_a_file_that_both_changed_is_deleted_if_that_is_chosen(work_dir: Path, data_dir: Path) -> None:
    async with session(work_dir, data_dir, *SCRIPTS) as client:
        await run_turns(client, work_dir)
        choices = (FileChoice("a.py", "checkpoint"),)
        await client.run_command(Revert(prompt_checkpoint(client, 0), paths=(), choices=choices), Reverted)
        assert set(read_files(work_dir)) == {"README.md", "bash.txt", "user.txt"}
        await client.run_command(Undo(), Reverted)
        assert read_files(work_dir)["a.py"] == "print(1)\nprint(2)\n"


async def test_undo_works_after_a_restart(work_dir: Path, data_dir: Path) -> None:
    async with session(work_dir, data_dir, *SCRIPTS) as client:
        await run_turns(client, work_dir)
        before = read_files(work_dir)
        await client.run_command(Revert(prompt_checkpoint(client, 1)), Reverted)
        assert set(read_files(work_dir)) == {"README.md", "a.py", "user.txt"}
    async with session(work_dir, data_dir, continue_last=True) as client:
        await client.run_command(Undo(), Reverted)
    assert read_files(work_dir) == before
    context = next(data_dir.glob("tui-sessions/*/*/context.jsonl")).read_text()
    assert "just talk" in context


async def test_the_conversation_and_the_files_can_be_reverted_separately(
    work_dir: Path, data_dir: Path
) -> None:
    async with session(work_dir, data_dir, *SCRIPTS) as client:
        await run_turns(client, work_dir)
        before = read_files(work_dir)
        await client.run_command(Revert(prompt_checkpoint(client, 1), scope="conversation"), Reverted)
        assert read_files(work_dir) == before
        await client.run_command(Undo(), Reverted)
        reverted = await client.run_command(Revert(prompt_checkpoint(client, 1), scope="files"), Reverted)
        assert (reverted.prompt, reverted.branch) == (None, None)
        assert set(read_files(work_dir)) == {"README.md", "a.py", "user.txt"}
    context = next(data_dir.glob("tui-sessions/*/*/context.jsonl")).read_text()
    assert "just talk" in context


async def test_the_model_gets_a_note_of_changed_and_unchanged_files(work_dir: Path, data_dir: Path) -> None:
    async with session(work_dir, data_dir, *SCRIPTS) as client:
        await run_turns(client, work_dir)
        await client.run_command(Revert(prompt_checkpoint(client, 0)), Reverted)
        await client.ask("go on")
    records = [
        json.loads(line)
        for line in next(data_dir.glob("tui-sessions/*/*/context.jsonl")).read_text().splitlines()
    ]
    notes = [json.dumps(record) for record in records if "reverted the conversation" in json.dumps(record)]
    assert len(notes) == 1
    assert "Changed on disk by the revert: README.md, a.py, bash.txt." in notes[0]
    assert "Different from then, but not reverted: user.txt." in notes[0]


async def test_a_checkpoint_counts_the_file_changes(work_dir: Path, data_dir: Path) -> None:
    async with session(work_dir, data_dir, *SCRIPTS) as client:
        await client.ask("write a.py")
        last = client.all(CheckpointCreated)[-1]
    assert last.files is not None
    assert (last.files.changed, last.files.added_lines, last.files.removed_lines) == (1, 1, 0)


async def test_the_end_of_a_turn_lists_the_files_changed_by_tools(work_dir: Path, data_dir: Path) -> None:
    scripts = (
        tool_calls(
            ("WriteFile", {"path": "a.py", "content": "print(1)\n"}),
            ("Bash", {"command": "mkdir d; echo 1 > d/b"}),
        ),
        text_reply("written"),
        text_reply("just talk"),
        tool_calls(("Bash", {"command": "rm a.py"})),
        text_reply("removed"),
    )
    async with session(work_dir, data_dir, *scripts) as client:
        for text in ("write", "talk", "remove"):
            await client.ask(text)
            (work_dir / "README.md").write_text(f"{text}, by hand\n")
        assert [end.files for end in client.all(TurnEnd)] == [("a.py", "d/b"), (), ("a.py",)]


async def test_slash_commands_preview_and_list(work_dir: Path, data_dir: Path) -> None:
    async with session(work_dir, data_dir, *SCRIPTS) as client:
        await client.ask("write a.py")
        start = prompt_checkpoint(client, 0)
        plan = await client.run_command(RunSlash(f"revert {start} --dry-run"), RevertPlan)
        assert [file.path for file in plan.files] == ["a.py"]
        notice = await client.run_command(RunSlash("checkpoints"), Notification)
        assert "write a.py" in notice.body
        assert (await client.run_command(RunSlash("revert"), Notification)).title.startswith(
            "/revert requires a checkpoint number"
        )
        assert (await client.run_command(RunSlash("undo"), Notification)).title == "Nothing to undo."
        assert (await client.run_command(RunSlash("revert 999"), Notification)).severity == "error"
        await client.run_command(RunSlash(f"revert {start}"), Reverted)
    assert set(read_files(work_dir)) == {"README.md"}


async def test_undo_restores_a_cleared_conversation(work_dir: Path, data_dir: Path) -> None:
    async with session(work_dir, data_dir, *SCRIPTS) as client:
        await client.ask("write a.py")
        for command in ("clear it", "undo 3", "redo x"):
            error = await client.run_command(RunSlash(command), Notification)
            assert error.severity == "error"
            assert error.title.startswith(f"/{command.split()[0]} takes ")
        await client.run_command(RunSlash("clear"), Reverted)
        await client.run_command(RunSlash("undo"), Reverted)
    assert "written" in next(data_dir.glob("tui-sessions/*/*/context.jsonl")).read_text()


async def test_without_a_writable_store_only_the_conversation_is_reverted(
    work_dir: Path, data_dir: Path
) -> None:
    data_dir.mkdir()
    (data_dir / "store").write_text("in the way")
    async with session(work_dir, data_dir, *SCRIPTS) as client:
        await client.ask("write a.py")
        plan = await client.run_command(PlanRevert(prompt_checkpoint(client, 0)), RevertPlan)
        assert plan.files == ()
        assert plan.note
        await client.run_command(Revert(prompt_checkpoint(client, 0)), Reverted)
    assert set(read_files(work_dir)) == {"README.md", "a.py"}


@pytest.mark.parametrize("edit", ["edited", "replaced by a folder", "created"])
async def test_a_selected_file_that_changed_since_the_plan_is_left_alone_and_named(
    edit: str, work_dir: Path, data_dir: Path
) -> None:
    scripts = (
        tool_calls(("Bash", {"command": "echo new > a; echo new > b; rm README.md"})),
        text_reply("done"),
    )
    async with session(work_dir, data_dir, *scripts) as client:
        await client.ask("go")
        start = prompt_checkpoint(client, 0)
        plan = await client.run_command(PlanRevert(start), RevertPlan)
        assert {file.action for file in plan.files} == {"delete", "recreate"}
        match edit:
            case "edited":
                (work_dir / "a").write_text("new\nmine\n")
            case "replaced by a folder":
                (work_dir / "a").unlink()
                (work_dir / "a").mkdir()
            case "created":
                (work_dir / "README.md").write_text("mine\n")
        before = read_files(work_dir)
        reverted = await client.run_command(Revert(start, paths=("a", "b", "README.md")), Reverted)
        failure = await client.next(Notification)
        named = "README.md" if edit == "created" else "a"
        assert f"{named}: changed in the meantime" in failure.title
        assert named in {path.rstrip("/") for path in reverted.kept}
        restored = {"README.md": before.get("README.md", "readme\n")}
        kept = {name: text for name, text in before.items() if name == named}
        assert read_files(work_dir) == kept | restored


async def test_a_selection_without_a_plan_is_executed(work_dir: Path, data_dir: Path) -> None:
    async with session(work_dir, data_dir, *SCRIPTS) as client:
        await run_turns(client, work_dir)
        start = prompt_checkpoint(client, 0)
        await client.run_command(Revert(start, paths=("a.py", "bash.txt")), Reverted)
        assert read_files(work_dir)["a.py"] == "print(2)\n"
        assert "bash.txt" not in read_files(work_dir)


async def test_an_agent_edit_after_a_plan_is_reverted_by_default(work_dir: Path, data_dir: Path) -> None:
    async with session(work_dir, data_dir, *SCRIPTS) as client:
        await client.ask("write a.py")
        start = prompt_checkpoint(client, 0)
        await client.run_command(PlanRevert(start), RevertPlan)
        await client.ask("run something")
        await client.run_command(Revert(start), Reverted)
        assert read_files(work_dir) == {"README.md": "readme\n"}


async def test_a_plan_lists_hunks_and_choices_which_a_revert_takes(work_dir: Path, data_dir: Path) -> None:
    text = "".join(f"{number}\n" for number in range(1, 21))
    (work_dir / "f").write_text(text)
    scripts = (tool_calls(("Bash", {"command": "sed -i 's/^3$/three/; s/^17$/seventeen/' f"})), *SCRIPTS)
    async with session(work_dir, data_dir, *scripts) as client:
        await run_turns(client, work_dir)
        start = prompt_checkpoint(client, 0)
        plan = await client.run_command(PlanRevert(start), RevertPlan)
        files = {file.path: file for file in plan.files}
        created = files["a.py"]
        assert (created.choice, created.hunks) == ("merge", ())
        assert {choice.choice for choice in created.choices} == {"mine", "checkpoint", "merge"}
        first, second = files["f"].hunks
        assert (first.added, first.removed, first.diff.old_start) == (1, 1, 1)
        assert first.diff.new_text == "1\n2\n3\n4\n5\n6\n"
        assert second.diff.old_text == "14\n15\n16\nseventeen\n18\n19\n20\n"

        before = read_files(work_dir)
        choices = (FileChoice("a.py", "mine"), FileChoice("f", hunks=(second.id,)))
        reverted = await client.run_command(Revert(start, choices=choices), Reverted)
        assert set(reverted.files) == {"README.md", "bash.txt", "f"}
        assert (work_dir / "f").read_text() == text.replace("3", "three", 1)
        assert (work_dir / "a.py").read_text() == before["a.py"]
        await client.run_command(Undo(), Reverted)
        assert read_files(work_dir) == before


async def test_a_version_of_the_users_that_is_replaced_is_saved_named_and_restored_alone(
    work_dir: Path, data_dir: Path
) -> None:
    async with session(work_dir, data_dir, *SCRIPTS) as client:
        await run_turns(client, work_dir)
        start = prompt_checkpoint(client, 0)
        plan = await client.run_command(PlanRevert(start, "files"), RevertPlan)
        assert {file.path for file in plan.files if file.is_saved} == {"a.py", "user.txt"}
        choices = (FileChoice("a.py", "checkpoint"),)
        reverted = await client.run_command(Revert(start, "files", choices=choices), Reverted)
        assert (reverted.from_, reverted.saved) == (plan.saved_in, ("a.py",))
        assert not (work_dir / "a.py").exists()

        await client.run_command(RunSlash(f"revert {plan.saved_in} files --only a.py"), Reverted)
        assert (work_dir / "a.py").read_text() == "print(1)\nprint(2)\n"
        assert (work_dir / "README.md").read_text() == "readme\n"
        assert (work_dir / "user.txt").read_text() == "mine\n"


async def test_a_merge_replaces_no_version_of_the_users(work_dir: Path, data_dir: Path) -> None:
    async with session(work_dir, data_dir, *SCRIPTS) as client:
        await run_turns(client, work_dir)
        reverted = await client.run_command(Revert(prompt_checkpoint(client, 0), "files"), Reverted)
        assert "a.py" in reverted.files
        assert reverted.saved == ()


async def test_a_file_with_a_choice_that_changed_since_the_plan_is_left_alone_and_named(
    work_dir: Path, data_dir: Path
) -> None:
    async with session(work_dir, data_dir, *SCRIPTS) as client:
        await run_turns(client, work_dir)
        start = prompt_checkpoint(client, 0)
        await client.run_command(PlanRevert(start), RevertPlan)
        (work_dir / "a.py").write_text("print(1)\nprint(2)\nprint(3)\n")
        await client.run_command(Revert(start, choices=(FileChoice("a.py", "checkpoint"),)), Reverted)
        failure = await client.next(Notification)
        assert "a.py: changed in the meantime" in failure.title
        assert read_files(work_dir)["a.py"] == "print(1)\nprint(2)\nprint(3)\n"


async def test_a_choice_for_a_file_that_isnt_in_the_plan_changes_nothing(
    work_dir: Path, data_dir: Path
) -> None:
    async with session(work_dir, data_dir, *SCRIPTS) as client:
        await run_turns(client, work_dir)
        before = read_files(work_dir)
        start = prompt_checkpoint(client, 0)
        failure = await client.run_command(Revert(start, choices=(FileChoice("b.py", "mine"),)), Notification)
        assert failure.title == "The preview doesn't contain b.py."
        assert read_files(work_dir) == before


async def test_slash_commands_take_choices_and_hunk_numbers(work_dir: Path, data_dir: Path) -> None:
    (work_dir / "my file").write_text("1\n2\n3\n")
    scripts = (tool_calls(("Bash", {"command": "sed -i 's/1/one/; s/3/three/' 'my file'"})), *SCRIPTS)
    async with session(work_dir, data_dir, *scripts) as client:
        await run_turns(client, work_dir)
        start = prompt_checkpoint(client, 0)
        options = f"{start} files --choose=a.py=checkpoint --hunks 'my file=2'"
        await client.run_command(RunSlash(f"revert {options} --dry-run"), RevertPlan)
        await client.run_command(RunSlash(f"revert {options}"), Reverted)
        assert not (work_dir / "a.py").exists()
        assert (work_dir / "my file").read_text() == "one\n2\n3\n"
        await client.run_command(RunSlash("undo --hunks 'my file='"), Reverted)
        assert (work_dir / "a.py").read_text() == "print(1)\nprint(2)\n"
        assert (work_dir / "my file").read_text() == "one\n2\n3\n"
        error = await client.run_command(RunSlash(f"revert {start} --choose a.py"), Notification)
        assert error.title.startswith("“a.py” names no file.")
