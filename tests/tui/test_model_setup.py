"""Model setup dialog: sources, form and results; and the banner that opens it."""

from dataclasses import replace
from typing import Any

import pytest

from kimi_tui.tui.dialogs.model_setup import ModelSetupDialog
from kimi_tui.tui.status.banner import Banner
from kimi_tui.wire.model_setup import (
    CancelConnection,
    ConnectModel,
    FindModels,
    LocalModel,
    LocalServer,
    ModelConnected,
    ModelService,
    ModelSources,
)
from tests.tui.conftest import SESSION, AppHarness

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


async def open_setup_dialog(harness: AppHarness) -> ModelSetupDialog:
    await harness.type_text("/login")
    await harness.driver.press("enter")
    await harness.wait_until(lambda: harness.commands_of(FindModels))
    harness.engine.send(SOURCES)
    await harness.wait_until(lambda: "Ollama" in harness.screen_text())
    assert isinstance(harness.app.screen, ModelSetupDialog)
    return harness.app.screen


async def wait_for_connect_command(harness: AppHarness) -> ConnectModel:
    await harness.wait_until(lambda: harness.commands_of(ConnectModel))
    (command,) = harness.commands_of(ConnectModel)
    assert isinstance(command, ConnectModel)
    return command


async def test_a_pasted_key_is_hidden_and_tested(open_app: Any) -> None:
    async with open_app(session=DEMO, size=(80, 24)) as harness:
        await open_setup_dialog(harness)
        await harness.driver.press("enter")
        await harness.wait_until(lambda: "paste your key" in harness.screen_text())
        await harness.type_text("secret-key")
        assert "secret-key" not in harness.screen_text()
        await harness.driver.press("enter")
        command = await wait_for_connect_command(harness)
        assert (command.provider, command.api_key, command.model) == ("kimi", "secret-key", "kimi-k2.5")
        await harness.wait_until(lambda: "Testing kimi-k2.5" in harness.screen_text())
        harness.engine.send(
            ModelConnected(command.id, what="The server rejected the key.", hint="Copy it again.")
        )
        await harness.wait_until(
            lambda: "The server rejected the key. Copy it again." in harness.unwrapped_text()
        )
        await harness.driver.press("enter")
        await harness.wait_until(lambda: len(harness.commands_of(ConnectModel)) == 2)
        retry = harness.commands_of(ConnectModel)[1]
        harness.engine.send(ModelConnected(retry.id, "kimi", "kimi-k2.5 responds."))
        await harness.wait_until(lambda: len(harness.app.screen_stack) == 1)
        await harness.wait_until(lambda: "kimi-k2.5 responds." in harness.toast_text())
        assert harness.prompt_text == ""


async def test_a_model_of_a_local_server_is_chosen_from_its_list(open_app: Any) -> None:
    async with open_app(session=DEMO, size=(80, 24)) as harness:
        await open_setup_dialog(harness)
        await harness.driver.press("down", "down", "enter")
        await harness.wait_until(lambda: "131,072 tokens" in harness.screen_text())
        await harness.driver.press("down", "enter")
        command = await wait_for_connect_command(harness)
        assert (command.provider, command.model, command.base_url) == (
            "Ollama",
            "通义",
            "http://127.0.0.1:11434/v1",
        )


async def test_the_user_chooses_from_the_models_that_a_server_reports(open_app: Any) -> None:
    async with open_app(session=DEMO) as harness:
        await open_setup_dialog(harness)
        await harness.driver.press("down", "down", "down", "enter")
        await harness.wait_until(lambda: "Other server" in harness.screen_text())
        await harness.type_text("http:")
        await harness.driver.press("enter")
        command = await wait_for_connect_command(harness)
        assert (command.provider, command.base_url, command.model) == ("", "http:", "")
        harness.engine.send(
            ModelConnected(command.id, what="Several.", hint="Choose.", choices=("one", "two"))
        )
        await harness.wait_until(lambda: "two" in harness.screen_text())
        await harness.driver.press("down", "enter")
        await harness.wait_until(lambda: len(harness.commands_of(ConnectModel)) == 2)
        assert harness.commands_of(ConnectModel)[1].model == "two"


