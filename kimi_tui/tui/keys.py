"""All keys of the app together, what a user's key map calls them, and what is wrong with one."""

from collections.abc import Mapping

from textual.binding import BindingType
from textual.keys import _character_to_key

from kimi_tui.tui.key_tables import (
    AGENTS_KEYS,
    APPROVAL_KEYS,
    ASIDE_KEYS,
    BRANCH_KEYS,
    CHANGES_KEYS,
    CONVERSATION_KEYS,
    EDITING_KEYS,
    FILES_KEYS,
    HELP_KEYS,
    MCP_KEYS,
    PAGER_KEYS,
    PICKER_KEYS,
    PLAN_KEYS,
    PROMPT_KEYS,
    QUESTION_KEYS,
    REVIEW_KEYS,
    SCREEN_KEYS,
    SESSIONS_KEYS,
    SETTINGS_KEYS,
    SETUP_KEYS,
    TASKS_KEYS,
    TIMELINE_KEYS,
    TIMELINE_TREE_KEYS,
    TOOLS_KEYS,
    Key,
)

APP_KEYS = (
    Key("app.quit", "ctrl+q", "leave", "quit", priority=True),
    Key("app.help", "f1", "help", "help: keys and commands", priority=True),
    Key("app.palette", "ctrl+p", "palette", "command palette", priority=True),
)

GROUPS: tuple[tuple[str, tuple[Key, ...]], ...] = (
    ("Everywhere", APP_KEYS + SCREEN_KEYS),
    ("Prompt", PROMPT_KEYS),
    ("Approvals", APPROVAL_KEYS),
    ("Review", REVIEW_KEYS),
    ("Sessions", SESSIONS_KEYS),
    ("Questions", QUESTION_KEYS),
    ("Side questions", ASIDE_KEYS),
    ("Conversation, when it has the focus", CONVERSATION_KEYS),
    ("Tool calls", TOOLS_KEYS),
    ("Timeline", TIMELINE_TREE_KEYS + TIMELINE_KEYS),
    ("Plans and comparisons", FILES_KEYS + PLAN_KEYS + CHANGES_KEYS),
    ("A branch that is read", BRANCH_KEYS),
    ("Pager", PAGER_KEYS),
    ("Dialogs", PICKER_KEYS + HELP_KEYS),
    ("MCP servers", MCP_KEYS),
    ("Connecting a model", SETUP_KEYS),
    ("Settings", SETTINGS_KEYS),
    ("Background tasks", TASKS_KEYS),
    ("Agents", AGENTS_KEYS),
    ("Editing", EDITING_KEYS),
)


_ACTIVE_TOGETHER = (
    APP_KEYS + SCREEN_KEYS,
    APP_KEYS + PROMPT_KEYS + EDITING_KEYS,
    APP_KEYS + APPROVAL_KEYS,
    APP_KEYS + QUESTION_KEYS,
    APP_KEYS + ASIDE_KEYS,
    APP_KEYS + CONVERSATION_KEYS,
    APP_KEYS + TOOLS_KEYS,
    APP_KEYS + TIMELINE_TREE_KEYS + TIMELINE_KEYS,
    APP_KEYS + FILES_KEYS + PLAN_KEYS,
    APP_KEYS + FILES_KEYS + CHANGES_KEYS,
    BRANCH_KEYS,
    REVIEW_KEYS,
    SESSIONS_KEYS,
    PAGER_KEYS,
    PICKER_KEYS,
    HELP_KEYS,
    MCP_KEYS,
    SETUP_KEYS,
    SETTINGS_KEYS,
    TASKS_KEYS,
)


def bindings(keys: tuple[Key, ...]) -> list[BindingType]:
    """`keys` for a widget's BINDINGS."""
    return [key.binding for key in keys]


class KeyNames:
    """What the keys are called on screen, after the user's key map."""

    def __init__(self, keymap: Mapping[str, str]) -> None:
        self.use(keymap)

    def use(self, keymap: Mapping[str, str]) -> None:
        """Go by another key map from now on."""
        self.changed = {name: keys for name, keys in keymap.items() if name in known_ids()}
        """What the user mapped otherwise, by binding id."""
        self._keys = {key.id: keymap.get(key.id, key.keys) for _, keys in GROUPS for key in keys}

    def first(self, binding_id: str) -> str:
        """The first key of a binding."""
        return self._keys[binding_id].split(",")[0].strip()

    def one(self, binding_id: str, wanted: str) -> str:
        """`wanted`, as long as it is a key of the binding; else the first one."""
        keys = [key.strip() for key in self._keys[binding_id].split(",")]
        return wanted if wanted in keys else keys[0]

    def actions(self, keys: tuple[Key, ...]) -> dict[str, str]:
        """From pressed key to action, for a widget that looks its keys up itself."""
        return {
            _character_to_key(pressed) if len(pressed) == 1 else pressed: key.action
            for key in keys
            for pressed in (part.strip() for part in self._keys[key.id].split(","))
        }

    def all(self, binding_id: str) -> str:
        """Every key of a binding."""
        return ", ".join(key.strip() for key in self._keys[binding_id].split(","))


def known_ids() -> frozenset[str]:
    """Every id that a keymap may name."""
    return frozenset(key.id for _, keys in GROUPS for key in keys)


def complaints(keymap: Mapping[str, str]) -> list[str]:
    """What is wrong with the user's key map, in sentences."""
    found = []
    if unknown := sorted(set(keymap) - known_ids()):
        found.append(f"The key map names what there is not: {', '.join(unknown)}. /keys lists the names.")
    names = KeyNames(keymap)
    for together in _ACTIVE_TOGETHER:
        owners: dict[str, list[str]] = {}
        for key in together:
            for pressed in names.all(key.id).split(", "):
                owners.setdefault(pressed, []).append(key.id)
        found += [
            f"The key map gives {pressed} to {' and '.join(ids)}. Give one of them another key."
            for pressed, ids in owners.items()
            if len(ids) > 1 and any(owner in keymap for owner in ids)
        ]
    return found
