"""Saving the chosen theme and model to the config file."""

from pathlib import Path
from typing import Any

from kimi_tui.wire.commands import SetModel


async def test_a_theme_is_saved_and_comments_in_the_file_are_kept(open_app: Any, tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text('# mine\ntheme = "dark"\n')
    async with open_app(config_file=config) as harness:
        await harness.type_text("/theme light")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: "Theme: light" in harness.toast_text())
        assert config.read_text() == '# mine\ntheme = "light"\n'
        assert harness.app.theme == "light"


async def test_only_a_model_defined_in_the_file_is_saved_as_the_default(
    open_app: Any, tmp_path: Path
) -> None:
    config = tmp_path / "config.toml"
    config.write_text('[models.opus]\nmodel = "claude"\n')
    async with open_app(config_file=config) as harness:
        await harness.type_text("/model opus")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: "Default model for new sessions: opus" in harness.toast_text())
        assert 'default_model = "opus"' in config.read_text()
        await harness.type_text("/model kimi-k2")
        await harness.driver.press("enter")
        await harness.wait_until(
            lambda: harness.commands_of(SetModel) == [SetModel("opus"), SetModel("kimi-k2")]
        )
        assert 'default_model = "opus"' in config.read_text()


async def test_if_the_file_cannot_be_written_the_choice_applies_to_this_run_only(
    open_app: Any, tmp_path: Path
) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("theme: dark\n")
    async with open_app(config_file=config) as harness:
        await harness.type_text("/theme light")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: "Not saved, applies until kimi-tui exits" in harness.toast_text())
        assert harness.app.theme == "light"