async def test_a_model_can_be_connected_with_the_mouse_only(open_app: Any) -> None:
    async with open_app(session=DEMO) as harness:
        await harness.wait_until(lambda: harness.screen.query_one(Banner).display)
        await harness.driver.click(Banner, offset=(20, 0))
        await harness.wait_until(lambda: harness.commands_of(FindModels))
        harness.engine.send(SOURCES)
        await harness.wait_until(lambda: "Ollama" in harness.screen_text())
        await harness.driver.click("#setup ChoiceList", offset=(5, 1))
        await harness.wait_until(lambda: "leave empty to use OPENAI_API_KEY" in harness.screen_text())
        await harness.driver.click("#setup-try")
        command = await wait_for_connect_command(harness)
        assert (command.provider, command.api_key) == ("openai", "")


async def test_the_user_can_continue_with_the_demo(open_app: Any) -> None:
    async with open_app(session=DEMO) as harness:
        await open_setup_dialog(harness)
        await harness.driver.press("up", "enter")
        await harness.wait_until(lambda: len(harness.app.screen_stack) == 1)
        assert not harness.commands_of(ConnectModel)


async def test_escape_cancels_the_attempt_that_is_tested(open_app: Any) -> None:
    async with open_app(session=DEMO) as harness:
        await open_setup_dialog(harness)
        await harness.driver.press("enter")
        await harness.wait_until(lambda: "paste your key" in harness.screen_text())
        await harness.type_text("secret-key")
        await harness.driver.press("enter")
        command = await wait_for_connect_command(harness)
        await harness.driver.press("escape")
        await harness.wait_until(lambda: harness.commands_of(CancelConnection))
        assert harness.commands_of(CancelConnection) == [CancelConnection(command.id)]
        await harness.driver.press("escape")
        await harness.wait_until(lambda: len(harness.app.screen_stack) == 1)
        assert len(harness.commands_of(CancelConnection)) == 1


async def test_a_service_can_be_named_with_the_command_but_not_with_its_key(open_app: Any) -> None:
    async with open_app(session=DEMO) as harness:
        await harness.type_text("/login kimi")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: harness.commands_of(FindModels))
        harness.engine.send(SOURCES)
        await harness.wait_until(lambda: "https://api.moonshot.cn/v1" in harness.screen_text())
        await harness.type_text("key")
        await harness.driver.press("escape", "escape")
        await harness.wait_until(lambda: len(harness.app.screen_stack) == 1)
        await harness.type_text("/login sk-12345")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: isinstance(harness.app.screen, ModelSetupDialog))
        await harness.wait_until(lambda: "Ollama" in harness.screen_text())
        assert "sk-12345" not in harness.screen_text()


async def test_a_rejected_key_of_a_server_gets_the_focus(open_app: Any) -> None:
    async with open_app(session=DEMO, size=(80, 24)) as harness:
        dialog = await open_setup_dialog(harness)
        await harness.driver.press("up", "up", "enter")
        await harness.wait_until(lambda: "leave empty if not required" in harness.screen_text())
        await harness.type_text("http://localhost:9/v1")
        await harness.driver.press("tab")
        await harness.type_text("key")
        await harness.driver.press("enter")
        command = await wait_for_connect_command(harness)
        harness.engine.send(ModelConnected(command.id, what="The server rejected the API key."))
        await harness.wait_until(lambda: "rejected the API key" in harness.screen_text())
        assert harness.app.focused is dialog.key_field


async def test_escape_returns_to_the_list_and_then_closes_the_dialog(open_app: Any) -> None:
    async with open_app(session=DEMO) as harness:
        await open_setup_dialog(harness)
        await harness.driver.press("enter")
        await harness.wait_until(lambda: "paste your key" in harness.screen_text())
        await harness.driver.press("escape")
        await harness.wait_until(lambda: "Ollama" in harness.screen_text())
        await harness.driver.press("escape")
        await harness.wait_until(lambda: len(harness.app.screen_stack) == 1)


async def test_a_key_typed_after_the_command_is_not_stored_in_the_history(open_app: Any) -> None:
    async with open_app(session=DEMO) as harness:
        await harness.type_text("/login secret")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: isinstance(harness.app.screen, ModelSetupDialog))
        await harness.driver.press("escape")
        await harness.wait_until(lambda: "/login" in harness.screen.prompt.history.entries)
        assert not any("secret" in entry for entry in harness.screen.prompt.history.entries)


@pytest.mark.parametrize(("x", "is_shown"), [(1, False), (20, True)])
async def test_a_click_on_the_cross_closes_the_banner(open_app: Any, x: int, is_shown: bool) -> None:
    async with open_app(session=DEMO) as harness:
        banner = harness.screen.query_one(Banner)
        await harness.wait_until(lambda: banner.display)
        await harness.driver.click(Banner, offset=(x, 0))
        await harness.driver.pause()
        assert banner.display is is_shown
