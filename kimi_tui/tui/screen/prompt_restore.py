"""Restores the prompt of a reverted turn, so that the user can edit it."""

from typing import Protocol

from kimi_tui.base.content_parts import text_of
from kimi_tui.frontend.drafts import Draft
from kimi_tui.i18n.translate import tr
from kimi_tui.tui.commands.command_host import CommandHost
from kimi_tui.wire.timeline import Reverted


class PromptView(Protocol):
    """The prompt, as `PromptRestorer` uses it."""

    @property
    def is_blank(self) -> bool:
        """Whether the prompt contains only white space."""
        ...

    @property
    def text(self) -> str:
        """The prompt's text."""
        ...

    def restore(self, draft: Draft) -> None:
        """Put a draft into the empty editor."""
        ...

    def select(self) -> None:
        """If the editor has the focus, select all of the text."""
        ...

    def discard(self) -> None:
        """Clear the editor."""
        ...


class PromptRestorer:
    """Puts the reverted prompt into an empty editor, and removes it when the revert is undone."""

    def __init__(self, prompt: PromptView, *, host: CommandHost) -> None:
        self._prompt = prompt
        self._host = host
        self._restored_text = ""

    def handle_revert(self, event: Reverted) -> None:
        """Update the prompt after a revert."""
        prompt = self._prompt
        if event.reason == "undo" and self._restored_text and prompt.text == self._restored_text:
            prompt.discard()
        self._restored_text = ""
        text = text_of(event.prompt) if event.prompt is not None else ""
        if not text.strip():
            return
        if prompt.is_blank:
            prompt.restore(Draft(text))
            prompt.select()  # the next key replaces it, for example to type /undo
            self._restored_text = text
        elif prompt.text != text:
            self._host.notify(tr("Your draft was kept. The reverted prompt is in the prompt history."))
