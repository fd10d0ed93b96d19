"""Settings dialog: search, editing by type of setting, and error messages of the engine."""

from pathlib import Path
from typing import Any

import pytest

from kimi_tui.config.settings_schema import dotted_key, setting_docs
from kimi_tui.frontend.text.setting_labels import SECTIONS
from kimi_tui.tui.dialogs.settings import SettingsDialog
from kimi_tui.tui.dialogs.themes import ThemePicker
from kimi_tui.tui.terminal.background import KnownBackground
from kimi_tui.wire.commands import SetThinking
from kimi_tui.wire.settings import ChangeSetting, ListSettings, Setting, SettingChanged, SettingsList
from tests.tui.conftest import AppHarness

STEPS = Setting(
    "loop_control.max_steps_per_turn", "loop_control", "integer", "Model calls in one turn.", "1000", "1000"
)
SETTINGS_LIST = SettingsList(
    (
        Setting("default_thinking", "", "switch", "Whether it thinks.", "false", "false"),
        Setting("theme", "", "choice", "The colors.", "dark", "auto", choices=("auto", "dark", "light")),
        Setting("providers.p.api_key", "providers.p", "secret", "The key.", "set"),
        STEPS,
    ),
    "/home/me/.kimi-tui/config.toml",
)


async def open_settings_dialog(harness: AppHarness) -> SettingsDialog:
    await harness.driver.press("f9")
    await harness.wait_until(lambda: harness.commands_of(ListSettings))
    harness.engine.send(SETTINGS_LIST)
    await harness.wait_until(lambda: "Color theme" in harness.screen_text())
    assert isinstance(harness.app.screen, SettingsDialog)
    return harness.app.screen


async def wait_for_change(harness: AppHarness, count: int = 1) -> ChangeSetting:
    await harness.wait_until(lambda: len(harness.commands_of(ChangeSetting)) == count)
    command = harness.commands_of(ChangeSetting)[-1]
    assert isinstance(command, ChangeSetting)
    return command


async def test_a_switch_is_toggled_and_takes_effect_immediately(open_app: Any) -> None:
    async with open_app(size=(80, 24)) as harness:
        await open_settings_dialog(harness)
        await harness.driver.press("down", "enter")
        assert await wait_for_change(harness) == ChangeSetting("default_thinking", "true")
        harness.engine.send(SettingChanged("default_thinking"))
        await harness.wait_until(lambda: harness.commands_of(SetThinking) == [SetThinking(True, "high")])
        await harness.wait_until(lambda: "Saved: takes effect immediately" in harness.screen_text())


async def test_a_theme_chosen_from_the_list_is_applied(open_app: Any) -> None:
    async with open_app() as harness:
        await open_settings_dialog(harness)
        await harness.driver.press("enter")
        await harness.wait_until(lambda: isinstance(harness.app.screen, ThemePicker))
        await harness.driver.press("down")
        await harness.wait_until(lambda: harness.app.theme == "light")
        await harness.driver.press("enter")
        assert await wait_for_change(harness) == ChangeSetting("theme", "light")
        harness.engine.send(SettingChanged("theme"))
        await harness.wait_until(lambda: harness.app.theme == "light")


async def test_auto_follows_the_background_that_the_terminal_reported_at_the_start(open_app: Any) -> None:
    async with open_app(theme="dark", background=KnownBackground(luminance=1.0)) as harness:
        await open_settings_dialog(harness)
        await harness.type_text("theme")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: isinstance(harness.app.screen, ThemePicker))
        await harness.driver.press("up")
        await harness.wait_until(lambda: harness.app.theme == "light")
        await harness.driver.press("enter")
        assert await wait_for_change(harness) == ChangeSetting("theme", "auto")
        harness.engine.send(SettingChanged("theme"))
        await harness.driver.pause()
        assert harness.app.theme == "light"


async def test_an_invalid_value_shows_the_error_and_can_be_corrected(open_app: Any) -> None:
    async with open_app() as harness:
        await open_settings_dialog(harness)
        await harness.type_text("max_steps")
        await harness.wait_until(lambda: "Color theme" not in harness.screen_text())
        assert "Steps per turn" in harness.screen_text()
        await harness.driver.press("enter", "x", "enter")
        assert (await wait_for_change(harness)).value == "1000x"
        harness.engine.send(SettingChanged(STEPS.key, problem="Expected an integer."))
        await harness.wait_until(lambda: "Expected an integer." in harness.screen_text())
        await harness.driver.press("backspace", "enter")
        assert (await wait_for_change(harness, 2)).value == "1000"
        harness.engine.send(SettingChanged(STEPS.key))
        await harness.wait_until(lambda: "takes effect in the next session" in harness.screen_text())
        await harness.driver.press("escape")
        await harness.wait_until(lambda: "not in effect in this session yet" in harness.unwrapped_text())


