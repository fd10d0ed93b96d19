"""Settings with their descriptions, values and origins."""

from typing import Literal

from kimi_tui.base.frozen import frozen
from kimi_tui.wire.base_command import BaseCommand

SettingKind = Literal["switch", "choice", "integer", "number", "text", "list", "secret", "table"]
"""How a value is edited. A `secret` is never sent or accepted. A `table` can only be edited in the file."""
SettingOrigin = Literal["default", "user", "project", "environment", "option"]


@frozen
class Setting:
    """A setting."""

    key: str
    """Dotted key, such as `ui.mouse`. A part that contains dots is quoted."""
    group: str
    """Table of the setting; empty for top-level settings."""
    kind: SettingKind
    meaning: str
    value: str
    """Value as the user types it: text unquoted, a list as TOML, a switch as true or false."""
    default: str = ""
    origin: SettingOrigin = "default"
    place: str = ""
    """File or option that the value comes from."""
    in_user_file: bool = False
    """Whether the user's config file sets it, even if another source overrides it."""
    choices: tuple[str, ...] = ()


@frozen
class ListSettings(BaseCommand):
    """List the settings. The reply is a SettingsList."""

    scheduling = "concurrent"


@frozen
class ChangeSetting(BaseCommand):
    """Write a setting to the user's config file. The replies are SettingChanged and SettingsList."""

    scheduling = "concurrent"

    key: str
    value: str | None
    """As in `Setting.value`; None removes the setting from the file."""


@frozen
class SettingsList:
    """Reply to ListSettings. Not in kimi-cli."""

    settings: tuple[Setting, ...]
    file: str = ""
    """Path of the user's config file, which may not exist."""


@frozen
class SettingChanged:
    """Reply to ChangeSetting. Not in kimi-cli."""

    key: str
    problem: str = ""
    """Why the value is invalid, in complete sentences; empty if the value was written."""
    overruled_by: str = ""
    """Source that overrides the user's file. Then the new value has no effect in this session."""


SettingsCommand = ListSettings | ChangeSetting
