"""The program's own files are no part of the states of a folder that they lie in."""

from pathlib import Path

import pytest

from kimi_tui.wire.commands import PlanRevert
from kimi_tui.wire.timeline import RevertPlan
from tests.engine.session import calls, says, session

WORK = (calls(("Bash", {"command": "echo new > new.txt"})), says("done"))


@pytest.mark.parametrize("name", [".share", "our [own] #files"])
async def test_a_plan_has_none_of_the_share_dir_in_the_work_dir(tmp_path: Path, name: str) -> None:
    work = tmp_path / "work"
    work.mkdir()
    async with session(work, work / name, *WORK) as talk:
        await talk.ask("write it")
        plan = await talk.do(PlanRevert(0), RevertPlan)
    assert [item.path for item in plan.files] == ["new.txt"]


async def test_a_plan_has_none_of_the_share_dir_in_a_work_dir_that_is_named_by_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    work = tmp_path / "work"
    work.symlink_to(tmp_path / "real")
    async with session(work, work / ".share", *WORK) as talk:
        await talk.ask("write it")
        plan = await talk.do(PlanRevert(0), RevertPlan)
    assert [item.path for item in plan.files] == ["new.txt"]


async def test_a_plan_has_none_of_the_share_dir_in_an_added_folder(tmp_path: Path) -> None:
    work, added = tmp_path / "work", tmp_path / "added folder"
    work.mkdir()
    added.mkdir()
    (work / ".share").mkdir()
    command = f"echo new > '{added}/new.txt'; echo new > .share/yours.txt"
    scripts = (calls(("Bash", {"command": command})), says("done"))
    async with session(work, added / ".share", *scripts, additional_dirs=(added,)) as talk:
        await talk.ask("write it")
        plan = await talk.do(PlanRevert(0), RevertPlan)
    assert [item.path for item in plan.files] == [".share/yours.txt", f"{added}/new.txt"]
