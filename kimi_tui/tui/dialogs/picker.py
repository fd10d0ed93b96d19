"""Picker dialog: choose one of many values by typing part of its label."""

from kimi_tui.tui.dialogs.filter_dialog import FilterDialog
from kimi_tui.tui.widgets.choice_list import Choice


class Picker(FilterDialog[str]):
    """Returns the chosen value, or None if the user closed the dialog."""

    def result_for(self, choice: Choice) -> str:
        """Return the value of `choice`."""
        return choice.value
