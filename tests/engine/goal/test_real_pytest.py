"""`/goal` with the real pytest: a check is noticed to be weaker by what it ran."""

import sys
from pathlib import Path

from kimi_tui.wire.commands import RunSlash
from kimi_tui.wire.events import Notification, TurnEnd
from kimi_tui.wire.requests import QuestionRequest, QuestionResponse
from tests.engine.engine_client import session, text_reply, tool_calls

GOAL = f"goal --turns 1 {sys.executable} -m pytest -q"
TESTS = """
import pytest
import names

def test_first():
    assert names.NAME == 'A'

@pytest.mark.skipif(names.IS_SLOW, reason='slow')
def test_second():
    assert names.upper('b') == 'B'
"""
CODE = "NAME = 'A'\nIS_SLOW = False\n\ndef upper(text):\n    return text\n"
DONE = text_reply("done")


def write_project(work_dir: Path) -> None:
    (work_dir / "names.py").write_text(CODE)
    (work_dir / "test_names.py").write_text(TESTS)


def write_code(code: str) -> str:
    return tool_calls(("WriteFile", {"path": "names.py", "content": code}))


async def test_code_that_makes_pytest_skip_a_test_is_not_a_success(work_dir: Path, data_dir: Path) -> None:
    write_project(work_dir)
    skips = write_code(CODE.replace("False", "True"))
    async with session(work_dir, data_dir, skips, DONE) as client:
        client.command(RunSlash(GOAL))
        request = await client.next(QuestionRequest)
        shown = client.all(Notification)[-1]
        client.answer(QuestionResponse(request.id, {request.questions[0].question: "Stop"}))
        assert (await client.next(TurnEnd)).outcome == "failed"
    assert shown.body == "tests that ran: 1, at the start: 2"


async def test_the_last_failures_that_pytest_stored_do_not_decide(work_dir: Path, data_dir: Path) -> None:
    write_project(work_dir)
    stored = '{"test_names.py::test_first": true}'
    path = ".pytest_cache/v/cache/lastfailed"
    command = f"mkdir -p {Path(path).parent}; echo '{stored}' > {path}"
    async with session(work_dir, data_dir, tool_calls(("Bash", {"command": command})), DONE) as client:
        end = await client.run_command(RunSlash(f"{GOAL} --last-failed"), TurnEnd)
    assert end.outcome == "limit"
    assert (work_dir / path).exists()


async def test_fixed_code_is_a_success(work_dir: Path, data_dir: Path) -> None:
    write_project(work_dir)
    async with session(
        work_dir, data_dir, write_code(CODE.replace("return text", "return text.upper()")), DONE
    ) as client:
        end = await client.run_command(RunSlash(GOAL), TurnEnd)
        assert end.outcome == "finished", client.all(Notification)
