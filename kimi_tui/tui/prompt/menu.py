"""Menu of the prompt's actions, so that the prompt can be used with the mouse alone."""

from typing import Literal, get_args

from kimi_tui.frontend.prompt_mode import PromptMode
from kimi_tui.frontend.session_state import SessionViewState
from kimi_tui.i18n.translate import tr, tr_lazy
from kimi_tui.tui.keys.keymap import KeyLabels
from kimi_tui.tui.widgets.choice_list import Choice

MenuAction = Literal["newline", "paste", "search", "steer", "shell", "mode", "clear"]
"""Actions of the menu's lines."""

_LABELS: dict[MenuAction, str] = {
    "newline": tr_lazy("new line"),
    "paste": tr_lazy("paste text or an image from the clipboard"),
    "search": tr_lazy("search the prompt history"),
    "steer": tr_lazy("steer the running turn"),
    "shell": tr_lazy("run commands in your shell"),
    "mode": tr_lazy("next permission mode: ask, accept edits, plan"),
    "clear": tr_lazy("clear the prompt"),
}
_KEYS: dict[MenuAction, str] = {
    "newline": "prompt.newline",
    "paste": "prompt.paste",
    "search": "prompt.search",
    "steer": "prompt.steer",
    "shell": "prompt.shell",
    "mode": "prompt.mode",
    "clear": "app.cancel",
}


def build_menu(
    state: SessionViewState, *, blank: bool, mode: PromptMode, key_labels: KeyLabels
) -> list[Choice]:
    """Return the actions that are possible now. The values are `MenuAction`s."""
    hidden: set[MenuAction] = set()
    if blank:
        hidden |= {"clear", "steer"}
    if state.turn is None:
        hidden.add("steer")
    if mode == "shell":
        hidden |= {"steer", "mode"}
    return [
        Choice(
            value=action,
            label=tr("exit shell mode") if (action, mode) == ("shell", "shell") else tr(_LABELS[action]),
            note=key_labels.first_key(_KEYS[action]),
        )
        for action in get_args(MenuAction)
        if action not in hidden
    ]
