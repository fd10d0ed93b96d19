"""Completing: what the list of completions is for, and the marked choice put into the editor."""

from collections.abc import Callable

from kimi_tui.tui.prompt.completion import Completion, completion_at
from kimi_tui.tui.prompt.completions import Completions
from kimi_tui.tui.prompt.editor import PromptEditor
from kimi_tui.tui.prompt.mode import PromptMode


class Completing:
    """Keeps the list in step with what stands before the cursor."""

    def __init__(
        self,
        *,
        editor: Callable[[], PromptEditor],
        completions: Callable[[], Completions],
        mode: Callable[[], PromptMode],
    ) -> None:
        self._editor = editor
        self._completions = completions
        self._mode = mode
        self._left_alone = ""
        """The text that nothing is offered for: the user closed the list, or did not type it."""

    def follow(self) -> None:
        """The cursor has moved."""
        if self._editor().text != self._left_alone:
            self._left_alone = ""
        self._completions().follow(self._here())

    def catch_up(self) -> None:
        """Someone types so fast that the list may be of what stood here before."""
        here, completions = self._here(), self._completions()
        if completions.completing != here:
            completions.follow(here)

    def leave_alone(self) -> None:
        """Offer nothing for the text as it stands."""
        self._left_alone = self._editor().text

    def dismiss(self) -> None:
        """Close the list until the text is another."""
        self.leave_alone()
        self._completions().close()

    def accept(self, *, sending: bool = False) -> bool:
        """Put the marked choice in; whether the prompt can be sent as it now stands."""
        replacement = self._completions().replacement(sending=sending)
        if replacement is None:
            return True
        editor = self._editor()
        editor.replace(replacement.text, (replacement.row, replacement.start), editor.cursor_location)
        editor.move_cursor((replacement.row, replacement.start + len(replacement.text)))
        if replacement.done:
            self.dismiss()
        return replacement.sendable

    def _here(self) -> Completion | None:
        editor = self._editor()
        if editor.text == self._left_alone or not editor.selection.is_empty:
            return None
        if self._mode() == "shell" or editor.text.startswith("!"):
            return None
        row, column = editor.cursor_location
        return completion_at(editor.document.lines, row, column)
