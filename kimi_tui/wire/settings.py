"""The settings as a front end shows them: each with its meaning, its value and where that comes from."""

from typing import Literal

from kimi_tui.base.value import value

SettingKind = Literal["switch", "choice", "integer", "number", "text", "list", "secret", "table"]
"""How a value is entered. A secret is never told nor taken here; a table is changed in the file."""
SettingOrigin = Literal["default", "user", "project", "environment", "option"]


@value
class Setting:
    """One setting."""

    key: str
    """Dotted, as in `ui.mouse`; a part that holds dots itself is quoted."""
    group: str
    """The table it stands in; empty for those outside of every table."""
    kind: SettingKind
    meaning: str
    value: str
    """As it is typed: a text bare, a list as TOML, a switch as true or false."""
    default: str = ""
    origin: SettingOrigin = "default"
    place: str = ""
    """Which file or option it comes from."""
    in_user_file: bool = False
    """Whether the user's config file sets it, though something else may go before."""
    choices: tuple[str, ...] = ()


@value
class ListSettings:
    """Ask for the settings: a SettingsList comes back."""


@value
class ChangeSetting:
    """Write a setting into the user's config file: a SettingChanged comes back, and a SettingsList."""

    key: str
    value: str | None
    """As in `Setting.value`; None takes it out of the file."""


@value
class SettingsList:
    """Ours: the answer to ListSettings."""

    settings: tuple[Setting, ...]
    file: str = ""
    """The user's config file, which is there or not."""


@value
class SettingChanged:
    """Ours: the answer to ChangeSetting."""

    key: str
    problem: str = ""
    """What is wrong with the value, in sentences; empty when it was written."""
    overruled_by: str = ""
    """What goes before the file, so that the value counts elsewhere only."""


SettingsCommand = ListSettings | ChangeSetting
