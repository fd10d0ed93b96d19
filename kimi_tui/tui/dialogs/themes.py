"""Theme picker: previews the highlighted theme in the whole app."""

from collections.abc import Sequence
from pathlib import Path

from textual import getters
from textual.app import ComposeResult
from textual.widgets import Static

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.i18n.translate import tr, translate_error
from kimi_tui.tui.dialogs.picker import Picker
from kimi_tui.tui.keys.keymap import KeyLabels
from kimi_tui.tui.terminal.background import KnownBackground
from kimi_tui.tui.themes import register_theme, resolve_theme
from kimi_tui.tui.widgets.choice_list import Choice

_PROBLEM_ROWS = 5
"""Rows that an error about a theme takes from the list."""


class ThemePicker(Picker):
    """Returns the name of a theme. If the user closed the dialog, restores the theme and returns None."""

    problem = getters.query_one("#theme-problem", Static)

    def __init__(
        self,
        names: Sequence[str],
        current: str,
        *,
        data_dir: Path,
        key_labels: KeyLabels,
        background: KnownBackground,
    ) -> None:
        self._background = background
        self._data_dir = data_dir
        self._initial_theme = ""
        choices = [
            Choice(value=it, label=it, note=tr("in use") if it == current else "", is_current=it == current)
            for it in names
        ]
        hint = tr("Your own themes: themes/NAME.toml in the data directory")
        super().__init__(tr("Theme"), choices, key_labels=key_labels, hint=hint)

    def compose_details(self) -> ComposeResult:
        """Yield a line for the error of an invalid theme."""
        yield Static(id="theme-problem", markup=False)

    def on_mount(self) -> None:
        """Preview each theme that is highlighted."""
        self._initial_theme = self.app.theme
        self.watch(self.choices, "highlighted", self._preview, init=False)

    def show_choices(self, choices: Sequence[Choice]) -> None:
        """Show `choices`, and the app in the theme of the first one."""
        super().show_choices(choices)
        if self.is_mounted:
            self._preview()

    def _preview(self) -> None:
        if (choice := self.choices.choice) is None:
            return
        name = resolve_theme(choice.value, luminance=self._background.luminance)
        try:
            register_theme(self.app, name, self._data_dir)
        except KimiTuiError as error:
            self._show_problem(translate_error(error))
            return
        self._show_problem("")
        self.app.theme = name

    def _show_problem(self, problem: str) -> None:
        """Show `problem` instead of the hint and of some rows of the list, so that the keys stay visible."""
        self.problem.update(problem)
        self.set_class(bool(problem), "-problem")
        self.on_resize()

    def on_resize(self) -> None:
        """Limit the height of the list. An error leaves fewer rows for the list."""
        rows = self.size.height // 2
        self.choices.set_max_height(max(rows - _PROBLEM_ROWS, 1) if self.has_class("-problem") else rows)

    def action_close(self) -> None:
        """Restore the theme and close the dialog."""
        self.app.theme = self._initial_theme
        super().action_close()
