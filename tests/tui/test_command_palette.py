"""Command palette and the prompt's menu of commands in the app."""

from typing import Any

from kimi_tui.tui.dialogs.command_palette import CommandPalette
from kimi_tui.tui.dialogs.help import Help
from kimi_tui.tui.prompt.completion_list import CompletionList


async def test_the_palette_lists_the_commands_that_were_run_first(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.driver.press("ctrl+p", *"shortcut", "enter")
        await harness.wait_until(lambda: isinstance(harness.app.screen, Help))
        await harness.driver.press("escape", "ctrl+p")
        await harness.wait_until(lambda: "Recently used" in harness.screen_text())
        palette = harness.app.screen
        assert isinstance(palette, CommandPalette)
        assert palette.choices.choice is not None
        assert palette.choices.choice.value == "keys"


async def test_the_palette_shows_keys_next_to_their_commands(open_app: Any) -> None:
    async with open_app(size=(80, 24)) as harness:
        await harness.driver.press("ctrl+p", *"resume")
        await harness.wait_until(lambda: "/sessions" in harness.screen_text())
        line = next(it for it in harness.screen_text().split("\n") if "/sessions" in it)
        assert line.split()[-2:] == ["alt+s", "│"]


async def test_the_highlight_skips_headings(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.driver.press("ctrl+p")
        palette = harness.app.screen
        seen = []
        for _ in palette.choices.choices:
            seen.append(palette.choices.choice)
            await harness.driver.press("down")
        assert not any(choice.is_heading for choice in seen)
        await harness.driver.press("up")
        assert not palette.choices.choice.is_heading


async def test_a_click_on_a_heading_chooses_nothing(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.driver.press("ctrl+p")
        palette = harness.app.screen
        await harness.driver.click(palette.choices, offset=(3, 0))
        assert harness.app.screen is palette


async def test_a_slash_opens_the_grouped_menu_and_enter_never_runs_a_heading(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.type_text("/")
        menu = harness.app.screen.query_one(CompletionList)
        await harness.wait_until(lambda: menu.has_class("-open"))
        assert menu.choices[0].is_heading
        assert menu.choice is not None
        assert not menu.choice.is_heading
        await harness.driver.press("tab")
        assert harness.app.screen.prompt.editor.text.startswith("/")
        assert len(harness.app.screen.prompt.editor.text) > 2
