"""Settings commands of front ends."""

import asyncio
import dataclasses
from typing import TYPE_CHECKING

from kimi_tui.base.errors import ConfigError
from kimi_tui.config.loader import settings_of, user_config_path
from kimi_tui.engine.models.model_pool import ModelPool
from kimi_tui.engine.options import EngineOptions
from kimi_tui.wire.event_sender import EventSender
from kimi_tui.wire.settings import (
    ChangeSetting,
    Setting,
    SettingChanged,
    SettingsList,
)

if TYPE_CHECKING:
    from kimi_tui.config.effective_settings import SettingView


class SettingsService:
    """Lists settings and writes changes to the user's config file, one at a time."""

    def __init__(self, *, options: EngineOptions, models: ModelPool, sender: EventSender) -> None:
        self._options = options
        self._models = models
        self._sender = sender
        self._change_lock = asyncio.Lock()

    async def send_list(self) -> None:
        """Send the settings. Raises ConfigError if a config file can't be read."""
        self._sender.send(await asyncio.to_thread(self._build_list))

    async def change(self, command: ChangeSetting) -> None:
        """Change a setting, and send the outcome and the settings. Raises ConfigError."""
        async with self._change_lock:
            self._sender.send(await asyncio.to_thread(self._change, command))
            await self.send_list()

    def _build_list(self) -> SettingsList:
        from kimi_tui.config.effective_settings import effective_settings  # only needed here

        data_dir = self._options.data_dir
        views = effective_settings(
            self._options.reread_config(), data_dir=data_dir, work_dir=self._options.work_dir
        )
        return SettingsList(tuple(_to_setting(view) for view in views), str(user_config_path(data_dir)))

    def _change(self, command: ChangeSetting) -> SettingChanged:
        from kimi_tui.config.set_value import set_setting

        config = self._options.reread_config()
        try:
            overruled_by = set_setting(
                command.key, command.value, config=config, data_dir=self._options.data_dir
            )
            self._models.apply_settings(settings_of(self._options.reread_config()))
        except ConfigError as error:
            return SettingChanged(command.key, problem=str(error))
        return SettingChanged(command.key, overruled_by=overruled_by)


def _to_setting(view: "SettingView") -> Setting:
    return Setting(**{field.name: getattr(view, field.name) for field in dataclasses.fields(Setting)})
