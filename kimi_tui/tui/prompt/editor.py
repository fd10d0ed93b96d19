"""The editor in the prompt: several lines, large pastes folded, keys that send."""

from dataclasses import dataclass

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widgets import TextArea

from kimi_tui.base.terminal import plain
from kimi_tui.tui.keys import EDITING_KEYS, PROMPT_KEYS, bindings
from kimi_tui.tui.prompt.drafts import Draft
from kimi_tui.tui.prompt.paste import Pastes


class PromptEditor(TextArea, inherit_bindings=False):
    """Text to send. It tells its owner about keys that mean more than editing."""

    DEFAULT_CSS = """
    PromptEditor { height: auto; min-height: 1; max-height: 8; width: 1fr; border: none; padding: 0; }
    PromptEditor:focus { border: none; }
    """
    BINDINGS = bindings(EDITING_KEYS + PROMPT_KEYS)

    @dataclass
    class Pressed(Message):
        """A key was pressed that the prompt acts on."""

        action: str

    def __init__(self, *, placeholder: str | Content) -> None:
        super().__init__(
            placeholder=placeholder, compact=True, highlight_cursor_line=False, max_checkpoints=200
        )
        self.cursor_blink = False
        self.match_cursor_bracket = False
        self.completing = False
        """Whether completions are shown: then some keys are theirs."""
        self._pastes = Pastes()

    @property
    def draft(self) -> Draft:
        """What stands here."""
        return Draft(self.text, self._pastes.texts)

    @draft.setter
    def draft(self, draft: Draft) -> None:
        self._pastes = Pastes(draft.pastes)
        self.replace_all(draft.text)

    @property
    def unfolded(self) -> str:
        """The text with its pastes in place."""
        return self._pastes.unfold(self.text)

    def replace_all(self, text: str) -> None:
        """Put `text` in place of everything, cursor at its end; undo brings the old text back."""
        self.replace(text, (0, 0), self.document.end)
        self.move_cursor(self.document.end)

    def clear_draft(self) -> None:
        """Nothing stands here any more."""
        self._pastes.clear()
        self.load_text("")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Completion keys mean something only while completions are shown."""
        if action in ("complete", "dismiss"):
            return self.completing
        return super().check_action(action, parameters)

    def action_send(self) -> None:
        """Send, or take the marked completion."""
        self.post_message(self.Pressed("send"))

    def action_steer(self) -> None:
        """Say it to the running turn."""
        self.post_message(self.Pressed("steer"))

    def action_complete(self) -> None:
        """Take the marked completion."""
        self.post_message(self.Pressed("complete"))

    def action_dismiss(self) -> None:
        """Close the completions."""
        self.post_message(self.Pressed("dismiss"))

    def action_search_history(self) -> None:
        """Search older prompts."""
        self.post_message(self.Pressed("search"))

    def action_paste(self) -> None:
        """Paste what the clipboard of the system holds."""
        self.post_message(self.Pressed("paste"))

    def insert_pasted(self, text: str) -> None:
        """Insert `text` at the cursor, folded to a token when it is large."""
        text = plain(text.replace("\r\n", "\n").replace("\r", "\n"))
        if text and (result := self._replace_via_keyboard(self._pastes.fold(text), *self.selection)):
            self.move_cursor(result.end_location)

    def action_newline(self) -> None:
        """Break the line."""
        self._replace_via_keyboard("\n", *self.selection)

    def action_up(self) -> None:
        """A line up, at the first line an older prompt."""
        if self.completing or self.cursor_at_first_line:
            self.post_message(self.Pressed("up"))
        else:
            self.action_cursor_up()

    def action_down(self) -> None:
        """A line down, at the last line a newer prompt."""
        if self.completing or self.cursor_at_last_line:
            self.post_message(self.Pressed("down"))
        else:
            self.action_cursor_down()

    def action_delete_or_exit(self) -> None:
        """Delete to the right; in an empty prompt, leave."""
        if self.text:
            self.action_delete_right()
        else:
            self.post_message(self.Pressed("exit"))

    def action_delete_left(self) -> None:
        """Delete to the left; a paste's token goes as a whole."""
        row, column = self.cursor_location
        token = self._pastes.token_before(self.document.get_line(row), column)
        if token is None or not self.selection.is_empty:
            super().action_delete_left()
        else:
            self._delete_via_keyboard((row, token), (row, column))

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self.insert_pasted(event.text)
