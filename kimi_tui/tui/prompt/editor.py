"""Multi-line editor of the prompt, with folded pastes and keys that send."""

from typing import Literal, Protocol, cast, get_args

from textual import events
from textual.content import Content

from kimi_tui.base.terminal_text import sanitize
from kimi_tui.frontend.drafts import Draft
from kimi_tui.frontend.image_attachments import IMAGE_TOKEN
from kimi_tui.frontend.paste_folding import FoldedPastes
from kimi_tui.tui.keys.keymap import KeyLabels
from kimi_tui.tui.keys.tables import EDITING_KEYS, PROMPT_KEYS
from kimi_tui.tui.terminal.key_text_area import KeyTextArea

EditorAction = Literal[
    "send",
    "steer",
    "up",
    "down",
    "complete",
    "dismiss",
    "search",
    "paste",
    "shell",
    "editor",
    "delete_or_exit",
]
"""Actions of keys that aren't editing keys."""
_EDITOR_ACTIONS = frozenset(get_args(EditorAction))
_COMPLETION_ACTIONS = frozenset({"complete", "dismiss"})


class EditorOwner(Protocol):
    """The prompt, as its editor uses it."""

    @property
    def is_completing(self) -> bool:
        """Whether completions are shown."""
        ...

    def perform_action(self, action: EditorAction) -> None:
        """Perform the action of a key."""
        ...

    def insert_paste(self, text: str) -> None:
        """Insert text pasted into the terminal."""
        ...


class PromptEditor(KeyTextArea, inherit_bindings=False):
    """Text area of the prompt. The prompt handles keys that aren't editing keys."""

    DEFAULT_CSS = """
    PromptEditor { height: auto; min-height: 1; max-height: 8; width: 1fr; border: none; padding: 0; }
    PromptEditor:focus { border: none; }
    """

    def __init__(
        self,
        *,
        placeholder: str | Content,
        key_labels: KeyLabels,
        owner: EditorOwner,
    ) -> None:
        super().__init__(
            placeholder=placeholder, compact=True, highlight_cursor_line=False, max_checkpoints=200
        )
        self.cursor_blink = False
        self.match_cursor_bracket = False
        self._pastes = FoldedPastes()
        self._owner = owner
        self._actions = key_labels.actions_by_key(EDITING_KEYS + PROMPT_KEYS)

    @property
    def draft(self) -> Draft:
        """The text with its folded pastes."""
        return Draft(self.text, self._pastes.texts)

    @draft.setter
    def draft(self, draft: Draft) -> None:
        self._pastes = FoldedPastes(draft.pastes)
        self.replace_all(sanitize(draft.text))  # it may be untrusted text from a journal

    @property
    def full_text(self) -> str:
        """The text with its pastes unfolded."""
        return self._pastes.unfold(self.text)

    def replace_all(self, text: str) -> None:
        """Replace everything with `text` and move the cursor behind it. Undo restores the old text."""
        self.replace(text, (0, 0), self.document.end)
        self.move_cursor(self.document.end)

    def clear_draft(self) -> None:
        """Remove the text, its pastes and the undo history."""
        self._pastes.clear()
        self.load_text("")

    def insert_pasted(self, text: str) -> None:
        """Insert `text` at the cursor. Large text is folded to a token."""
        text = sanitize(text.replace("\r\n", "\n").replace("\r", "\n"))
        if text:
            self.insert_at_cursor(self._pastes.fold(text))

    def insert_token(self, token: str) -> None:
        """Insert an image token at the cursor, separated from the text around it by spaces."""
        row, column = self.selection.start
        before = self.document.get_line(row)[:column]
        self.insert_at_cursor(f"{' ' if before and not before[-1].isspace() else ''}{token} ")

    def action_newline(self) -> None:
        """Insert a line break."""
        self.insert_at_cursor("\n")

    def action_delete_left(self) -> None:
        """Delete to the left. The token of a paste or an image is deleted as a whole."""
        row, column = self.cursor_location
        line = self.document.get_line(row)
        token_start = self._pastes.token_before(line, column)
        if token_start is None:
            token_start = next(
                (it.start() for it in IMAGE_TOKEN.finditer(line, 0, column) if it.end() == column), None
            )
        if token_start is None or not self.selection.is_empty:
            super().action_delete_left()
        else:
            self.delete_range((row, token_start), (row, column))

    def is_command_key(self, event: events.Key) -> bool:
        """Return whether the key is alt with a letter that another binding uses."""
        is_own = event.key in self._actions
        return not is_own and event.key.startswith("alt+") and event.key in self.screen.active_bindings

    async def handle_key(self, event: events.Key) -> bool:
        """Run the action of a key that isn't an editing key. Return whether the key has an action now."""
        action = self._actions.get(event.key)
        if action is None or (action in _COMPLETION_ACTIONS and not self._owner.is_completing):
            return False
        if action in _EDITOR_ACTIONS:
            # Run immediately, so that the keys typed next are handled after this action.
            self._owner.perform_action(cast("EditorAction", action))
        else:
            await self.app.run_action(action, self)
        return True

    def handle_paste(self, text: str) -> None:
        """Pass pasted text to the prompt."""
        self._owner.insert_paste(text)
