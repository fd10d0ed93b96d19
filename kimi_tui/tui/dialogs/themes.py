"""Theme picker, which shows the app in the highlighted theme."""

from collections.abc import Sequence

from kimi_tui.i18n.translate import tr
from kimi_tui.tui.dialogs.picker import Picker
from kimi_tui.tui.keys.keymap import KeyLabels
from kimi_tui.tui.widgets.choice_list import Choice


class ThemePicker(Picker):
    """Returns the name of a theme, or None if the user closed the dialog, which restores the theme."""

    def __init__(self, names: Sequence[str], current: str, *, key_labels: KeyLabels) -> None:
        self._initial_theme = current
        choices = [
            Choice(value=it, label=it, note=tr("in use") if it == current else "", is_current=it == current)
            for it in names
        ]
        super().__init__(tr("Theme"), choices, key_labels=key_labels)

    def on_mount(self) -> None:
        """Preview each theme that is highlighted."""
        self.watch(self.choices, "highlighted", self._preview, init=False)

    def show_choices(self, choices: Sequence[Choice]) -> None:
        """Show `choices`, and the app in the theme of the first one."""
        super().show_choices(choices)
        if self.is_mounted:
            self._preview()

    def _preview(self) -> None:
        if (choice := self.choices.choice) is not None:
            self.app.theme = choice.value

    def action_close(self) -> None:
        """Restore the theme and close the dialog."""
        self.app.theme = self._initial_theme
        super().action_close()
