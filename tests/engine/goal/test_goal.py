"""`/goal` through the engine: success, weakened tests, and limits."""

from pathlib import Path

import pytest

from kimi_tui.config.settings import ModelPrice
from kimi_tui.wire.commands import RunSlash
from kimi_tui.wire.events import Notification, SteerInput, TurnEnd
from kimi_tui.wire.requests import QuestionRequest, QuestionResponse
from tests.engine.engine_client import EngineClient, session, text_reply, tool_calls

TEST = "grep -q \"'A'\" names.py\n"
FIXES = tool_calls(("WriteFile", {"path": "names.py", "content": "NAME = 'A'\n"}))
WEAKENS = tool_calls(("WriteFile", {"path": "test_names.sh", "content": "true\n"}))
BREAKS = tool_calls(("WriteFile", {"path": "names.py", "content": "NAME = 'b'\n"}))
DONE = text_reply("done")
PRICE = ModelPrice(output=10_000)
"""100 output tokens cost a dollar."""


def write_project(work_dir: Path) -> None:
    (work_dir / "names.py").write_text("NAME = 'a'\n")
    (work_dir / "test_names.sh").write_text(TEST)


async def set_goal(client: EngineClient, line: str = "goal sh test_names.sh") -> TurnEnd:
    return await client.run_command(RunSlash(line), TurnEnd)


async def test_a_goal_is_reached_when_the_code_is_fixed(work_dir: Path, data_dir: Path) -> None:
    write_project(work_dir)
    async with session(work_dir, data_dir, BREAKS, DONE, FIXES, DONE) as client:
        end = await set_goal(client)
        prompts = [str(event.user_input) for event in client.all(SteerInput)]
        titles = [notice.title for notice in client.all(Notification)]
    assert end.outcome == "finished"
    assert titles[-1] == "Goal reached: sh test_names.sh passes with the original tests."
    assert len(prompts) == 2
    assert "Make this command pass" in prompts[0]
    assert "still fails" in prompts[1]


async def test_a_weakened_test_is_shown_and_not_a_success(work_dir: Path, data_dir: Path) -> None:
    write_project(work_dir)
    async with session(work_dir, data_dir, WEAKENS, DONE) as client:
        client.command(RunSlash("goal sh test_names.sh"))
        request = await client.next(QuestionRequest)
        shown = client.all(Notification)[-1]
        client.answer(QuestionResponse(request.id, {request.questions[0].question: "Stop"}))
        end = await client.next(TurnEnd)
    assert shown.title == "sh test_names.sh passes only with changes to protected files, such as tests."
    assert f"-{TEST.strip()}" in shown.body
    assert end.outcome == "failed"
    assert end.failure is not None
    assert end.failure.what.startswith("Goal not reached")


async def test_fewer_tests_are_shown_and_not_a_success(work_dir: Path, data_dir: Path) -> None:
    """Code can skip its own tests in ways that no rule for lines knows."""
    (work_dir / "names.py").write_text("NAME = 'a'\n")
    (work_dir / "test_names.sh").write_text(
        f"if {TEST.strip()}; then echo 2 passed; elif grep -q b names.py; then echo 1 passed, 1 skipped;\n"
        "else echo 1 failed, 1 passed; exit 1; fi\n"
    )
    async with session(work_dir, data_dir, BREAKS, DONE) as client:
        client.command(RunSlash("goal sh test_names.sh"))
        request = await client.next(QuestionRequest)
        shown = client.all(Notification)[-1]
        client.answer(QuestionResponse(request.id, {request.questions[0].question: "Stop"}))
        assert (await client.next(TurnEnd)).outcome == "failed"
    assert shown.body == "tests that ran: 1, at the start: 2"
    async with session(work_dir, data_dir, FIXES, DONE) as client:
        (work_dir / "names.py").write_text("NAME = 'a'\n")
        assert (await set_goal(client)).outcome == "finished"


async def test_a_cache_of_pytest_does_not_decide(work_dir: Path, data_dir: Path) -> None:
    (work_dir / "test_names.sh").write_text('case "$PYTEST_ADDOPTS" in *cache_dir=/*) exit 1;; esac\n')
    async with session(work_dir, data_dir, DONE) as client:
        assert (await set_goal(client, "goal --turns 1 sh test_names.sh")).outcome == "limit"


async def test_the_agent_restores_what_the_user_does_not_accept(work_dir: Path, data_dir: Path) -> None:
    write_project(work_dir)
    restores = tool_calls(("WriteFile", {"path": "test_names.sh", "content": TEST}))
    async with session(work_dir, data_dir, FIXES, WEAKENS, DONE, restores, DONE) as client:
        client.command(RunSlash("goal sh test_names.sh"))
        request = await client.next(QuestionRequest)
        answer = request.questions[0].options[1].label
        client.answer(QuestionResponse(request.id, {request.questions[0].question: answer}))
        end = await client.next(TurnEnd)
        shown = [notice.title for notice in client.all(Notification)]
    assert shown[0] == "sh test_names.sh passes, but protected files changed, such as tests."
    assert end.outcome == "finished"