async def test_an_option_that_overrides_the_file_is_named(open_app: Any) -> None:
    async with open_app() as harness:
        await open_settings_dialog(harness)
        await harness.driver.press("down", "enter")
        await wait_for_change(harness)
        harness.engine.send(SettingChanged("default_thinking", overruled_by="--config"))
        await harness.wait_until(lambda: "Saved, but overridden by --config" in harness.unwrapped_text())
        assert not harness.commands_of(SetThinking)


async def test_a_remapped_key_works_immediately(open_app: Any) -> None:
    async with open_app() as harness:
        await open_settings_dialog(harness)
        await harness.type_text("app.help")
        await harness.driver.press("enter", "backspace", "9", "enter")
        change = await wait_for_change(harness)
        assert change == ChangeSetting('keymap."app.help"', "f9")
        harness.engine.send(SettingChanged(change.key))
        await harness.wait_until(
            lambda: "f9" in harness.screen_text() and "app.settings" in harness.unwrapped_text()
        )


async def test_secrets_are_neither_shown_nor_edited(open_app: Any) -> None:
    async with open_app() as harness:
        await open_settings_dialog(harness)
        await harness.type_text("api_key")
        await harness.wait_until(lambda: "providers.p.api_key" in harness.screen_text())
        await harness.driver.press("enter")
        await harness.wait_until(lambda: "kimi-tui login" in harness.screen_text())
        assert not harness.commands_of(ChangeSetting)


async def test_a_setting_can_be_changed_with_the_mouse_only(open_app: Any) -> None:
    async with open_app() as harness:
        await open_settings_dialog(harness)
        await harness.driver.click("#settings ChoiceList", offset=(4, 3))
        assert await wait_for_change(harness) == ChangeSetting("default_thinking", "true")
        await harness.driver.click("#settings-buttons ActionButton:last-child")
        await harness.wait_until(lambda: len(harness.app.screen_stack) == 1)


async def test_a_setting_in_the_users_file_is_reset(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.driver.press("f9")
        await harness.wait_until(lambda: harness.commands_of(ListSettings))
        user_setting = Setting(
            "theme", "", "text", "Colors.", "dark", "auto", "user", "/f", in_user_file=True
        )
        harness.engine.send(SettingsList((user_setting,), "/f"))
        await harness.wait_until(lambda: " user " in harness.screen_text())
        await harness.driver.press("ctrl+r")
        assert await wait_for_change(harness) == ChangeSetting("theme", None)


async def test_appearance_comes_first_and_switches_read_as_words(open_app: Any) -> None:
    async with open_app(size=(80, 24)) as harness:
        await open_settings_dialog(harness)
        labels = ["Appearance", "Color theme", "Model", "Thinking level", "Limits", "Steps per turn", "More"]
        positions = [harness.screen_text().index(f" {label} ") for label in labels]
        assert positions == sorted(positions)
        line = next(it for it in harness.screen_text().split("\n") if "Thinking level" in it)
        assert "off" in line.split()


@pytest.mark.parametrize(("query", "label"), [("colour", "Color theme"), ("reasoning", "Thinking level")])
async def test_a_setting_is_found_by_another_word(open_app: Any, query: str, label: str) -> None:
    async with open_app(size=(80, 24)) as harness:
        dialog = await open_settings_dialog(harness)
        await harness.type_text(query)
        await harness.wait_until(lambda: [it.label for it in dialog.choices.choices] == [label])


async def test_advanced_settings_unfold_with_the_mouse_and_are_named_by_their_keys(open_app: Any) -> None:
    async with open_app(size=(80, 24)) as harness:
        dialog = await open_settings_dialog(harness)
        assert "providers.p.api_key" not in harness.screen_text()
        row = next(y for y, it in enumerate(dialog.choices.choices) if "Advanced: config.toml" in it.label)
        await harness.driver.click("#settings ChoiceList", offset=(6, row))
        await harness.wait_until(
            lambda: "providers.p.api_key" in {choice.label for choice in dialog.choices.choices}
        )


async def test_the_config_file_is_edited_in_the_users_editor(
    open_app: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\necho \'theme = "nord"\' > "$1"\n')
    editor.chmod(0o755)
    monkeypatch.setenv("VISUAL", str(editor))
    file = tmp_path / "config.toml"
    async with open_app(size=(80, 24)) as harness:
        dialog = await open_settings_dialog(harness)
        harness.engine.send(SettingsList(SETTINGS_LIST.settings, str(file)))
        await harness.wait_until(lambda: str(tmp_path)[:20] in harness.screen_text())  # in the title
        await harness.driver.press("up", "enter")  # Advanced is the last line
        await harness.wait_until(lambda: "Edit config.toml" in harness.screen_text())
        await harness.driver.press("down", "enter")
        await harness.wait_until(lambda: file.exists() and 'theme = "nord"' in file.read_text())
        await harness.wait_until(lambda: len(harness.commands_of(ListSettings)) == 2)
        assert harness.app.screen is dialog


def test_every_label_belongs_to_a_setting() -> None:
    keys = {dotted_key(doc.path) for doc in setting_docs({})}
    labels = [label.key for _, section in SECTIONS for label in section]
    assert set(labels) <= keys
    assert len(set(labels)) == len(labels)
