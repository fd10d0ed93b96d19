"""Help dialog: all commands and keys, from the registries that define them."""

from collections.abc import Sequence
from typing import Literal

from rich.cells import cell_len
from textual import getters
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from kimi_tui.frontend.text.cell_width import pad_right
from kimi_tui.i18n.translate import tr, tr_lazy
from kimi_tui.tui.commands.ui_command import UiCommand
from kimi_tui.tui.keys.keymap import GROUPS, KeyLabels, bindings
from kimi_tui.tui.keys.tables import HELP_KEYS
from kimi_tui.tui.markdown.styled_line import BLANK, Spans, StyledLine, text_style
from kimi_tui.tui.markdown.wrap import wrap
from kimi_tui.tui.widgets.key_hints import KeyHint, KeyHints
from kimi_tui.tui.widgets.line_view import LineView

_LEFT_CELLS = 26
_REMAP = tr_lazy(
    "To remap a key, add its ID (shown in gray) under [keymap] in the config file: "
    '"prompt.send" = "ctrl+enter"'
)


class Help(ModalScreen[None]):
    """Lists commands and keys on one page, those of `topic` first."""

    BINDINGS = bindings(HELP_KEYS)

    page = getters.query_one(LineView)

    def __init__(
        self,
        *,
        topic: Literal["commands", "keys"],
        commands: Sequence[UiCommand],
        key_labels: KeyLabels,
        version: str,
    ) -> None:
        super().__init__()
        self._topic = topic
        self._commands = commands
        self._key_labels = key_labels
        self._version = version

    def compose(self) -> ComposeResult:
        """Yield the title, the page and the key hints."""
        with Vertical(classes="dialog"):
            yield Static(f"kimi-tui {self._version}".rstrip(), classes="dialog-title", markup=False)
            yield LineView(self)
            first = self._key_labels.first_key
            yield KeyHints(
                [
                    KeyHint(first("help.page_down"), tr("page down"), "page(1)"),
                    KeyHint(first("help.page_up"), tr("page up"), "page(-1)"),
                    KeyHint(first("help.close"), tr("close"), "close"),
                ]
            )

    def build_lines(self, width: int) -> list[StyledLine]:
        """Return the commands and the keys, the requested topic first."""
        parts = [self._command_lines(width), self._key_lines(width)]
        if self._topic == "keys":
            parts.reverse()
        return [*parts[0], BLANK, *parts[1]]

    def _command_lines(self, width: int) -> list[StyledLine]:
        lines = _heading(tr("Commands"))
        for command in self._commands:
            names = " ".join(f"/{name}" for name in (command.name, *command.aliases))
            lines += _row(f"{names} {command.argument}".rstrip(), command.translated_summary, width)
        return [*lines, *_row("@path", tr("Mention a file in the working directory"), width)]

    def _key_lines(self, width: int) -> list[StyledLine]:
        lines: list[StyledLine] = []
        for title, keys in GROUPS:
            lines += [BLANK, *_heading(tr(title))] if lines else _heading(tr(title))
            for key in keys:
                lines += _row(self._key_labels.all_keys(key.id), tr(key.label), width, note=key.id)
        return [*lines, BLANK, *wrap([(tr(_REMAP), text_style("dim"))], width)]

    def action_close(self) -> None:
        """Close the dialog."""
        self.dismiss(None)

    def action_scroll(self, lines: int) -> None:
        """Scroll by lines."""
        self.page.scroll_relative(y=lines, animate=False)

    def action_page(self, pages: int) -> None:
        """Scroll by pages."""
        self.page.scroll_relative(y=pages * max(self.page.size.height - 1, 1), animate=False)


def _heading(title: str) -> list[StyledLine]:
    return [StyledLine(((title, text_style("heading-2")),))]


def _row(left: str, text: str, width: int, *, note: str = "") -> list[StyledLine]:
    first: Spans = ((pad_right(left, _LEFT_CELLS), text_style("tool-argument")), ("  ", text_style()))
    rest: Spans = ((" " * (_LEFT_CELLS + 2), text_style()),)
    spans = [(text, text_style()), (f"  {note}", text_style("dim"))] if note else [(text, text_style())]
    if cell_len(left) > _LEFT_CELLS:
        return [
            StyledLine(((left, text_style("tool-argument")),)),
            *wrap(spans, width, first=rest, rest=rest),
        ]
    return wrap(spans, width, first=first, rest=rest)
