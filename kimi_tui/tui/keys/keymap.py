"""All key bindings, their labels under the user's keymap, and validation of that keymap."""

from collections.abc import Mapping

from textual.binding import BindingType
from textual.keys import _character_to_key, format_key

from kimi_tui.tui.keys.tables import (
    AGENTS_KEYS,
    APPROVAL_KEYS,
    ATTEMPTS_KEYS,
    BRANCH_KEYS,
    CHANGE_REVIEW_KEYS,
    CHANGES_KEYS,
    CONVERSATION_KEYS,
    EDITING_KEYS,
    FILES_KEYS,
    FLEET_KEYS,
    HELP_KEYS,
    HUNK_KEYS,
    INFO_PANEL_KEYS,
    MCP_KEYS,
    MESSAGE_SEARCH_KEYS,
    MODEL_PICKER_KEYS,
    PAGER_KEYS,
    PERMISSIONS_KEYS,
    PICKER_KEYS,
    PLAN_KEYS,
    PROMPT_KEYS,
    QUESTION_KEYS,
    REVIEW_KEYS,
    REVIEW_LINE_KEYS,
    RUNNING_SESSIONS_KEYS,
    SCREEN_KEYS,
    SESSIONS_KEYS,
    SETTINGS_KEYS,
    SETUP_KEYS,
    SIDE_QUESTION_KEYS,
    START_ATTEMPTS_KEYS,
    TASKS_KEYS,
    TIMELINE_KEYS,
    TIMELINE_TREE_KEYS,
    TOOLS_KEYS,
    Key,
)

APP_KEYS = (
    Key("app.quit", "ctrl+q", "leave", "quit", priority=True),
    Key("app.help", "f1", "help", "help", priority=True),
    Key("app.palette", "ctrl+p", "palette", "command palette", priority=True),
)

GROUPS: tuple[tuple[str, tuple[Key, ...]], ...] = (
    ("Everywhere", APP_KEYS + SCREEN_KEYS),
    ("Prompt", PROMPT_KEYS),
    ("Permission requests", APPROVAL_KEYS),
    ("Review", REVIEW_KEYS),
    ("Sessions", SESSIONS_KEYS),
    ("Search in all sessions", MESSAGE_SEARCH_KEYS),
    ("Questions", QUESTION_KEYS),
    ("Side questions", SIDE_QUESTION_KEYS),
    ("Context, cost and checkpoints", INFO_PANEL_KEYS),
    ("Conversation (when focused)", CONVERSATION_KEYS),
    ("Tool calls", TOOLS_KEYS),
    ("Timeline", TIMELINE_TREE_KEYS + TIMELINE_KEYS),
    ("Revert previews and comparisons", FILES_KEYS + PLAN_KEYS + CHANGES_KEYS),
    ("Attempts", ATTEMPTS_KEYS + START_ATTEMPTS_KEYS),
    ("Review of changes", CHANGE_REVIEW_KEYS + REVIEW_LINE_KEYS),
    ("Hunks of a file", HUNK_KEYS),
    ("Branch viewer", BRANCH_KEYS),
    ("Pager", PAGER_KEYS),
    ("Dialogs", PICKER_KEYS + MODEL_PICKER_KEYS + HELP_KEYS),
    ("MCP servers", MCP_KEYS),
    ("Model setup", SETUP_KEYS),
    ("Settings", SETTINGS_KEYS),
    ("Permissions", PERMISSIONS_KEYS),
    ("Background tasks", TASKS_KEYS),
    ("Fleet", FLEET_KEYS),
    ("Running sessions", RUNNING_SESSIONS_KEYS),
    ("Agents", AGENTS_KEYS),
    ("Editing", EDITING_KEYS),
)


_ACTIVE_TOGETHER = (
    APP_KEYS + SCREEN_KEYS,
    APP_KEYS + PROMPT_KEYS + EDITING_KEYS,
    APP_KEYS + APPROVAL_KEYS,
    APP_KEYS + QUESTION_KEYS,
    APP_KEYS + SIDE_QUESTION_KEYS,
    APP_KEYS + INFO_PANEL_KEYS,
    APP_KEYS + CONVERSATION_KEYS,
    APP_KEYS + TOOLS_KEYS,
    APP_KEYS + TIMELINE_TREE_KEYS + TIMELINE_KEYS,
    APP_KEYS + FILES_KEYS + PLAN_KEYS,
    APP_KEYS + FILES_KEYS + CHANGES_KEYS,
    APP_KEYS + FILES_KEYS + ATTEMPTS_KEYS,
    APP_KEYS + START_ATTEMPTS_KEYS,
    APP_KEYS + CHANGE_REVIEW_KEYS + REVIEW_LINE_KEYS,
    APP_KEYS + HUNK_KEYS,
    BRANCH_KEYS,
    REVIEW_KEYS,
    SESSIONS_KEYS,
    MESSAGE_SEARCH_KEYS,
    PAGER_KEYS,
    PICKER_KEYS + MODEL_PICKER_KEYS,
    HELP_KEYS,
    MCP_KEYS,
    SETUP_KEYS,
    PERMISSIONS_KEYS,
    SETTINGS_KEYS,
    TASKS_KEYS,
    FLEET_KEYS,
    RUNNING_SESSIONS_KEYS,
)


