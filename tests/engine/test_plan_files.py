"""Files of a plan as clients see them: unique paths, diffs, and reasons for missing diffs."""

import os
import sys
from pathlib import Path

import pytest

from kimi_tui.wire.commands import Compare, PlanRevert, Revert, Undo
from kimi_tui.wire.review import PlannedFileContent, ReadPlannedFile
from kimi_tui.wire.timeline import Comparison, PlannedFile, Reverted, RevertPlan
from tests.engine.engine_client import EngineClient, session, text_reply, tool_calls
from tests.engine.test_revert import prompt_checkpoint

needs_byte_names = pytest.mark.skipif(sys.platform == "darwin", reason="file names must be UTF-8 here")


async def plan_after(client: EngineClient) -> dict[str, PlannedFile]:
    """Run a turn and return the files of the plan of its revert, by path."""
    await client.ask("change the files")
    plan = await client.run_command(PlanRevert(prompt_checkpoint(client, 0)), RevertPlan)
    assert len({file.path for file in plan.files}) == len(plan.files)
    return {file.path: file for file in plan.files}


def shell_turn(command: str) -> tuple[str, str]:
    return tool_calls(("Bash", {"command": command})), text_reply("done")


@needs_byte_names
async def test_names_that_differ_only_in_invalid_bytes_are_selected_one_by_one(
    work_dir: Path, data_dir: Path
) -> None:
    names = [b"caf\xe9", b"caf\xe8", b"caf\\xE9", b"caf\x01", "caf\ufffd".encode()]
    for name in names:
        (work_dir / os.fsdecode(name)).write_text("mine\n")
    command = "for name in caf*; do echo changed > $name; done"
    async with session(work_dir, data_dir, *shell_turn(command)) as client:
        plan = await plan_after(client)
        assert set(plan) == {"caf\\xE9", "caf\\xE8", "caf\\\\xE9", "caf\\x01", "caf\ufffd"}
        only = Revert(prompt_checkpoint(client, 0), paths=("caf\\xE9",))
        reverted = await client.run_command(only, Reverted)
        assert reverted.files == ("caf\\xE9",)
    restored = [name for name in names if (work_dir / os.fsdecode(name)).read_text() == "mine\n"]
    assert restored == [b"caf\xe9"]


async def test_the_diffs_of_files_after_the_hundredth_are_read_on_request(
    work_dir: Path, data_dir: Path
) -> None:
    script = shell_turn("for n in $(seq 100 220); do echo text > $n.txt; done")
    async with session(work_dir, data_dir, *script) as client:
        plan = list((await plan_after(client)).values())
        compared = await client.run_command(Compare(prompt_checkpoint(client, 0)), Comparison)
        for files in (plan, compared.files):
            assert len(files) == 121
            assert all(file.diff is not None and file.no_diff == "" for file in files[:100])
            assert all(file.diff is None for file in files[100:])
            assert {file.is_on_request for file in files[:100]} == {False}
            assert {file.is_on_request for file in files[100:]} == {True}
        (work_dir / "215.txt").write_text("changed after the comparison\n")
        for shown, texts in ((client.all(RevertPlan)[-1], ("text\n", "")), (compared, ("", "text\n"))):
            read = await client.run_command(ReadPlannedFile(shown.id, "215.txt"), PlannedFileContent)
            assert (read.plan, read.number) == (shown.id, 116)
            assert read.file.diff is not None
            assert (read.file.diff.old_text, read.file.diff.new_text) == texts
            assert len(read.file.hunks) == 1


async def test_a_short_comparison_has_all_diffs(work_dir: Path, data_dir: Path) -> None:
    async with session(
        work_dir, data_dir, *shell_turn("for n in $(seq 100); do echo x > $n; done")
    ) as client:
        await client.ask("change the files")
        compared = await client.run_command(Compare(prompt_checkpoint(client, 0)), Comparison)
    assert compared.id == ""
    assert all(file.diff is not None for file in compared.files)


