"""/ps in linear mode."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from kimi_tui.linear.command_context import SessionSwitch
from kimi_tui.wire.events import ApprovalResponse
from kimi_tui.wire.requests import QuestionRequest, QuestionResponse
from kimi_tui.wire.running_session import encode_request
from tests.tui.test_running_sessions import QUESTIONS, WORKING, PlayedRunningSessions, running


async def test_a_session_is_answered_stopped_and_opened_by_number(open_linear_app: Any) -> None:
    service = PlayedRunningSessions()
    async with open_linear_app(running_sessions=service) as driver:
        driver.lines.type("/ps", "2", "1", "1")
        await driver.wait_until(lambda: service.answers)
        assert service.answers == [("a1", ApprovalResponse("r1", "approve"))]
        assert (
            "2. ship it, awaiting approval, 5 s, $0.25 today, /work/shop, I will deploy now."
            in driver.lines.text
        )
        assert "make deploy" in driver.lines.text
        driver.lines.type("/ps", "2", "2")
        await driver.wait_until(lambda: service.stopped)
        assert service.stopped == ["a1"]
        driver.lines.type("/ps", "1", "1")
        assert driver.run_task is not None
        assert await driver.run_task == SessionSwitch("w1", work_dir=Path(WORKING.work_dir))


async def test_questions_of_another_session_are_answered(open_linear_app: Any) -> None:
    asking = running("a1", state="awaiting approval", requests=(encode_request(QUESTIONS),))
    service = PlayedRunningSessions((asking,))
    async with open_linear_app(running_sessions=service) as driver:
        driver.lines.type("/ps", "1", "1", "2", "1")
        await driver.wait_until(lambda: service.answers)
        answers = {"Which color?": "blue", "Which size?": "small"}
        assert service.answers == [("a1", QuestionResponse("q1", answers))]


async def test_several_options_are_chosen_by_their_numbers(open_linear_app: Any) -> None:
    several = QuestionRequest("q1", "c2", (replace(QUESTIONS.questions[0], multi_select=True),))
    asking = running("a1", state="awaiting approval", requests=(encode_request(several),))
    service = PlayedRunningSessions((asking,))
    async with open_linear_app(running_sessions=service) as driver:
        driver.lines.type("/ps", "1", "1", "2, 1")
        await driver.wait_until(lambda: service.answers)
        assert service.answers == [("a1", QuestionResponse("q1", {"Which color?": "blue, red"}))]


async def test_without_an_engine_sessions_are_only_listed(open_linear_app: Any) -> None:
    other = running("o1", title="elsewhere", state="open", is_resident=False)
    async with open_linear_app(
        running_sessions=PlayedRunningSessions((other,), is_engine_running=False)
    ) as driver:
        driver.lines.type("/ps", "1")
        await driver.wait_until(lambda: "Another process has this session open" in driver.lines.text)
        assert "kimi-tui --resident" in driver.lines.text


async def test_sessions_on_no_screen_are_reported_between_the_lines(open_linear_app: Any) -> None:
    service = PlayedRunningSessions()
    async with open_linear_app(running_sessions=service) as driver:
        service.changes.put_nowait((WORKING,))
        service.changes.put_nowait((replace(WORKING, state="failed"),))
        await driver.wait_until(lambda: "写测试 (door) has failed." in driver.lines.text)
