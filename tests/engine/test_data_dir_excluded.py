"""File snapshots exclude the data directory."""

from pathlib import Path

import pytest

from kimi_tui.wire.commands import PlanRevert
from kimi_tui.wire.timeline import RevertPlan
from tests.engine.engine_client import session, text_reply, tool_calls

WORK = (tool_calls(("Bash", {"command": "echo new > new.txt"})), text_reply("done"))


@pytest.mark.parametrize("name", [".share", "our [own] #files"])
async def test_a_plan_excludes_a_data_directory_in_the_working_directory(tmp_path: Path, name: str) -> None:
    work = tmp_path / "work"
    work.mkdir()
    async with session(work, work / name, *WORK) as client:
        await client.ask("write it")
        plan = await client.run_command(PlanRevert(0), RevertPlan)
    assert [item.path for item in plan.files] == ["new.txt"]


async def test_a_plan_excludes_the_data_directory_if_the_working_directory_is_a_symlink(
    tmp_path: Path,
) -> None:
    (tmp_path / "real").mkdir()
    work = tmp_path / "work"
    work.symlink_to(tmp_path / "real")
    async with session(work, work / ".share", *WORK) as client:
        await client.ask("write it")
        plan = await client.run_command(PlanRevert(0), RevertPlan)
    assert [item.path for item in plan.files] == ["new.txt"]


async def test_a_plan_excludes_a_data_directory_in_an_additional_directory(tmp_path: Path) -> None:
    work, added = tmp_path / "work", tmp_path / "added folder"
    work.mkdir()
    added.mkdir()
    (work / ".share").mkdir()
    command = f"echo new > '{added}/new.txt'; echo new > .share/yours.txt"
    scripts = (tool_calls(("Bash", {"command": command})), text_reply("done"))
    async with session(work, added / ".share", *scripts, additional_dirs=(added,)) as client:
        await client.ask("write it")
        plan = await client.run_command(PlanRevert(0), RevertPlan)
    assert [item.path for item in plan.files] == [".share/yours.txt", f"{added}/new.txt"]
