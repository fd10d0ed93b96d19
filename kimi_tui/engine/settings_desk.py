"""The settings, told to a front end and changed for it in the user's config file."""

import asyncio
import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, assert_never

from kimi_tui.base.errors import ConfigError
from kimi_tui.config.loading import settings_of, user_config_path
from kimi_tui.engine.models import Models
from kimi_tui.engine.options import EngineOptions
from kimi_tui.wire.events import Event
from kimi_tui.wire.settings import (
    ChangeSetting,
    ListSettings,
    Setting,
    SettingChanged,
    SettingsCommand,
    SettingsList,
)

if TYPE_CHECKING:
    from kimi_tui.config.overview import SettingView


class SettingsDesk:
    """Follows what a front end asks for when the user looks at the settings. Changes come one by one."""

    def __init__(self, *, options: EngineOptions, models: Models, send: Callable[[Event], None]) -> None:
        self._options = options
        self._models = models
        self._send = send
        self._changing = asyncio.Lock()

    async def follow(self, command: SettingsCommand) -> None:
        """Carry out `command`. Raises ConfigError when the settings can't be read."""
        match command:
            case ListSettings():
                self._send(await asyncio.to_thread(self._listed))
            case ChangeSetting():
                async with self._changing:
                    self._send(await asyncio.to_thread(self._changed, command))
                    self._send(await asyncio.to_thread(self._listed))
            case _:
                assert_never(command)

    def _listed(self) -> SettingsList:
        from kimi_tui.config.overview import overview  # for those who look

        share_dir = self._options.share_dir
        views = overview(self._options.read_again(), share_dir=share_dir, work_dir=self._options.work_dir)
        return SettingsList(tuple(_told(view) for view in views), str(user_config_path(share_dir)))

    def _changed(self, command: ChangeSetting) -> SettingChanged:
        from kimi_tui.config.changing import change_setting

        config = self._options.read_again()
        try:
            overruled_by = change_setting(
                command.key, command.value, config=config, share_dir=self._options.share_dir
            )
            self._models.use(settings_of(self._options.read_again()))
        except ConfigError as error:
            return SettingChanged(command.key, problem=str(error))
        return SettingChanged(command.key, overruled_by=overruled_by)


def _told(view: "SettingView") -> Setting:
    return Setting(**{field.name: getattr(view, field.name) for field in dataclasses.fields(Setting)})