async def test_without_a_user_a_weakened_test_is_a_failure(work_dir: Path, data_dir: Path) -> None:
    write_project(work_dir)
    async with session(work_dir, data_dir, WEAKENS, DONE) as client:
        client.command(RunSlash("goal sh test_names.sh"))
        request = await client.next(QuestionRequest)
        client.answer(QuestionResponse(request.id, {}, unanswerable=True))
        assert (await client.next(TurnEnd)).outcome == "failed"


async def test_the_number_of_turns_is_limited(work_dir: Path, data_dir: Path) -> None:
    write_project(work_dir)
    async with session(work_dir, data_dir, BREAKS, DONE, DONE, DONE) as client:
        end = await set_goal(client, "goal --turns 2 sh test_names.sh")
        assert len(client.all(SteerInput)) == 2
    assert (end.outcome, end.failure and end.failure.what) == (
        "limit",
        "Goal not reached: sh test_names.sh still fails (turns: 2).",
    )


def sleeps() -> str:
    return tool_calls(("Bash", {"command": "sleep 1000"}))


def costs(reply: str) -> str:
    """Return `reply` of a model call that costs a dollar."""
    return f"usage: output=100\n{reply}"


async def test_the_time_is_limited_during_a_turn_whose_command_is_killed(
    work_dir: Path, data_dir: Path
) -> None:
    write_project(work_dir)
    async with session(work_dir, data_dir, sleeps(), DONE) as client:
        end = await set_goal(client, "goal --time 0.01 sh test_names.sh")
    assert (end.outcome, end.failure and end.failure.what) == (
        "limit",
        "Goal not reached: sh test_names.sh still fails after 0.6 s.",
    )


async def test_the_cost_is_limited_during_a_turn(work_dir: Path, data_dir: Path) -> None:
    write_project(work_dir)
    scripts = (costs(BREAKS), costs(sleeps()), costs(FIXES))
    async with session(work_dir, data_dir, *scripts, price=PRICE) as client:
        end = await set_goal(client, "goal --cost 2 sh test_names.sh")
    assert (end.outcome, end.failure and end.failure.what) == (
        "limit",
        "Goal not reached: the cost limit of $2 is reached.",
    )
    assert (work_dir / "names.py").read_text() == "NAME = 'b'\n"


async def test_no_turn_begins_after_the_cost_limit(work_dir: Path, data_dir: Path) -> None:
    write_project(work_dir)
    async with session(work_dir, data_dir, costs(BREAKS), costs(DONE), costs(FIXES), price=PRICE) as client:
        end = await set_goal(client, "goal --cost 2 sh test_names.sh")
        assert len(client.all(SteerInput)) == 1
    assert end.outcome == "limit"


async def test_a_turn_that_reaches_the_goal_and_the_cost_limit_is_a_success(
    work_dir: Path, data_dir: Path
) -> None:
    write_project(work_dir)
    async with session(work_dir, data_dir, costs(FIXES), costs(DONE), price=PRICE) as client:
        end = await set_goal(client, "goal --cost 2 sh test_names.sh")
    assert end.outcome == "finished"


async def test_earlier_turns_do_not_count_toward_the_cost_limit(work_dir: Path, data_dir: Path) -> None:
    write_project(work_dir)
    scripts = (costs(DONE), costs(DONE), costs(FIXES), costs(DONE))
    async with session(work_dir, data_dir, *scripts, price=PRICE) as client:
        await client.ask("first")
        await client.ask("second")
        end = await set_goal(client, "goal --cost 2.5 sh test_names.sh")
    assert end.outcome == "finished"


async def test_a_check_that_already_passes_needs_no_turn(work_dir: Path, data_dir: Path) -> None:
    async with session(work_dir, data_dir) as client:
        end = await set_goal(client, "goal true")
        assert client.all(Notification)[-1].title == "Goal reached: true already passes."
    assert end.outcome == "finished"


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("goal", "/goal requires a command."),
        ("goal --turns x true", "A limit of /goal needs a number."),
        ("goal --speed 3 true", "The limits of /goal are --turns, --time (minutes) and --cost (USD)."),
    ],
)
async def test_invalid_goals_are_reported(work_dir: Path, data_dir: Path, line: str, title: str) -> None:
    async with session(work_dir, data_dir) as client:
        end = await set_goal(client, line)
    assert end.failure is not None
    assert end.failure.what == title
