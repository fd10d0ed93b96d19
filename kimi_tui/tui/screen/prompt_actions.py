"""Actions of the prompt that open dialogs or wait for other programs."""

from typing import Literal, assert_never

from kimi_tui.frontend.clipboard import Clipboard
from kimi_tui.frontend.image_loader import load_image
from kimi_tui.i18n.translate import tr
from kimi_tui.tui.commands.command_host import CommandHost
from kimi_tui.tui.commands.modes import cycle_mode
from kimi_tui.tui.keys.keymap import KeyLabels
from kimi_tui.tui.prompt.menu import build_menu
from kimi_tui.tui.prompt.prompt import PromptBox
from kimi_tui.tui.widgets.choice_list import Choice


class PromptActions:
    """Performs the actions of one prompt."""

    def __init__(
        self, prompt: PromptBox, *, host: CommandHost, clipboard: Clipboard, key_labels: KeyLabels
    ) -> None:
        self._prompt = prompt
        self._host = host
        self._clipboard = clipboard
        self._key_labels = key_labels

    async def perform(self, action: Literal["menu", "search", "paste", "editor"]) -> None:
        """Perform an action."""
        match action:
            case "menu":
                await self._open_menu()
            case "search":
                await self._search_history()
            case "paste":
                await self._paste_clipboard()
            case "editor":
                await self._host.edit_prompt()
            case _:
                assert_never(action)

    async def _open_menu(self) -> None:
        prompt = self._prompt
        entries = build_menu(
            self._host.state, blank=prompt.is_blank, mode=prompt.mode, key_labels=self._key_labels
        )
        match await self._host.choose(tr("Prompt"), entries):
            case "newline":
                prompt.editor.action_newline()
            case "clear":
                prompt.discard()
            case "mode":
                cycle_mode(self._host)
            case ("paste" | "search" | "steer" | "shell") as action:
                prompt.perform_action(action)
            case _:
                pass

    async def _search_history(self) -> None:
        entries = self._prompt.history.entries
        if not entries:
            self._host.notify(tr("No earlier prompts in this directory."))
            return
        choices = [Choice(value=entry, label=entry) for entry in reversed(entries)]
        if chosen := await self._host.choose(tr("Prompt history"), choices):
            self._prompt.fill(chosen)

    async def _paste_clipboard(self) -> None:
        """Paste the system clipboard's image or text. Some terminals can't paste them."""
        if image := await self._clipboard.paste_image():
            await self._prompt.attachments.attach(lambda: load_image(image, name=tr("The clipboard's image")))
        elif text := await self._clipboard.paste():
            self._prompt.editor.insert_pasted(text)
        else:
            self._host.notify(
                tr(
                    "The clipboard is empty or can't be read. Paste with your terminal's own key, or attach"
                    " an image with /image PATH."
                ),
                severity="warning",
            )
