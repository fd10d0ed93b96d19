"""What else the prompt's keys do, as a list to choose from: the prompt can be used by mouse alone."""

from typing import Literal, get_args

from kimi_tui.language.saying import later, say
from kimi_tui.tui.choices import Choice
from kimi_tui.tui.keys import KeyNames
from kimi_tui.tui.prompt.mode import PromptMode
from kimi_tui.tui.state import ScreenState

MenuAction = Literal["newline", "paste", "search", "steer", "shell", "mode", "clear"]
"""What a line of it does."""

_LABELS: dict[MenuAction, str] = {
    "newline": later("new line"),
    "paste": later("paste, or attach a picture from the clipboard"),
    "search": later("search older prompts"),
    "steer": later("say it to the running turn, without waiting"),
    "shell": later("run commands in your shell"),
    "mode": later("next mode: ask, accept edits, plan"),
    "clear": later("clear the prompt"),
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


def menu(state: ScreenState, *, blank: bool, mode: PromptMode, names: KeyNames) -> list[Choice]:
    """What can be done now; the values are `MenuAction`s."""
    absent: set[MenuAction] = set()
    if blank:
        absent |= {"clear", "steer"}
    if state.turn is None:
        absent.add("steer")
    if mode == "shell":
        absent |= {"steer", "mode"}
    return [
        Choice(
            value=action,
            label=say("talk to the agent") if (action, mode) == ("shell", "shell") else say(_LABELS[action]),
            note=names.first(_KEYS[action]),
        )
        for action in get_args(MenuAction)
        if action not in absent
    ]
