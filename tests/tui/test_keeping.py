"""Choices that later runs find."""

from pathlib import Path
from typing import Any

from kimi_tui.wire.commands import SetModel


async def test_a_theme_is_kept_with_the_comments_of_the_file(open_desk: Any, tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text('# mine\ntheme = "dark"\n')
    async with open_desk(config_file=config) as desk:
        await desk.write("/theme light")
        await desk.pilot.press("enter")
        await desk.until(lambda: "from now on" in desk.toasts())
        assert config.read_text() == '# mine\ntheme = "light"\n'
        assert desk.app.theme == "light"


async def test_a_model_of_the_file_is_the_default_from_then_on_and_another_one_is_not(
    open_desk: Any, tmp_path: Path
) -> None:
    config = tmp_path / "config.toml"
    config.write_text('[models.opus]\nmodel = "claude"\n')
    async with open_desk(config_file=config) as desk:
        await desk.write("/model opus")
        await desk.pilot.press("enter")
        await desk.until(lambda: "New sessions begin with opus" in desk.toasts())
        assert 'default_model = "opus"' in config.read_text()
        await desk.write("/model kimi-k2")
        await desk.pilot.press("enter")
        await desk.until(lambda: desk.told(SetModel) == [SetModel("opus"), SetModel("kimi-k2")])
        assert 'default_model = "opus"' in config.read_text()


async def test_a_file_that_can_not_be_written_is_said_and_the_choice_holds(
    open_desk: Any, tmp_path: Path
) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("theme: dark\n")
    async with open_desk(config_file=config) as desk:
        await desk.write("/theme light")
        await desk.pilot.press("enter")
        await desk.until(lambda: "It holds until kimi-tui ends" in desk.toasts())
        assert desk.app.theme == "light"
