"""Connecting a model in the app: what there is, the form, what the engine answers, and the banner."""

from dataclasses import replace
from typing import Any

import pytest

from kimi_tui.tui.dialogs.setup import SetupDialog
from kimi_tui.tui.status.banner import Banner
from kimi_tui.wire.setup import (
    ConnectModel,
    LocalModel,
    LocalServer,
    LookForModels,
    ModelConnected,
    ModelService,
    ModelSources,
)
from tests.tui.conftest import SESSION, Desk

DEMO = replace(SESSION, model="demo", model_kind="demo", models=())
SOURCES = ModelSources(
    (
        ModelService("kimi", "https://api.moonshot.cn/v1", "kimi-k2.5", "KIMI_API_KEY"),
        ModelService("openai", "https://api.openai.com/v1", "gpt", "OPENAI_API_KEY", "environment"),
    ),
    (
        LocalServer(
            "Ollama", "http://127.0.0.1:11434/v1", (LocalModel("llama3.2:3b", 131072), LocalModel("通义"))
        ),
    ),
)


async def set_up(desk: Desk) -> SetupDialog:
    await desk.write("/login")
    await desk.pilot.press("enter")
    await desk.until(lambda: desk.told(LookForModels))
    desk.engine.say(SOURCES)
    await desk.until(lambda: "Ollama" in desk.shown())
    assert isinstance(desk.app.screen, SetupDialog)
    return desk.app.screen


async def asked(desk: Desk) -> ConnectModel:
    await desk.until(lambda: desk.told(ConnectModel))
    (wanted,) = desk.told(ConnectModel)
    assert isinstance(wanted, ConnectModel)
    return wanted


async def test_a_key_is_pasted_without_being_shown_and_tried(open_desk: Any) -> None:
    async with open_desk(session=DEMO, size=(80, 24)) as desk:
        await set_up(desk)
        await desk.pilot.press("enter")
        await desk.until(lambda: "paste it here" in desk.shown())
        await desk.write("secret-key")
        assert "secret-key" not in desk.shown()
        await desk.pilot.press("enter")
        wanted = await asked(desk)
        assert (wanted.provider, wanted.api_key, wanted.model) == ("kimi", "secret-key", "kimi-k2.5")
        await desk.until(lambda: "Trying kimi-k2.5" in desk.shown())
        desk.engine.say(ModelConnected(wanted.id, what="The server refused the key.", hint="Copy it anew."))
        await desk.until(lambda: "The server refused the key. Copy it anew." in desk.words())
        await desk.pilot.press("enter")
        await desk.until(lambda: len(desk.told(ConnectModel)) == 2)
        again = desk.told(ConnectModel)[1]
        desk.engine.say(ModelConnected(again.id, "kimi", "kimi-k2.5 answers."))
        await desk.until(lambda: len(desk.app.screen_stack) == 1)
        await desk.until(lambda: "kimi-k2.5 answers." in desk.toasts())
        assert desk.prompt_text == ""


async def test_a_model_of_a_local_server_is_chosen_from_its_list(open_desk: Any) -> None:
    async with open_desk(session=DEMO, size=(80, 24)) as desk:
        await set_up(desk)
        await desk.pilot.press("down", "down", "enter")
        await desk.until(lambda: "131,072 tokens" in desk.shown())
        await desk.pilot.press("down", "enter")
        wanted = await asked(desk)
        assert (wanted.provider, wanted.model, wanted.base_url) == (
            "Ollama",
            "通义",
            "http://127.0.0.1:11434/v1",
        )


async def test_models_that_a_server_turns_out_to_have_are_chosen_from(open_desk: Any) -> None:
    async with open_desk(session=DEMO) as desk:
        await set_up(desk)
        await desk.pilot.press("down", "down", "down", "enter")
        await desk.until(lambda: "Another server" in desk.shown())
        await desk.write("http:")
        await desk.pilot.press("enter")
        wanted = await asked(desk)
        assert (wanted.provider, wanted.base_url, wanted.model) == ("", "http:", "")
        desk.engine.say(ModelConnected(wanted.id, what="Several.", hint="Choose.", choices=("one", "two")))
        await desk.until(lambda: "two" in desk.shown())
        await desk.pilot.press("down", "enter")
        await desk.until(lambda: len(desk.told(ConnectModel)) == 2)
        assert desk.told(ConnectModel)[1].model == "two"


async def test_the_mouse_alone_will_do(open_desk: Any) -> None:
    async with open_desk(session=DEMO) as desk:
        await desk.until(lambda: desk.screen.query_one(Banner).display)
        await desk.pilot.click(Banner, offset=(20, 0))
        await desk.until(lambda: desk.told(LookForModels))
        desk.engine.say(SOURCES)
        await desk.until(lambda: "Ollama" in desk.shown())
        await desk.pilot.click("#setup Choices", offset=(5, 1))
        await desk.until(lambda: "the one in OPENAI_API_KEY" in desk.shown())
        await desk.pilot.click("#setup-try")
        wanted = await asked(desk)
        assert (wanted.provider, wanted.api_key) == ("openai", "")


async def test_the_demo_stays_for_who_wants_it(open_desk: Any) -> None:
    async with open_desk(session=DEMO) as desk:
        await set_up(desk)
        await desk.pilot.press("up", "enter")
        await desk.until(lambda: len(desk.app.screen_stack) == 1)
        assert not desk.told(ConnectModel)


async def test_escape_goes_back_to_the_list_and_then_to_work(open_desk: Any) -> None:
    async with open_desk(session=DEMO) as desk:
        await set_up(desk)
        await desk.pilot.press("enter")
        await desk.until(lambda: "paste it here" in desk.shown())
        await desk.pilot.press("escape")
        await desk.until(lambda: "Ollama" in desk.shown())
        await desk.pilot.press("escape")
        await desk.until(lambda: len(desk.app.screen_stack) == 1)


async def test_a_key_that_is_typed_behind_the_command_is_not_remembered(open_desk: Any) -> None:
    async with open_desk(session=DEMO) as desk:
        await desk.write("/login secret")
        await desk.pilot.press("enter")
        await desk.until(lambda: isinstance(desk.app.screen, SetupDialog))
        await desk.pilot.press("escape")
        await desk.until(lambda: "/login" in desk.screen.prompt.history.entries)
        assert not any("secret" in entry for entry in desk.screen.prompt.history.entries)


@pytest.mark.parametrize(("x", "shown"), [(1, False), (20, True)])
async def test_the_cross_puts_the_banner_away(open_desk: Any, x: int, shown: bool) -> None:
    async with open_desk(session=DEMO) as desk:
        banner = desk.screen.query_one(Banner)
        await desk.until(lambda: banner.display)
        await desk.pilot.click(Banner, offset=(x, 0))
        await desk.pilot.pause()
        assert banner.display is shown