async def test_a_file_without_a_diff_has_the_true_reason(work_dir: Path, data_dir: Path) -> None:
    for name in ("mode", "empty", "binary", "latin"):
        (work_dir / name).write_text("text\n" if name != "empty" else "")
    (work_dir / "mode").chmod(0o644)
    (work_dir / "latin").write_bytes(b"\xe9\n")
    (work_dir / "long").write_text("line\n" * 30_000)
    (work_dir / "link").symlink_to("mode")
    command = (
        "chmod 600 mode; rm empty; printf 'a\\0b' > binary; printf '\\350\\n' > latin;"
        "echo more >> long; ln -sfn latin link; mkdir new; echo plain > plain"
    )
    async with session(work_dir, data_dir, *shell_turn(command)) as client:
        plan = await plan_after(client)
    assert {path: file.no_diff for path, file in plan.items()} == {
        "binary": "No diff: the file is binary.",
        "empty": "The file is empty.",
        "latin": "No diff: the contents differ only in bytes that aren't UTF-8.",
        "link": "Target of the symbolic link: 'latin' → 'mode'.",
        "long": "No diff: the file is too long.",
        "mode": "Only the file permissions change: 600 → 644.",
        "new/": "",
        "plain": "",
    }
    assert [path for path, file in plan.items() if file.diff is not None] == ["plain"]


async def test_a_deleted_work_dir_is_restored(work_dir: Path, data_dir: Path) -> None:
    (work_dir / "file").write_text("text\n")
    async with session(work_dir, data_dir, *shell_turn("rm -rf $PWD")) as client:
        plan = await plan_after(client)
        assert [(file.path, file.action, file.by) for file in plan.values()] == [
            ("file", "recreate", "agent")
        ]
        await client.run_command(Revert(prompt_checkpoint(client, 0)), Reverted)
    assert (work_dir / "file").read_text() == "text\n"


async def test_files_elsewhere_that_a_tool_wrote_are_covered(
    work_dir: Path, data_dir: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "deep").mkdir(parents=True)
    (elsewhere / "settings").write_text("mine\n")
    script = (
        tool_calls(
            ("WriteFile", {"path": str(elsewhere / "settings"), "content": "the agent's\n"}),
            ("WriteFile", {"path": str(elsewhere / "deep" / "new"), "content": "new\n"}),
        ),
        text_reply("done"),
    )
    async with session(work_dir, data_dir, *script) as client:
        await client.ask("write there")
        start = prompt_checkpoint(client, 0)
        plan = await client.run_command(PlanRevert(start), RevertPlan)
        assert {file.path: (file.action, file.by) for file in plan.files} == {
            str(elsewhere / "deep" / "new"): ("delete", "agent"),
            str(elsewhere / "settings"): ("restore", "agent"),
        }
        reverted = await client.run_command(Revert(start), Reverted)
        assert len(reverted.files) == 2
        assert (elsewhere / "settings").read_text() == "mine\n"
        assert not (elsewhere / "deep" / "new").exists()
        await client.run_command(Undo(), Reverted)
        assert (elsewhere / "settings").read_text() == "the agent's\n"
        assert (elsewhere / "deep" / "new").read_text() == "new\n"
    async with session(work_dir, data_dir, continue_last=True) as client:
        (elsewhere / "settings").write_text("mine, newer\n")
        plan = await client.run_command(PlanRevert(start), RevertPlan)
        actions = {file.path: file.action for file in plan.files}
        assert actions[str(elsewhere / "settings")] == "conflict"


async def test_a_file_elsewhere_whose_directory_became_a_link_is_left_alone(
    work_dir: Path, data_dir: Path, tmp_path: Path
) -> None:
    elsewhere, private = tmp_path / "elsewhere", tmp_path / "private"
    elsewhere.mkdir()
    private.mkdir()
    (elsewhere / "settings").write_text("mine\n")
    call = ("WriteFile", {"path": str(elsewhere / "settings"), "content": "the agent's\n"})
    async with session(work_dir, data_dir, tool_calls(call), text_reply("done")) as client:
        await client.ask("write there")
        (elsewhere / "settings").rename(private / "settings")
        elsewhere.rmdir()
        elsewhere.symlink_to(private)
        only = (str(elsewhere / "settings"),)
        await client.command_and_wait(Revert(prompt_checkpoint(client, 0), paths=only))
    assert (private / "settings").read_text() == "the agent's\n"
