"""Config of an attempt's process: the session's settings, without those that don't apply to attempts."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, SecretStr

from kimi_tui.config.settings import Settings

_EDIT_RULE = "Edit(**)"


def attempt_config(settings: Settings) -> dict[str, Any]:
    """Return the config of an attempt as JSON, secrets included.

    An attempt runs in a workspace. The config therefore turns off snapshots and workspaces, and allows edits.
    Rules that deny edits still apply.
    """
    values: dict[str, Any] = _plain(settings.model_dump(exclude_defaults=True))
    for table in ("checks", "serve", "workspaces", "checkpoints", "budget"):
        values.pop(table, None)
    values["checkpoints"] = {"files": False}
    values["workspaces"] = {"backend": "none"}
    values["session_titles"] = False
    permissions = values.setdefault("permissions", {})
    permissions["run_first"] = False
    permissions["allow"] = [*permissions.get("allow", ()), _EDIT_RULE]
    return values


def _plain(value: Any) -> Any:
    """Convert a value of the settings to JSON types."""
    match value:
        case SecretStr():
            return value.get_secret_value()
        case BaseModel():
            return _plain(value.model_dump(exclude_defaults=True))
        case Mapping():
            return {str(key): _plain(each) for key, each in value.items()}
        case str() | int() | float() | bool() | None:
            return value
        case frozenset() | set():
            return sorted(map(_plain, value))
        case Sequence():
            return [_plain(each) for each in value]
        case _:
            return str(value)
