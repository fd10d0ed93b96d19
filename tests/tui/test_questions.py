"""Questions of the model, answered by key and by mouse."""

from typing import Any

import pytest
from textual import events

from kimi_tui.tui.choices import Choices
from kimi_tui.wire.commands import Interrupt
from kimi_tui.wire.events import RequestClosed, StepBegin, TurnBegin
from kimi_tui.wire.requests import Question, QuestionOption, QuestionRequest, QuestionResponse
from tests.tui.conftest import Desk

STORE = Question(
    "Where should sessions be kept?",
    "Storage",
    (QuestionOption("Redis", "fast"), QuestionOption("Postgres", "one server less")),
)
CHECKS = Question(
    "Which checks?",
    "Checks",
    (QuestionOption("lint"), QuestionOption("types"), QuestionOption("tests")),
    True,
)


async def asked(desk: Desk, *questions: Question) -> None:
    desk.engine.say(TurnBegin("go"), StepBegin(1))
    desk.ask(QuestionRequest("q1", "c1", questions))
    await desk.until(lambda: desk.screen.state.requests)
    await desk.pilot.press("f2")
    desk.clock.now += 1
    await desk.pilot.pause()


async def answered(desk: Desk, **answers: str) -> None:
    await desk.until(lambda: desk.engine.answers)
    assert desk.engine.answers == [QuestionResponse("q1", answers)]
    assert desk.app.focused is desk.screen.prompt.editor


async def test_a_number_answers(open_desk: Any) -> None:
    async with open_desk() as desk:
        await asked(desk, STORE)
        assert "Where should sessions be kept?" in desk.shown()
        assert "2 Postgres" in desk.shown()
        assert "one server less" in desk.shown()
        await desk.pilot.press("2")
        await answered(desk, **{STORE.question: "Postgres"})


async def test_the_mark_and_enter_answer(open_desk: Any) -> None:
    async with open_desk() as desk:
        await asked(desk, STORE)
        await desk.pilot.press("down", "enter")
        await answered(desk, **{STORE.question: "Postgres"})


async def test_a_click_answers(open_desk: Any) -> None:
    async with open_desk() as desk:
        await asked(desk, STORE)
        await desk.pilot.click(desk.app.screen.query_one("QuestionPanel Choices", Choices), offset=(3, 0))
        await answered(desk, **{STORE.question: "Redis"})


async def test_several_can_be_ticked(open_desk: Any) -> None:
    async with open_desk() as desk:
        await asked(desk, CHECKS)
        await desk.pilot.press("1", "3", "2", "2")
        await desk.until(lambda: "☑ tests" in desk.shown() and "☐ types" in desk.shown())
        await desk.pilot.press("enter")
        await answered(desk, **{CHECKS.question: "lint, tests"})


async def test_an_own_answer_can_be_written(open_desk: Any) -> None:
    async with open_desk() as desk:
        await asked(desk, STORE)
        await desk.pilot.press("3")
        await desk.write("in memory 2")
        await desk.until(lambda: "in memory 2" in desk.shown())
        await desk.pilot.press("enter")
        await answered(desk, **{STORE.question: "in memory 2"})


async def test_escape_leaves_the_own_answer_and_then_answers_nothing(open_desk: Any) -> None:
    async with open_desk() as desk:
        await asked(desk, STORE)
        await desk.pilot.press("3", "x", "escape")
        await desk.pilot.pause()
        assert desk.engine.answers == []
        await desk.pilot.press("escape")
        await answered(desk)
        assert desk.told(Interrupt) == []


async def test_questions_come_one_after_the_other_and_one_can_go_back(open_desk: Any) -> None:
    async with open_desk() as desk:
        await asked(desk, STORE, CHECKS)
        assert "Storage  Checks" in desk.shown()
        await desk.pilot.press("1")
        await desk.until(lambda: "✔ Storage  Checks" in desk.shown())
        await desk.until(lambda: "Which checks?" in desk.shown())
        await desk.pilot.press("left")
        await desk.until(lambda: "Where should" in desk.shown())
        await desk.pilot.press("2")
        await desk.until(lambda: "Which checks?" in desk.shown())
        await desk.pilot.press("down", "enter")
        await answered(desk, **{STORE.question: "Postgres", CHECKS.question: "types"})


async def test_keys_of_the_first_half_second_answer_nothing(open_desk: Any) -> None:
    async with open_desk() as desk:
        desk.ask(QuestionRequest("q1", "c1", (STORE,)))
        await desk.until(lambda: desk.screen.state.requests)
        await desk.pilot.press("f2", "1", "enter", "escape")
        await desk.pilot.pause()
        assert desk.engine.answers == []


async def test_a_question_that_was_closed_disappears(open_desk: Any) -> None:
    async with open_desk() as desk:
        await asked(desk, STORE)
        await desk.say(RequestClosed("q1"))
        await desk.until(lambda: "Where should" not in desk.shown())
        await desk.until(lambda: desk.app.focused is desk.screen.prompt.editor)


async def test_markup_in_a_question_is_text(open_desk: Any) -> None:
    async with open_desk() as desk:
        await asked(
            desk, Question("[b]Which?[/b]", "[red]H", (QuestionOption("[u]a[/u]"), QuestionOption("b")))
        )
        text = desk.shown()
        assert "[b]Which?[/b]" in text
        assert "[red]H" in text
        assert "[u]a[/u]" in text


