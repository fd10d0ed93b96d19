"""The program's own files are no part of the states of a work dir that they lie in."""

from pathlib import Path

import pytest

from kimi_tui.engine.coverage import own_dir_rules
from kimi_tui.wire.commands import PlanRevert
from kimi_tui.wire.timeline import RevertPlan
from tests.engine.session import calls, says, session


@pytest.mark.parametrize("name", [".share", "our [own] #files"])
async def test_a_plan_has_none_of_the_share_dir_in_the_work_dir(tmp_path: Path, name: str) -> None:
    work = tmp_path / "work"
    work.mkdir()
    scripts = (calls(("Bash", {"command": "echo new > new.txt"})), says("done"))
    async with session(work, work / name, *scripts) as talk:
        await talk.ask("write it")
        plan = await talk.do(PlanRevert(0), RevertPlan)
    assert [item.path for item in plan.files] == ["new.txt"]


def test_a_share_dir_elsewhere_needs_no_rule(tmp_path: Path) -> None:
    assert own_dir_rules(tmp_path / "share", tmp_path / "work") == ()
    assert own_dir_rules(tmp_path, tmp_path) == ()