def bindings(keys: tuple[Key, ...]) -> list[BindingType]:
    """Return `keys` in the form of a widget's BINDINGS."""
    return [key.binding for key in keys]


class KeyLabels:
    """Names of keys on the screen, according to the user's keymap."""

    def __init__(self, keymap: Mapping[str, str]) -> None:
        self.apply_keymap(keymap)

    def apply_keymap(self, keymap: Mapping[str, str]) -> None:
        """Replace the user's keymap."""
        self.overrides = {name: keys for name, keys in keymap.items() if name in known_binding_ids()}
        """Keys that the user mapped, by binding ID."""
        self._keys = {key.id: keymap.get(key.id, key.keys) for _, keys in GROUPS for key in keys}
        for keys in _ACTIVE_TOGETHER:
            self._give_up_keys(keys)

    def pressed_keys(self, binding_id: str) -> list[str]:
        """Return all keys of a binding by their names in key events."""
        return [key.strip() for key in self._keys[binding_id].split(",") if key.strip()]

    def first_key(self, binding_id: str) -> str:
        """Return the first key of a binding, or an empty string."""
        return next(map(key_name, self.pressed_keys(binding_id)), "")

    def preferred_key(self, binding_id: str, preferred: str) -> str:
        """Return `preferred` if it is a key of the binding; otherwise the first key."""
        is_key = preferred in self.pressed_keys(binding_id)
        return key_name(preferred) if is_key else self.first_key(binding_id)

    def actions_by_key(self, keys: tuple[Key, ...]) -> dict[str, str]:
        """Return the actions by pressed key, for widgets that look up keys themselves."""
        return {
            _character_to_key(pressed) if len(pressed) == 1 else pressed: key.action
            for key in keys
            for pressed in self.pressed_keys(key.id)
        }

    def all_keys(self, binding_id: str) -> str:
        """Return all keys of a binding, separated by commas."""
        return ", ".join(map(key_name, self.pressed_keys(binding_id)))

    def _give_up_keys(self, keys: tuple[Key, ...]) -> None:
        """Remove keys that the user assigned to other bindings from bindings of `keys` that yield them."""
        assigned = {
            pressed for key in keys if key.id in self.overrides for pressed in self.pressed_keys(key.id)
        }
        for key in keys:
            if key.yields and key.id not in self.overrides:
                self._keys[key.id] = ",".join(
                    pressed for pressed in self.pressed_keys(key.id) if pressed not in assigned
                )


def key_name(key: str) -> str:
    """Return the display name of a key. Punctuation is the character itself, such as `[`."""
    *modifiers, last = key.split("+")
    character = format_key(last)
    is_punctuation = len(character) == 1 and character.isascii()
    return "+".join((*modifiers, character if is_punctuation else last))


def known_binding_ids() -> frozenset[str]:
    """Return every ID that a keymap may contain."""
    return frozenset(key.id for _, keys in GROUPS for key in keys)


def keymap_errors(keymap: Mapping[str, str]) -> list[str]:
    """Return the errors of the user's keymap, as sentences."""
    errors = []
    if unknown := sorted(set(keymap) - known_binding_ids()):
        errors.append(f"Unknown key bindings in the keymap: {', '.join(unknown)}. See /keys for the list.")
    labels = KeyLabels(keymap)
    for keys in _ACTIVE_TOGETHER:
        ids_by_key: dict[str, list[str]] = {}
        for key in keys:
            for pressed in labels.pressed_keys(key.id):
                ids_by_key.setdefault(pressed, []).append(key.id)
        errors += [
            f"The keymap assigns {key_name(pressed)} to {' and '.join(ids)}."
            " Assign another key to one of them."
            for pressed, ids in ids_by_key.items()
            if len(ids) > 1 and any(binding_id in keymap for binding_id in ids)
        ]
    return errors
