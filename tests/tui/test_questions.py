"""The model's questions, answered with keys and the mouse."""

from typing import Any

import pytest
from textual import events

from kimi_tui.tui.widgets.choice_list import ChoiceList
from kimi_tui.wire.commands import Interrupt
from kimi_tui.wire.events import RequestClosed, StepBegin, TurnBegin
from kimi_tui.wire.requests import Question, QuestionOption, QuestionRequest, QuestionResponse
from tests.tui.conftest import AppHarness

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


async def ask_questions(harness: AppHarness, *questions: Question) -> None:
    harness.engine.send(TurnBegin("go"), StepBegin(1))
    harness.ask(QuestionRequest("q1", "c1", questions))
    await harness.wait_until(lambda: harness.screen.state.requests)
    await harness.driver.press("f2")
    harness.clock.now += 1
    await harness.driver.pause()


async def assert_answered(harness: AppHarness, **answers: str) -> None:
    await harness.wait_until(lambda: harness.engine.answers)
    assert harness.engine.answers == [QuestionResponse("q1", answers)]
    assert harness.app.focused is harness.screen.prompt.editor


async def test_a_number_answers(open_app: Any) -> None:
    async with open_app() as harness:
        await ask_questions(harness, STORE)
        assert "Where should sessions be kept?" in harness.screen_text()
        assert "2 Postgres" in harness.screen_text()
        assert "one server less" in harness.screen_text()
        await harness.driver.press("2")
        await assert_answered(harness, **{STORE.question: "Postgres"})


async def test_arrows_and_enter_answer(open_app: Any) -> None:
    async with open_app() as harness:
        await ask_questions(harness, STORE)
        await harness.driver.press("down", "enter")
        await assert_answered(harness, **{STORE.question: "Postgres"})


async def test_a_click_answers(open_app: Any) -> None:
    async with open_app() as harness:
        await ask_questions(harness, STORE)
        await harness.driver.click(
            harness.app.screen.query_one("QuestionPanel ChoiceList", ChoiceList), offset=(3, 0)
        )
        await assert_answered(harness, **{STORE.question: "Redis"})


async def test_several_options_can_be_selected(open_app: Any) -> None:
    async with open_app() as harness:
        await ask_questions(harness, CHECKS)
        await harness.driver.press("1", "3", "2", "2")
        await harness.wait_until(
            lambda: "☑ tests" in harness.screen_text() and "☐ types" in harness.screen_text()
        )
        await harness.driver.press("enter")
        await assert_answered(harness, **{CHECKS.question: "lint, tests"})


async def test_a_free_text_answer_can_be_given(open_app: Any) -> None:
    async with open_app() as harness:
        await ask_questions(harness, STORE)
        await harness.driver.press("3")
        await harness.type_text("in memory 2")
        await harness.wait_until(lambda: "in memory 2" in harness.screen_text())
        await harness.driver.press("enter")
        await assert_answered(harness, **{STORE.question: "in memory 2"})


async def test_escape_closes_the_input_and_then_dismisses(open_app: Any) -> None:
    async with open_app() as harness:
        await ask_questions(harness, STORE)
        await harness.driver.press("3", "x", "escape")
        await harness.driver.pause()
        assert harness.engine.answers == []
        await harness.driver.press("escape")
        await assert_answered(harness)
        assert harness.commands_of(Interrupt) == []


async def test_questions_come_one_at_a_time_and_left_returns(open_app: Any) -> None:
    async with open_app() as harness:
        await ask_questions(harness, STORE, CHECKS)
        assert "Storage  Checks" in harness.screen_text()
        await harness.driver.press("1")
        await harness.wait_until(lambda: "✔ Storage  Checks" in harness.screen_text())
        await harness.wait_until(lambda: "Which checks?" in harness.screen_text())
        await harness.driver.press("left")
        await harness.wait_until(lambda: "Where should" in harness.screen_text())
        await harness.driver.press("2")
        await harness.wait_until(lambda: "Which checks?" in harness.screen_text())
        await harness.driver.press("down", "enter")
        await assert_answered(harness, **{STORE.question: "Postgres", CHECKS.question: "types"})


async def test_keys_in_the_first_half_second_are_ignored(open_app: Any) -> None:
    async with open_app() as harness:
        harness.ask(QuestionRequest("q1", "c1", (STORE,)))
        await harness.wait_until(lambda: harness.screen.state.requests)
        await harness.driver.press("f2", "1", "enter", "escape")
        await harness.driver.pause()
        assert harness.engine.answers == []


async def test_a_closed_question_disappears(open_app: Any) -> None:
    async with open_app() as harness:
        await ask_questions(harness, STORE)
        await harness.send(RequestClosed("q1"))
        await harness.wait_until(lambda: "Where should" not in harness.screen_text())
        await harness.wait_until(lambda: harness.app.focused is harness.screen.prompt.editor)


async def test_markup_in_a_question_is_shown_as_text(open_app: Any) -> None:
    async with open_app() as harness:
        await ask_questions(
            harness, Question("[b]Which?[/b]", "[red]H", (QuestionOption("[u]a[/u]"), QuestionOption("b")))
        )
        text = harness.screen_text()
        assert "[b]Which?[/b]" in text
        assert "[red]H" in text
        assert "[u]a[/u]" in text


