"""The settings in the app: found, changed with the widget that fits, refused in the engine's words."""

from typing import Any

from kimi_tui.tui.dialogs.picker import Picker
from kimi_tui.tui.dialogs.settings import SettingsDialog
from kimi_tui.wire.commands import SetThinking
from kimi_tui.wire.settings import ChangeSetting, ListSettings, Setting, SettingChanged, SettingsList
from tests.tui.conftest import Desk

STEPS = Setting(
    "loop_control.max_steps_per_turn", "loop_control", "integer", "Model calls in one turn.", "1000", "1000"
)
LISTED = SettingsList(
    (
        Setting("default_thinking", "", "switch", "Whether it thinks.", "false", "false"),
        Setting("theme", "", "choice", "The colours.", "dark", "auto", choices=("auto", "dark", "light")),
        Setting("providers.p.api_key", "providers.p", "secret", "The key.", "set"),
        STEPS,
    ),
    "/home/me/.kimi-tui/config.toml",
)


async def opened(desk: Desk) -> SettingsDialog:
    await desk.pilot.press("f9")
    await desk.until(lambda: desk.told(ListSettings))
    desk.engine.say(LISTED)
    await desk.until(lambda: "default_thinking" in desk.shown())
    assert isinstance(desk.app.screen, SettingsDialog)
    return desk.app.screen


async def changed(desk: Desk, count: int = 1) -> ChangeSetting:
    await desk.until(lambda: len(desk.told(ChangeSetting)) == count)
    asked = desk.told(ChangeSetting)[-1]
    assert isinstance(asked, ChangeSetting)
    return asked


async def test_a_switch_is_turned_at_once_and_counts_at_once(open_desk: Any) -> None:
    async with open_desk(size=(80, 24)) as desk:
        await opened(desk)
        await desk.pilot.press("enter")
        assert await changed(desk) == ChangeSetting("default_thinking", "true")
        desk.engine.say(SettingChanged("default_thinking"))
        await desk.until(lambda: desk.told(SetThinking) == [SetThinking(True)])
        await desk.until(lambda: "Written." in desk.shown())


async def test_a_choice_is_made_from_a_list_and_the_theme_changes(open_desk: Any) -> None:
    async with open_desk() as desk:
        await opened(desk)
        await desk.pilot.press("down", "enter")
        await desk.until(lambda: isinstance(desk.app.screen, Picker))
        await desk.pilot.press("down", "down", "enter")
        assert await changed(desk) == ChangeSetting("theme", "light")
        desk.engine.say(SettingChanged("theme"))
        await desk.until(lambda: desk.app.theme == "light")


async def test_what_is_refused_is_told_and_may_be_typed_anew(open_desk: Any) -> None:
    async with open_desk() as desk:
        await opened(desk)
        await desk.write("max_steps")
        await desk.until(lambda: "theme" not in desk.shown())
        await desk.pilot.press("enter", "x", "enter")
        assert (await changed(desk)).value == "1000x"
        desk.engine.say(SettingChanged(STEPS.key, problem="It should be a whole number."))
        await desk.until(lambda: "It should be a whole number." in desk.shown())
        await desk.pilot.press("backspace", "enter")
        assert (await changed(desk, 2)).value == "1000"
        desk.engine.say(SettingChanged(STEPS.key))
        await desk.until(lambda: "counts from the next session on" in desk.shown())
        await desk.pilot.press("escape")
        await desk.until(lambda: "goes by the old values" in desk.words())


async def test_something_stronger_than_the_file_is_named(open_desk: Any) -> None:
    async with open_desk() as desk:
        await opened(desk)
        await desk.pilot.press("enter")
        await changed(desk)
        desk.engine.say(SettingChanged("default_thinking", overruled_by="--config"))
        await desk.until(lambda: "--config goes before it here" in desk.words())
        assert not desk.told(SetThinking)


async def test_a_key_is_mapped_and_works_at_once(open_desk: Any) -> None:
    async with open_desk() as desk:
        await opened(desk)
        await desk.write("app.help")
        await desk.pilot.press("enter", "backspace", "9", "enter")
        asked = await changed(desk)
        assert asked == ChangeSetting('keymap."app.help"', "f9")
        desk.engine.say(SettingChanged(asked.key))
        await desk.until(lambda: "f9" in desk.shown() and "app.settings" in desk.words())


async def test_secrets_are_neither_shown_nor_typed(open_desk: Any) -> None:
    async with open_desk() as desk:
        await opened(desk)
        await desk.pilot.press("down", "down", "enter")
        await desk.until(lambda: "kimi-tui login" in desk.shown())
        assert not desk.told(ChangeSetting)


async def test_the_mouse_alone_will_do(open_desk: Any) -> None:
    async with open_desk() as desk:
        await opened(desk)
        await desk.pilot.click("#settings Choices", offset=(4, 1))
        assert await changed(desk) == ChangeSetting("default_thinking", "true")
        await desk.pilot.click("#settings-buttons ActionButton:last-child")
        await desk.until(lambda: len(desk.app.screen_stack) == 1)


async def test_a_setting_of_ones_own_is_taken_back(open_desk: Any) -> None:
    async with open_desk() as desk:
        await desk.pilot.press("f9")
        await desk.until(lambda: desk.told(ListSettings))
        mine = Setting("theme", "", "text", "Colours.", "dark", "auto", "user", "/f", in_user_file=True)
        desk.engine.say(SettingsList((mine,), "/f"))
        await desk.until(lambda: "yours" in desk.shown())
        await desk.pilot.press("ctrl+r")
        assert await changed(desk) == ChangeSetting("theme", None)
