"""Keys without a prefix for what was used last: the last prompt, the last model and the last session."""

from dataclasses import replace
from typing import Any

from kimi_tui.tui.dialogs.models import ModelPicker
from kimi_tui.tui.dialogs.sessions import SessionsDialog
from kimi_tui.tui.review.review_screen import ReviewScreen
from kimi_tui.tui.widgets.choice_list import ChoiceList
from kimi_tui.wire.commands import ListSessions, PlanRevert, Revert, SetModel, ShowTimeline
from kimi_tui.wire.review import ReviewChanges
from kimi_tui.wire.timeline import Timeline
from tests.tui.conftest import SESSION
from tests.tui.test_sessions import SESSION_LIST
from tests.tui.timeline.sample_review import REVIEW
from tests.tui.timeline.sample_timeline import MESSAGES, PLAN, TIMELINE
from tests.tui.timeline.test_pane import toast_contains


async def test_alt_u_and_enter_revert_the_last_prompt_and_keep_the_text_in_the_prompt(open_app: Any) -> None:
    async with open_app(size=(80, 24)) as harness:
        await harness.send(*MESSAGES)
        await harness.type_text("half a")
        await harness.driver.press("alt+u")
        await harness.wait_until(lambda: harness.commands_of(ShowTimeline))
        harness.engine.send(TIMELINE)
        await harness.wait_until(lambda: harness.commands_of(PlanRevert))
        assert harness.commands_of(PlanRevert) == [PlanRevert(9)]
        harness.engine.send(PLAN)
        await harness.wait_until(lambda: "src/auth.py" in harness.screen_text())
        await harness.driver.press("enter")
        await harness.wait_until(lambda: harness.commands_of(Revert))
        assert harness.screen.prompt.editor.text == "half a"


async def test_without_a_prompt_alt_u_says_so(open_app: Any) -> None:
    async with open_app(size=(80, 24)) as harness:
        await harness.driver.press("alt+u")
        await harness.wait_until(lambda: harness.commands_of(ShowTimeline))
        harness.engine.send(Timeline((), (), ""))
        await harness.wait_until(lambda: toast_contains(harness, "No prompt to revert yet."))


async def test_alt_s_and_enter_resume_the_last_session(open_app: Any) -> None:
    async with open_app(size=(80, 24)) as harness:
        await harness.send(replace(SESSION, session_id="new"))
        await harness.driver.press("alt+s")
        await harness.wait_until(lambda: isinstance(harness.app.screen, SessionsDialog))
        await harness.wait_until(lambda: harness.commands_of(ListSessions))
        harness.engine.send(SESSION_LIST)
        await harness.wait_until(lambda: "blue door" in harness.screen_text())
        last = SESSION_LIST.sessions[0]
        assert harness.app.screen.query_one(ChoiceList).choice.value == last.id


async def test_alt_r_reviews_the_changes_since_the_last_review(open_app: Any) -> None:
    async with open_app(size=(80, 24)) as harness:
        await harness.send(*MESSAGES)
        await harness.type_text("half a")
        await harness.driver.press("alt+r")
        await harness.wait_until(lambda: harness.commands_of(ShowTimeline))
        harness.engine.send(TIMELINE)
        await harness.wait_until(lambda: harness.commands_of(ReviewChanges))
        harness.engine.send(REVIEW)
        await harness.wait_until(lambda: isinstance(harness.app.screen, ReviewScreen))
        await harness.driver.press("escape")
        await harness.wait_until(lambda: harness.app.screen is harness.screen)
        assert harness.screen.prompt.editor.text == "half a"


async def test_alt_m_switches_between_two_models(open_app: Any) -> None:
    async with open_app(size=(80, 24)) as harness:
        await harness.driver.press("alt+m")
        await harness.wait_until(lambda: harness.commands_of(SetModel) == [SetModel("opus")])
        await harness.send(replace(SESSION, model="opus"))
        await harness.driver.press("alt+m")
        await harness.wait_until(lambda: harness.commands_of(SetModel)[1:] == [SetModel("kimi-k2")])


async def test_of_three_models_alt_m_uses_the_last_one_or_opens_the_picker(
    open_app: Any,
) -> None:
    three = replace(SESSION, models=("kimi-k2", "opus", "mini"))
    async with open_app(size=(80, 24)) as harness:
        await harness.send(three)
        await harness.driver.press("alt+m")
        await harness.wait_until(lambda: isinstance(harness.app.screen, ModelPicker))
        await harness.driver.press("escape")
        await harness.send(replace(three, model="mini"), replace(three, model="opus"))
        await harness.driver.press("alt+m")
        await harness.wait_until(lambda: harness.commands_of(SetModel) == [SetModel("mini")])
        assert toast_contains(harness, "Model: mini")
