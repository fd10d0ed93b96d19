"""Keys that a config of kimi-cli may hold and that mean nothing here: they load, and are left out.

Only keys on this list are passed over; any other unknown key is an error, since it is most likely a slip.
"""

from typing import Any

_EVERYWHERE = "*"
_FOREIGN_KEYS: dict[tuple[str, ...], frozenset[str]] = {
    (): frozenset(
        {
            "background",
            "default_editor",
            "default_plan_mode",
            "default_yolo",
            "mcp",
            "merge_all_available_skills",
            "notifications",
            "show_thinking_stream",
            "telemetry",
        }
    ),
    ("loop_control",): frozenset({"max_preserved_messages", "max_ralph_iterations"}),
    ("models", _EVERYWHERE): frozenset({"display_name"}),
    ("services",): frozenset({"moonshot_fetch"}),
    ("services", "moonshot_search"): frozenset({"oauth"}),
    ("providers", _EVERYWHERE): frozenset({"default_query", "oauth", "reasoning_key"}),
}
_RENAMED_KEYS: dict[tuple[str, ...], str] = {("loop_control", "max_steps_per_run"): "max_steps_per_turn"}


def without_foreign_keys(data: dict[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """`data` as we know it, and the dotted names of the keys that were left out."""
    left_out: list[str] = []
    return _translated(data, (), left_out), tuple(left_out)


def _translated(table: dict[str, Any], path: tuple[str, ...], left_out: list[str]) -> dict[str, Any]:
    foreign = _foreign_keys_of(path)
    result = {}
    for key, value in table.items():
        here = (*path, key)
        if key in foreign:
            left_out.append(".".join(here))
            continue
        renamed = _RENAMED_KEYS.get(here, key)
        result[renamed] = _translated(value, here, left_out) if isinstance(value, dict) else value
    return result


def _foreign_keys_of(path: tuple[str, ...]) -> frozenset[str]:
    for pattern, keys in _FOREIGN_KEYS.items():
        if len(pattern) == len(path) and all(
            part in (_EVERYWHERE, name) for part, name in zip(pattern, path, strict=True)
        ):
            return keys
    return frozenset()
