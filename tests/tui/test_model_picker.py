"""Model picker: details of the models, and the thinking level of the highlighted one."""

from dataclasses import replace
from typing import Any

from kimi_tui.tui.dialogs.models import ModelPicker
from kimi_tui.wire.commands import SetModel, SetThinking
from tests.tui.conftest import SESSION, AppHarness


async def open_picker(harness: AppHarness) -> None:
    await harness.type_text("/model")
    await harness.driver.press("enter")
    await harness.wait_until(lambda: isinstance(harness.app.screen, ModelPicker))


async def test_the_picker_shows_provider_context_price_and_features(open_app: Any) -> None:
    async with open_app(size=(80, 24)) as harness:
        await open_picker(harness)
        await harness.wait_until(lambda: "anthropic" in harness.screen_text())
        lines = [" ".join(line.split()) for line in harness.screen_text().splitlines()]
        assert any("kimi-k2 kimi 262k $0.6/$2.5 thinking in use" in line for line in lines)
        assert any("opus anthropic 200k vision, thinking" in line for line in lines)
        assert any("thinking: ● off ○ on" in line for line in lines)


async def test_a_display_name_replaces_the_name_in_the_header_and_the_picker(open_app: Any) -> None:
    first, *others = SESSION.model_details
    named = replace(SESSION, model_details=(replace(first, display_name="Kimi for code"), *others))
    async with open_app() as harness:
        harness.engine.send(named)
        await harness.wait_until(lambda: "Kimi for code" in harness.screen_text().splitlines()[0])
        await open_picker(harness)
        await harness.wait_until(lambda: harness.screen_text().count("Kimi for code") == 2)


async def test_alt_p_opens_the_picker_and_keeps_the_prompt(open_app: Any) -> None:
    async with open_app(size=(80, 24)) as harness:
        await harness.type_text("half a")
        await harness.driver.press("alt+p")
        await harness.wait_until(lambda: isinstance(harness.app.screen, ModelPicker))
        await harness.driver.press("down", "enter")
        await harness.wait_until(lambda: harness.commands_of(SetModel) == [SetModel("opus")])
        assert harness.screen.prompt.editor.text == "half a"


async def test_a_model_and_its_level_are_chosen_with_keys(open_app: Any) -> None:
    async with open_app(size=(80, 24)) as harness:
        await open_picker(harness)
        await harness.driver.press("down", "right", "right")
        await harness.wait_until(lambda: "● medium" in harness.screen_text())
        await harness.driver.press("enter")
        await harness.wait_until(lambda: harness.commands_of(SetThinking))
        assert harness.commands_of(SetModel) == [SetModel("opus")]
        assert harness.commands_of(SetThinking) == [SetThinking(True, "medium")]


async def test_a_level_and_a_model_are_chosen_with_the_mouse(open_app: Any) -> None:
    async with open_app(size=(80, 24)) as harness:
        await open_picker(harness)
        await harness.driver.press("down")
        await harness.wait_until(lambda: "○ high" in harness.screen_text())
        row = harness.app.screen.query_one("#model-levels").region
        line = harness.screen_text().splitlines()[row.y]
        await harness.driver.click(offset=(line.index("○ high") + 2, row.y))
        await harness.wait_until(lambda: "● high" in harness.screen_text())
        await harness.driver.click("ChoiceList", offset=(5, 1))
        await harness.wait_until(lambda: harness.commands_of(SetThinking))
        assert harness.commands_of(SetModel) == [SetModel("opus")]
        assert harness.commands_of(SetThinking) == [SetThinking(True, "high")]


async def test_a_level_that_was_not_changed_is_not_set(open_app: Any) -> None:
    async with open_app() as harness:
        await open_picker(harness)
        await harness.driver.press("down", "enter")
        await harness.wait_until(lambda: harness.commands_of(SetModel))
        assert harness.commands_of(SetThinking) == []


async def test_the_header_shows_the_level(open_app: Any) -> None:
    session = replace(SESSION, thinking=True, thinking_effort="medium")
    async with open_app(session=session) as harness:
        await harness.wait_until(lambda: "thinking: medium" in harness.screen_text())
