"""Plain labels and search terms of the settings that most users change, by section.

All other settings are listed by their key, under "Advanced".
"""

from kimi_tui.base.frozen import frozen
from kimi_tui.i18n.translate import tr_lazy

ADVANCED = tr_lazy("Advanced: config.toml")
KEYS = tr_lazy("Keys")


@frozen
class SettingLabel:
    """How a setting is shown."""

    key: str
    """Dotted key, as in `Setting.key`."""
    label: str
    """Message id of the label."""
    synonyms: tuple[str, ...] = ()
    """Other search terms for the setting."""


SECTIONS: tuple[tuple[str, tuple[SettingLabel, ...]], ...] = (
    (
        tr_lazy("Appearance"),
        (
            SettingLabel("theme", tr_lazy("Color theme"), ("colour", "dark", "light", "skin", "scheme")),
            SettingLabel("language", tr_lazy("Language"), ("chinese", "english", "locale", "中文")),
            SettingLabel("ui.reduced_motion", tr_lazy("Reduced motion"), ("animation", "spinner")),
            SettingLabel("ui.images", tr_lazy("Images"), ("pictures", "thumbnails", "kitty", "blocks")),
            SettingLabel("ui.mouse", tr_lazy("Mouse"), ("click", "scroll")),
            SettingLabel("ui.notify", tr_lazy("Notifications"), ("bell", "desktop", "alert", "sound")),
            SettingLabel(
                "ui.inline", tr_lazy("Run in the normal screen"), ("inline", "fullscreen", "scrollback")
            ),
            SettingLabel(
                "ui.keep_transcript", tr_lazy("Print the conversation on exit"), ("transcript", "scrollback")
            ),
            SettingLabel("ui.screen_reader", tr_lazy("Screen reader mode"), ("accessibility",)),
        ),
    ),
    (
        tr_lazy("Model"),
        (
            SettingLabel("default_model", tr_lazy("Default model"), ("llm", "provider")),
            SettingLabel("default_thinking", tr_lazy("Thinking level"), ("reasoning", "effort")),
            SettingLabel(
                "loop_control.compaction_trigger_ratio",
                tr_lazy("Compaction threshold"),
                ("context", "window", "summary"),
            ),
            SettingLabel("session_titles", tr_lazy("Session titles by the model"), ("name", "rename")),
        ),
    ),
    (
        tr_lazy("Permissions"),
        (
            SettingLabel("default_plan_mode", tr_lazy("Start in plan mode"), ("read-only",)),
            SettingLabel("default_yolo", tr_lazy("Approve everything (yolo)"), ("dangerous", "skip", "auto")),
            SettingLabel("permissions.run_first", tr_lazy("Run commands first, then ask"), ("trial",)),
            SettingLabel("permissions.allow", tr_lazy("Always allow"), ("rules", "approve")),
            SettingLabel("permissions.ask", tr_lazy("Always ask"), ("rules", "confirm")),
            SettingLabel("permissions.deny", tr_lazy("Never run"), ("rules", "forbid", "block")),
            SettingLabel("sandbox.enabled", tr_lazy("Sandbox"), ("isolation", "bubblewrap")),
            SettingLabel("sandbox.network", tr_lazy("Network in the sandbox"), ("internet",)),
            SettingLabel(
                "web.allow_private_addresses", tr_lazy("Fetch pages of the local network"), ("localhost",)
            ),
        ),
    ),
    (
        tr_lazy("Editing and commands"),
        (
            SettingLabel("default_editor", tr_lazy("Editor"), ("vim", "code", "nano", "emacs")),
            SettingLabel("shell.tell_model", tr_lazy("Show the model my shell commands"), ("bash",)),
            SettingLabel(
                "background.max_running_tasks", tr_lazy("Simultaneous background tasks"), ("parallel",)
            ),
        ),
    ),
    (
        tr_lazy("Checkpoints"),
        (
            SettingLabel(
                "checkpoints.files", tr_lazy("Save files at checkpoints"), ("snapshots", "revert", "undo")
            ),
            SettingLabel("checkpoints.exclude", tr_lazy("Files not to save"), ("ignore", "gitignore")),
            SettingLabel("checkpoints.max_age_days", tr_lazy("Days to keep file snapshots"), ("age",)),
            SettingLabel("checkpoints.max_total_mb", tr_lazy("Disk space of snapshots (MB)"), ("size",)),
        ),
    ),
    (
        tr_lazy("Limits"),
        (
            SettingLabel(
                "budget.per_day", tr_lazy("Cost per day (US dollars)"), ("budget", "money", "price")
            ),
            SettingLabel("loop_control.max_steps_per_turn", tr_lazy("Steps per turn"), ("loop",)),
            SettingLabel("loop_control.max_retries_per_step", tr_lazy("Attempts per step"), ("retry",)),
            SettingLabel("subagents.max_at_once", tr_lazy("Simultaneous sub-agents"), ("parallel",)),
        ),
    ),
)
"""Sections in the order of the settings screen."""


def label_of(key: str) -> SettingLabel | None:
    """Return the label of a setting. None if the setting is listed by its key."""
    return next((label for _, labels in SECTIONS for label in labels if label.key == key), None)
