"""Keys of kimi-cli's config that have no effect here: they load and are dropped.

In a config that kimi-cli wrote, unknown keys are dropped as well, except in tables that only kimi-tui has. In
any other config, an unknown key is an error, since it is most likely a typo.
"""

from collections.abc import Sequence
from typing import Any

_ANY_TABLE = "*"
_KIMI_CLI_KEYS: dict[tuple[str, ...], frozenset[str]] = {
    (): frozenset(
        {
            "merge_all_available_skills",
            "notifications",
            "skip_afk_prompt_injection",
            "telemetry",
        }
    ),
    ("loop_control",): frozenset({"max_preserved_messages", "max_ralph_iterations"}),
    ("background",): frozenset(
        {
            "keep_alive_on_exit",
            "kill_grace_period_ms",
            "notification_tail_chars",
            "notification_tail_lines",
            "read_max_bytes",
            "wait_poll_interval_ms",
            "worker_heartbeat_interval_ms",
            "worker_stale_after_ms",
        }
    ),
    ("services",): frozenset({"moonshot_fetch"}),
    ("services", "moonshot_search"): frozenset({"oauth"}),
    ("providers", _ANY_TABLE): frozenset({"default_query", "oauth"}),
}
_OWN_TABLES = frozenset(
    {
        "checkpoints",
        "compaction",
        "keymap",
        "permissions",
        "sandbox",
        "shell",
        "subagents",
        "ui",
        "web",
    }
)
"""Tables that kimi-cli doesn't have, so that an unknown key in them can't be kimi-cli's."""
_OLD_DEFAULTS: dict[tuple[str, ...], object] = {
    ("background", "max_running_tasks"): 4,
    ("loop_control", "reserved_context_size"): 50_000,
    ("mcp", "client", "tool_call_timeout_ms"): 60_000,
    ("show_thinking_stream",): True,
}
"""Defaults of Kimi CLI that its config contains without being chosen by the user."""
_THINKING_KEY = "show_thinking_stream"
_RENAMED_KEYS: dict[tuple[str, ...], str] = {("loop_control", "max_steps_per_run"): "max_steps_per_turn"}


def drop_kimi_cli_keys(data: dict[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return `data` without kimi-cli's keys, and the dotted names of the dropped keys."""
    left_out: list[str] = []
    translated = _translate_table(data, (), left_out, is_theirs=False)
    if left_out:
        translated = _translate_table(data, (), [], is_theirs=True)
    return _translate_thinking(translated), tuple(left_out)


def is_from_kimi_cli(data: dict[str, Any]) -> bool:
    """Return whether a config has a key that only kimi-cli writes. It writes all of its keys."""
    return bool(drop_kimi_cli_keys(data)[1])


def can_be_from_kimi_cli(key: Sequence[int | str]) -> bool:
    """Return whether an unknown key may be one of kimi-cli's, by the table that it's in."""
    return len(key) == 1 or key[0] not in _OWN_TABLES


def _translate_table(
    table: dict[str, Any], path: tuple[str, ...], dropped: list[str], *, is_theirs: bool
) -> dict[str, Any]:
    kimi_cli_keys = _kimi_cli_keys_of(path)
    result = {}
    for key, value in table.items():
        here = (*path, key)
        if key in kimi_cli_keys:
            dropped.append(".".join(here))
            continue
        if _OLD_DEFAULTS.get(here) == value and is_theirs:
            continue  # Kimi CLI writes its defaults
        renamed = _RENAMED_KEYS.get(here, key)
        result[renamed] = (
            _translate_table(value, here, dropped, is_theirs=is_theirs) if isinstance(value, dict) else value
        )
    return result


def _translate_thinking(settings: dict[str, Any]) -> dict[str, Any]:
    """Return `settings` with `ui.thinking` instead of `show_thinking_stream`, unless it's set already."""
    shown = settings.get(_THINKING_KEY)
    ui = settings.get("ui", {})
    if not isinstance(shown, bool) or not isinstance(ui, dict):
        return settings
    others = {key: value for key, value in settings.items() if key != _THINKING_KEY}
    return {**others, "ui": {"thinking": "full" if shown else "summary", **ui}}


def _kimi_cli_keys_of(path: tuple[str, ...]) -> frozenset[str]:
    for pattern, keys in _KIMI_CLI_KEYS.items():
        if len(pattern) == len(path) and all(
            part in (_ANY_TABLE, name) for part, name in zip(pattern, path, strict=True)
        ):
            return keys
    return frozenset()
