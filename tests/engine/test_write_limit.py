"""What the model and the user see of a command that writes too much in its workspace."""

import pytest

from kimi_tui.wire.commands import Prompt
from kimi_tui.wire.events import TurnEnd
from kimi_tui.wire.requests import ApprovalRequest
from tests.engine.fake_front_end import SessionEnv, bash, script

ENDLESS = "echo started; while :; do head -c 8M /dev/zero >> big; sleep 0.02; done"
MESSAGE = "The command was stopped: it wrote more than 40 MB in its workspace. Its changes were discarded."


@pytest.mark.parametrize("runs_first", [True, False])
async def test_its_changes_are_discarded_and_the_reason_is_named(home: SessionEnv, runs_first: bool) -> None:
    home.runs_first = runs_first
    home.script(script("for: begin", bash("c1", ENDLESS)), script("for: begin", "text: ok"))
    settings = home.settings(workspaces={"max_mb": 40})
    async with home.open_session(settings=settings, yolo=not runs_first) as front:
        front.send(Prompt("begin"))
        assert (await front.wait_for(TurnEnd)).outcome == "finished"
        assert MESSAGE in front.results["c1"].return_value.message
        assert "max_mb" in front.results["c1"].return_value.message
        assert not front.of(ApprovalRequest)
    assert not (home.work_dir / "big").exists()
