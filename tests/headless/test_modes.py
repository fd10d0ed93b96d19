"""Plans, questions, side questions and app commands in print mode."""

import json
from dataclasses import replace
from typing import Any

import pytest

from kimi_tui.base.content_parts import TextPart
from kimi_tui.wire.commands import Prompt, RunSlash, Shutdown
from kimi_tui.wire.events import BtwBegin, BtwEnd, Notification, PlanDisplay, SlashCommandInfo, StepBegin
from kimi_tui.wire.requests import Question, QuestionOption, QuestionRequest, QuestionResponse
from tests.headless.conftest import SESSION, PrintRun

PLAN = PlanDisplay("1. Fix it\n", "/data/plans/s-1.md")
QUESTIONS = QuestionRequest("q1", "c1", (Question("Which?", "", (QuestionOption("a"), QuestionOption("b"))),))
SESSION_WITH_BTW = replace(SESSION, slash_commands=(SlashCommandInfo("btw", "Ask", ()),))


async def test_a_plan_is_printed_even_with_final_only() -> None:
    run = PrintRun()
    await run.play(
        [StepBegin(1), PLAN, StepBegin(2), TextPart("That is it.")],
        prompt="plan",
        final_only=True,
    )
    assert run.stdout.text == "1. Fix it\nThat is it.\n"
    assert run.exit_code == 0


async def test_the_result_contains_the_plan() -> None:
    run = PrintRun()
    await run.play([StepBegin(1), PLAN, TextPart("ok")], prompt="x", output_format="json")
    (result,) = run.stdout.objects
    assert result["plan"] == {"content": "1. Fix it\n", "file_path": "/data/plans/s-1.md"}


async def test_questions_are_answered_as_unanswerable() -> None:
    run = PrintRun()
    await run.play([StepBegin(1), QUESTIONS, TextPart("ok")], prompt="x")
    assert run.engine is not None
    assert run.engine.answers == [QuestionResponse("q1", {}, unanswerable=True)]
    assert run.exit_code == 0


async def side_question(output_format: Any, end: BtwEnd | Notification) -> PrintRun:
    run = PrintRun()
    begin = BtwBegin("b1", "what?")
    await run.play(
        [begin, end], prompt="/btw what?", output_format=output_format, opening=(SESSION_WITH_BTW,)
    )
    assert run.engine is not None
    assert run.engine.commands[0] == RunSlash("btw what?")
    return run


async def test_the_response_to_a_side_question_is_awaited_and_printed() -> None:
    run = await side_question("text", BtwEnd("b1", response="it is 42"))
    assert (run.stdout.text, run.exit_code) == ("it is 42\n", 0)
    run = await side_question("json", BtwEnd("b1", response="it is 42"))
    assert json.loads(run.stdout.text)["result"] == "it is 42"
    run = await side_question("stream-json", BtwEnd("b1", response="it is 42"))
    assert {"role": "assistant", "content": "it is 42"} in run.stdout.objects


async def test_a_failed_side_question_fails_the_run() -> None:
    run = await side_question("text", BtwEnd("b1", error="The key is wrong."))
    assert (run.stdout.text, run.exit_code) == ("", 1)
    assert "The key is wrong." in run.stderr.text
    problem = Notification(
        "n", "c", "t", "k", "i", "/btw requires a question.", "Type /btw QUESTION.", "error"
    )
    run = await side_question("text", problem)
    assert run.exit_code == 1


@pytest.mark.parametrize(
    ("prompt", "alternative"), [("/model opus", "--model"), ("/yolo", "--yolo"), ("/resume", "--session")]
)
async def test_an_app_command_is_rejected_with_its_alternative(prompt: str, alternative: str) -> None:
    run = PrintRun()
    await run.play(prompt=prompt)
    assert run.engine is not None
    assert run.engine.commands == [Shutdown()]
    assert run.exit_code == 2
    assert "is only available in the app" in run.stderr.text
    assert alternative in run.stderr.text


@pytest.mark.parametrize("prompt", ["/usr/bin/foo is broken", "/login returns 500", "/tmp", "/unknown x"])
async def test_text_that_starts_like_a_command_is_sent(prompt: str) -> None:
    run = PrintRun()
    await run.play([TextPart("ok")], prompt=prompt)
    assert run.engine is not None
    assert run.engine.commands[0] == Prompt(prompt)
    assert run.exit_code == 0


async def test_a_custom_command_can_have_the_name_of_an_app_command() -> None:
    run = PrintRun()
    session = replace(SESSION, slash_commands=(SlashCommandInfo("model", "Draw a model", ()),))
    await run.play([], prompt="/model house", opening=(session,))
    assert run.engine is not None
    assert run.engine.commands[0] == RunSlash("model house")
