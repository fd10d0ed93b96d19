"""The log of a session: what happened, how long it took and how large it was, but no contents."""

import logging

import pytest

from kimi_tui.wire.commands import Prompt, RunSlash
from kimi_tui.wire.events import TurnEnd
from tests.engine.fake_front_end import SessionEnv, call, script


async def test_approvals_and_compactions_are_logged_without_contents(
    home: SessionEnv, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="kimi_tui")
    command = script("text: secret plan", call("c1", "Bash", command="echo private"))
    home.script(command, "text: one", "text: two", "text: three", "text: THE SUMMARY")
    async with home.open_session() as front:
        front.send(Prompt("hidden words"))
        front.answer(await front.next_approval_request(), "approve")
        await front.wait_for(TurnEnd)
        for prompt in ("b", "c"):
            await front.turn(prompt)
        front.send(RunSlash("compact"))
        await front.wait_for(TurnEnd)
    lines = [record.getMessage() for record in caplog.records]
    log = "\n".join(lines)
    for event in (
        "approval_request id=",
        "call=c1 tool=Bash action=",
        "response=approve seconds=",
        "tool_result id=c1 seconds=",
        "compaction_begin",
        "compaction_end seconds=",
        "revert to=",
        "reason=compaction rotated_to=",
    ):
        assert event in log, event
    for text in ("hidden words", "secret plan", "private", "THE SUMMARY"):
        assert text not in log