async def test_a_tab_opens_a_question_by_key_and_by_mouse(open_app: Any) -> None:
    async with open_app() as harness:
        await ask_questions(harness, STORE, CHECKS)
        await harness.driver.press("right")
        await harness.wait_until(lambda: "Which checks?" in harness.screen_text())
        await harness.driver.press("shift+tab")
        await harness.wait_until(lambda: "Where should" in harness.screen_text())
        await harness.driver.click(list(harness.app.screen.query("QuestionPanel Tab"))[1])
        await harness.wait_until(lambda: "Which checks?" in harness.screen_text())
        await harness.driver.press("2", "enter")
        await harness.wait_until(lambda: "Where should" in harness.screen_text())
        await harness.driver.press("1")
        await assert_answered(harness, **{STORE.question: "Redis", CHECKS.question: "types"})


async def test_answers_are_kept_when_returning_to_a_question(open_app: Any) -> None:
    async with open_app() as harness:
        await ask_questions(harness, CHECKS, STORE)
        await harness.driver.press("1", "3", "enter")
        await harness.wait_until(lambda: "Where should" in harness.screen_text())
        await harness.driver.press("left")
        await harness.wait_until(
            lambda: "☑ lint" in harness.screen_text() and "☑ tests" in harness.screen_text()
        )
        await harness.driver.press("1", "enter")
        await harness.wait_until(lambda: "Where should" in harness.screen_text())
        await harness.driver.press("2")
        await assert_answered(harness, **{CHECKS.question: "tests", STORE.question: "Postgres"})


async def test_questions_can_be_answered_with_the_mouse(open_app: Any) -> None:
    async with open_app() as harness:
        await ask_questions(harness, CHECKS, STORE)
        choices = harness.app.screen.query_one("QuestionPanel ChoiceList", ChoiceList)
        await harness.driver.click(choices, offset=(3, 0))
        await harness.driver.click(choices, offset=(3, 2))
        await harness.wait_until(
            lambda: "☑ lint" in harness.screen_text() and "☑ tests" in harness.screen_text()
        )
        await harness.driver.click(choices, offset=(3, 4))
        await harness.wait_until(lambda: "Where should" in harness.screen_text())
        await harness.driver.click(choices, offset=(3, 1))
        await assert_answered(harness, **{CHECKS.question: "lint, tests", STORE.question: "Postgres"})


async def test_the_cross_dismisses(open_app: Any) -> None:
    async with open_app() as harness:
        await ask_questions(harness, STORE)
        await harness.driver.click("#question-close")
        await assert_answered(harness)


async def test_the_click_that_focuses_the_terminal_answers_nothing(open_app: Any) -> None:
    async with open_app() as harness:
        await ask_questions(harness, STORE)
        harness.app.on_app_focus()
        choices = harness.app.screen.query_one("QuestionPanel ChoiceList", ChoiceList)
        await harness.driver.click(choices, offset=(3, 0))
        await harness.driver.pause()
        assert harness.engine.answers == []


async def test_a_free_text_answer_is_added_to_the_selected_options(open_app: Any) -> None:
    async with open_app() as harness:
        await ask_questions(harness, CHECKS)
        await harness.driver.press("1", "4")
        await harness.type_text("mypy")
        await harness.driver.press("enter")
        await assert_answered(harness, **{CHECKS.question: "lint, mypy"})


async def test_a_description_that_does_not_fit_is_shown_below(open_app: Any) -> None:
    description = "Everything is kept in memory only, and none of it survives the end of the program."
    options = (QuestionOption("A", description), QuestionOption("B", "on disk"))
    async with open_app(size=(80, 24)) as harness:
        await ask_questions(harness, Question("Where?", "", options))
        await harness.wait_until(lambda: f"A: {description}" in harness.unwrapped_text().replace("│ ", ""))
        await harness.driver.press("down")
        await harness.wait_until(lambda: "the program" not in harness.unwrapped_text())


async def type_text(harness: AppHarness, text: str) -> None:
    await harness.driver.press(*({" ": "space"}.get(letter, letter) for letter in text))


@pytest.mark.parametrize("text", ["neither of them", "2 of each", "just memory"])
async def test_a_sentence_is_a_free_text_answer(open_app: Any, text: str) -> None:
    async with open_app(letter_pause_s=3600) as harness:
        await ask_questions(harness, STORE)
        await type_text(harness, text)
        await harness.wait_until(lambda: text in harness.screen_text())
        assert harness.engine.answers == []
        await harness.driver.press("enter")
        await assert_answered(harness, **{STORE.question: text})


async def test_a_burst_of_letters_stays_in_order(open_app: Any) -> None:
    async with open_app(letter_pause_s=3600) as harness:
        await ask_questions(harness, STORE)
        for letter in "in a file":
            harness.app.post_message(events.Key("space" if letter == " " else letter, letter))
        await harness.wait_until(lambda: "in a file" in harness.screen_text())
        await harness.driver.press("enter")
        await assert_answered(harness, **{STORE.question: "in a file"})


async def test_a_sentence_that_begins_with_a_number_selects_nothing(open_app: Any) -> None:
    async with open_app(letter_pause_s=3600) as harness:
        await ask_questions(harness, CHECKS)
        await type_text(harness, "12 of them")
        await harness.wait_until(lambda: "12 of them" in harness.screen_text())
        assert "☑" not in harness.screen_text()
        await harness.driver.press("enter")
        await assert_answered(harness, **{CHECKS.question: "12 of them"})


async def test_a_sentence_in_the_first_half_second_goes_to_the_prompt(open_app: Any) -> None:
    async with open_app(letter_pause_s=3600) as harness:
        harness.ask(QuestionRequest("q1", "c1", (STORE,)))
        await harness.wait_until(lambda: harness.screen.state.requests)
        await harness.driver.press("f2", "2", "x")
        await harness.wait_until(lambda: harness.prompt_text == "2x")
        assert harness.engine.answers == []