async def test_a_tab_opens_a_question_by_key_and_by_mouse(open_desk: Any) -> None:
    async with open_desk() as desk:
        await asked(desk, STORE, CHECKS)
        await desk.pilot.press("right")
        await desk.until(lambda: "Which checks?" in desk.shown())
        await desk.pilot.press("shift+tab")
        await desk.until(lambda: "Where should" in desk.shown())
        await desk.pilot.click(list(desk.app.screen.query("QuestionPanel Tab"))[1])
        await desk.until(lambda: "Which checks?" in desk.shown())
        await desk.pilot.press("2", "enter")
        await desk.until(lambda: "Where should" in desk.shown())
        await desk.pilot.press("1")
        await answered(desk, **{STORE.question: "Redis", CHECKS.question: "types"})


async def test_what_was_answered_is_kept_when_one_goes_back(open_desk: Any) -> None:
    async with open_desk() as desk:
        await asked(desk, CHECKS, STORE)
        await desk.pilot.press("1", "3", "enter")
        await desk.until(lambda: "Where should" in desk.shown())
        await desk.pilot.press("left")
        await desk.until(lambda: "☑ lint" in desk.shown() and "☑ tests" in desk.shown())
        await desk.pilot.press("1", "enter")
        await desk.until(lambda: "Where should" in desk.shown())
        await desk.pilot.press("2")
        await answered(desk, **{CHECKS.question: "tests", STORE.question: "Postgres"})


async def test_everything_can_be_done_by_mouse(open_desk: Any) -> None:
    async with open_desk() as desk:
        await asked(desk, CHECKS, STORE)
        choices = desk.app.screen.query_one("QuestionPanel Choices", Choices)
        await desk.pilot.click(choices, offset=(3, 0))
        await desk.pilot.click(choices, offset=(3, 2))
        await desk.until(lambda: "☑ lint" in desk.shown() and "☑ tests" in desk.shown())
        await desk.pilot.click(choices, offset=(3, 4))
        await desk.until(lambda: "Where should" in desk.shown())
        await desk.pilot.click(choices, offset=(3, 1))
        await answered(desk, **{CHECKS.question: "lint, tests", STORE.question: "Postgres"})


async def test_the_cross_answers_nothing(open_desk: Any) -> None:
    async with open_desk() as desk:
        await asked(desk, STORE)
        await desk.pilot.click("#question-close")
        await answered(desk)


async def test_the_click_that_brings_the_terminal_back_answers_nothing(open_desk: Any) -> None:
    async with open_desk() as desk:
        await asked(desk, STORE)
        desk.screen.terminal_focused()
        choices = desk.app.screen.query_one("QuestionPanel Choices", Choices)
        await desk.pilot.click(choices, offset=(3, 0))
        await desk.pilot.pause()
        assert desk.engine.answers == []


async def test_an_own_answer_joins_what_is_ticked(open_desk: Any) -> None:
    async with open_desk() as desk:
        await asked(desk, CHECKS)
        await desk.pilot.press("1", "4")
        await desk.write("mypy")
        await desk.pilot.press("enter")
        await answered(desk, **{CHECKS.question: "lint, mypy"})


async def test_a_description_without_room_on_its_line_stands_below(open_desk: Any) -> None:
    told = "everything is kept in memory, and nothing of it survives the end of the program, whatever happens"
    options = (QuestionOption("A", told), QuestionOption("B", "on disk"))
    async with open_desk(size=(80, 24)) as desk:
        await asked(desk, Question("Where?", "", options))
        await desk.until(lambda: f"A: {told}" in desk.words().replace("│ ", ""))
        await desk.pilot.press("down")
        await desk.until(lambda: "survives" not in desk.words())


async def typed(desk: Desk, text: str) -> None:
    await desk.pilot.press(*({" ": "space"}.get(letter, letter) for letter in text))


@pytest.mark.parametrize("text", ["neither of them", "2 of each", "just memory"])
async def test_a_sentence_is_an_own_answer(open_desk: Any, text: str) -> None:
    async with open_desk(letter_pause_s=3600) as desk:
        await asked(desk, STORE)
        await typed(desk, text)
        await desk.until(lambda: text in desk.shown())
        assert desk.engine.answers == []
        await desk.pilot.press("enter")
        await answered(desk, **{STORE.question: text})


async def test_an_own_answer_that_comes_in_one_burst_stays_in_order(open_desk: Any) -> None:
    async with open_desk(letter_pause_s=3600) as desk:
        await asked(desk, STORE)
        for letter in "in a file":
            desk.app.post_message(events.Key("space" if letter == " " else letter, letter))
        await desk.until(lambda: "in a file" in desk.shown())
        await desk.pilot.press("enter")
        await answered(desk, **{STORE.question: "in a file"})


async def test_a_sentence_that_begins_with_a_number_ticks_nothing(open_desk: Any) -> None:
    async with open_desk(letter_pause_s=3600) as desk:
        await asked(desk, CHECKS)
        await typed(desk, "12 of them")
        await desk.until(lambda: "12 of them" in desk.shown())
        assert "☑" not in desk.shown()
        await desk.pilot.press("enter")
        await answered(desk, **{CHECKS.question: "12 of them"})


async def test_a_sentence_of_the_first_half_second_goes_to_the_prompt(open_desk: Any) -> None:
    async with open_desk(letter_pause_s=3600) as desk:
        desk.ask(QuestionRequest("q1", "c1", (STORE,)))
        await desk.until(lambda: desk.screen.state.requests)
        await desk.pilot.press("f2", "2", "x")
        await desk.until(lambda: desk.prompt_text == "2x")
        assert desk.engine.answers == []
