"""The editor in the prompt: several lines, large pastes folded, keys that send."""

from collections.abc import Callable
from typing import Literal

from textual import events
from textual.content import Content
from textual.geometry import Region
from textual.strip import Strip
from textual.widgets import TextArea

from kimi_tui.base.terminal import plain
from kimi_tui.tui.brush import Brush
from kimi_tui.tui.images.album import TOKEN
from kimi_tui.tui.key_tables import EDITING_KEYS, PROMPT_KEYS
from kimi_tui.tui.keys import KeyNames
from kimi_tui.tui.keys_first import keys_of
from kimi_tui.tui.prompt.drafts import Draft
from kimi_tui.tui.prompt.paste import Pastes

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
"""Keys that mean more than editing."""
_WHILE_COMPLETING = frozenset({"act('complete')", "act('dismiss')"})


class PromptEditor(TextArea, inherit_bindings=False):
    """Text to send. Keys that mean more than editing are the prompt's."""

    DEFAULT_CSS = """
    PromptEditor { height: auto; min-height: 1; max-height: 8; width: 1fr; border: none; padding: 0; }
    PromptEditor:focus { border: none; }
    """

    def __init__(
        self,
        *,
        placeholder: str | Content,
        names: KeyNames,
        act: Callable[[EditorAction], None],
        pasted: Callable[[str], None],
        is_completing: Callable[[], bool],
    ) -> None:
        super().__init__(
            placeholder=placeholder, compact=True, highlight_cursor_line=False, max_checkpoints=200
        )
        self.cursor_blink = False
        self.match_cursor_bracket = False
        self._pastes = Pastes()
        self._act = act
        self._pasted = pasted
        self._is_completing = is_completing
        self._brush = Brush(self, lambda: self.outer_size.region)
        self._actions = names.actions(EDITING_KEYS + PROMPT_KEYS)
        self._colours_are_due = True

    @property
    def draft(self) -> Draft:
        """What stands here."""
        return Draft(self.text, self._pastes.texts)

    @draft.setter
    def draft(self, draft: Draft) -> None:
        self._pastes = Pastes(draft.pastes)
        self.replace_all(plain(draft.text))  # it may come from a journal

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

    async def action_act(self, action: EditorAction) -> None:
        """Have the prompt do what a key means, now: what is typed after it comes after it."""
        self._act(action)

    def insert_pasted(self, text: str) -> None:
        """Insert `text` at the cursor, folded to a token when it is large."""
        text = plain(text.replace("\r\n", "\n").replace("\r", "\n"))
        if text and (result := self._replace_via_keyboard(self._pastes.fold(text), *self.selection)):
            self.move_cursor(result.end_location)

    def insert_token(self, token: str) -> None:
        """Insert a picture's token at the cursor, apart from the words around it."""
        row, column = self.selection.start
        before = self.document.get_line(row)[:column]
        text = f"{' ' if before and not before[-1].isspace() else ''}{token} "
        if result := self._replace_via_keyboard(text, *self.selection):
            self.move_cursor(result.end_location)

    def action_newline(self) -> None:
        """Break the line."""
        self._replace_via_keyboard("\n", *self.selection)

    def action_delete_left(self) -> None:
        """Delete to the left; the token of a paste or a picture goes as a whole."""
        row, column = self.cursor_location
        line = self.document.get_line(row)
        token = self._pastes.token_before(line, column)
        if token is None:
            token = next((it.start() for it in TOKEN.finditer(line, 0, column) if it.end() == column), None)
        if token is None or not self.selection.is_empty:
            super().action_delete_left()
        else:
            self._delete_via_keyboard((row, token), (row, column))

    def notify_style_update(self) -> None:
        """Its colours may be others now."""
        self._colours_are_due = True
        super().notify_style_update()

    def render_lines(self, crop: Region) -> list[Strip]:
        """The rows in `crop`. Textual looks up the colours of all parts each time, which takes longer."""
        if self._colours_are_due and self._theme is not None:
            self._colours_are_due = False
            self._theme.apply_css(self)
        return super(TextArea, self).render_lines(crop)

    async def _on_key(self, event: events.Key) -> None:
        # Textual looks for bindings only once a key has bubbled up to the app; letters typed fast would
        # overtake it. Here each key does its work in its turn.
        action = self._actions.get(event.key)
        if action is None and event.key.startswith("alt+") and event.key in self.screen.active_bindings:
            event.prevent_default()  # to Textual it is its letter
            return
        if action is None or (action in _WHILE_COMPLETING and not self._is_completing()):
            await super()._on_key(event)
        else:
            await self.app.run_action(action, self)
            event.stop()
        event.prevent_default()
        self._echo()

    def _echo(self) -> None:
        """Show what the key did now: the compositor may have a burst of an answer before it."""
        if not self._layout_required:
            strips = self.render_lines(self.outer_size.region)
            self._brush.paint((y, 0, strip) for y, strip in enumerate(strips))
        keys_of(self.app).answered()

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self._pasted(event.text)
