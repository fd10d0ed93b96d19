"""Controller of the prompt's completions."""

from kimi_tui.frontend.prompt_mode import PromptMode
from kimi_tui.tui.prompt.completion_list import CompletionList
from kimi_tui.tui.prompt.completion_target import CompletionTarget, find_completion_target
from kimi_tui.tui.prompt.editor import PromptEditor


class CompletionController:
    """Keeps the list of completions in sync with the text before the cursor."""

    def __init__(
        self,
        *,
        editor: PromptEditor,
        completions: CompletionList,
    ) -> None:
        self._editor = editor
        self._completions = completions
        self._ignored_text = ""
        """Text without completions, because the user closed the list or didn't type the text."""

    def update(self, mode: PromptMode) -> None:
        """Update the list after the cursor moved."""
        if self._editor.text != self._ignored_text:
            self._ignored_text = ""
        self._completions.set_target(self._current_target(mode))

    def sync(self, mode: PromptMode) -> None:
        """Update the list if the text has changed since the last update, for example during fast typing."""
        target = self._current_target(mode)
        if self._completions.shown_target != target:
            self._completions.set_target(target)

    def ignore_text(self) -> None:
        """Offer no completions until the text changes."""
        self._ignored_text = self._editor.text

    def dismiss(self) -> None:
        """Close the list until the text changes."""
        self.ignore_text()
        self._completions.close()

    def accept(self, *, sending: bool = False) -> bool:
        """Insert the highlighted choice. Return whether the prompt can then be sent."""
        replacement = self._completions.replacement(sending=sending)
        if replacement is None:
            return True
        editor = self._editor
        inserted = editor.replace(
            replacement.text, (replacement.row, replacement.start), editor.cursor_location
        )
        editor.move_cursor(inserted.end_location)
        if replacement.is_done:
            self.dismiss()
        return replacement.is_sendable

    def _current_target(self, mode: PromptMode) -> CompletionTarget | None:
        editor = self._editor
        if editor.text == self._ignored_text or not editor.selection.is_empty:
            return None
        if mode == "shell" or editor.text.startswith("!"):
            return None
        row, column = editor.cursor_location
        return find_completion_target(editor.document.lines, row, column)
