"""The help: every command and every key, from the registries that define them."""

from collections.abc import Sequence
from typing import Literal

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from kimi_tui.base.assets import asset_path
from kimi_tui.tui.commands.registry import SlashCommand
from kimi_tui.tui.keys import GROUPS, HELP_KEYS, KeyNames, bindings

_KEYS_CELLS = 26


class Help(ModalScreen[None]):
    """Commands and keys on one page; `topic` is the part that comes first."""

    CSS_PATH = asset_path("styles", "dialogs.tcss")
    BINDINGS = bindings(HELP_KEYS)

    def __init__(
        self,
        *,
        topic: Literal["commands", "keys"],
        commands: Sequence[SlashCommand],
        names: KeyNames,
        version: str,
    ) -> None:
        super().__init__()
        self._topic = topic
        self._commands = commands
        self._names = names
        self._version = version

    def compose(self) -> ComposeResult:
        """A title and the page."""
        with Vertical(id="help", classes="dialog"):
            yield Static(f"kimi-tui {self._version} help", classes="dialog-title", markup=False)
            with VerticalScroll(id="help-page", can_focus=False):
                parts = [self._command_lines(), self._key_lines()]
                if self._topic == "keys":
                    parts.reverse()
                yield Static(Content("\n\n").join(parts))
            yield Static("↑ ↓ scroll · esc closes", classes="dialog-hint", markup=False)

    def _command_lines(self) -> Content:
        lines = [Content.styled("Commands", "bold $primary")]
        for command in self._commands:
            names = " ".join(f"/{name}" for name in (command.name, *command.aliases))
            left = f"{names} {command.argument}".rstrip()
            lines.append(_row(left, command.summary))
        lines.append(_row("@path", "Name a file of the work dir; completes as you type"))
        return Content("\n").join(lines)

    def _key_lines(self) -> Content:
        lines: list[Content] = []
        for title, keys in GROUPS:
            lines += [Content(), Content.styled(f"Keys: {title.lower()}", "bold $primary")]
            lines += [_row(self._names.all(key.id), key.label, note=key.id) for key in keys]
        lines.append(Content())
        lines.append(
            Content.styled(
                'Remap a key in the config file by the name in grey: [keymap] "prompt.send" = "ctrl+enter"',
                "$text-muted",
            )
        )
        return Content("\n").join(lines[1:])

    def action_close(self) -> None:
        """Back to work."""
        self.dismiss(None)

    def action_scroll(self, lines: int) -> None:
        """Scroll by lines."""
        self.query_one("#help-page").scroll_relative(y=lines, animate=False)

    def action_page(self, pages: int) -> None:
        """Scroll by pages."""
        page = self.query_one("#help-page")
        page.scroll_relative(y=pages * max(page.size.height - 1, 1), animate=False)


def _row(left: str, text: str, *, note: str = "") -> Content:
    head = left.ljust(_KEYS_CELLS) if len(left) < _KEYS_CELLS else f"{left}  "
    return Content.assemble(
        ("  ", ""), (head, "$accent"), text, (f"  {note}" if note else "", "$text-disabled")
    )
