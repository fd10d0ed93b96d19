"""The help: every command and every key, from the registries that define them."""

from collections.abc import Sequence
from typing import Literal

from textual import getters
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from kimi_tui.language.saying import later, say
from kimi_tui.language.width import cells, padded
from kimi_tui.tui.commands.registry import SlashCommand
from kimi_tui.tui.hints import Hint, Hints
from kimi_tui.tui.key_tables import HELP_KEYS
from kimi_tui.tui.keys import GROUPS, KeyNames, bindings
from kimi_tui.tui.line_view import LineView
from kimi_tui.tui.markdown.line import BLANK, Line, Spans, ink
from kimi_tui.tui.markdown.wrap import wrap

_LEFT_CELLS = 26
_REMAP = later(
    'Remap a key by its grey name in the config file, under [keymap]: "prompt.send" = "ctrl+enter"'
)


class Help(ModalScreen[None]):
    """Commands and keys on one page; `topic` is the part that comes first."""

    BINDINGS = bindings(HELP_KEYS)

    page = getters.query_one(LineView)

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
        with Vertical(classes="dialog"):
            yield Static(f"kimi-tui {self._version}".rstrip(), classes="dialog-title", markup=False)
            yield LineView(self._drawn)
            first = self._names.first
            yield Hints(
                [
                    Hint(first("help.page_down"), say("a page down"), "page(1)"),
                    Hint(first("help.page_up"), say("a page up"), "page(-1)"),
                    Hint(first("help.close"), say("close"), "close"),
                ]
            )

    def _drawn(self, width: int) -> list[Line]:
        parts = [self._command_lines(width), self._key_lines(width)]
        if self._topic == "keys":
            parts.reverse()
        return [*parts[0], BLANK, *parts[1]]

    def _command_lines(self, width: int) -> list[Line]:
        lines = _heading(say("Commands"))
        for command in self._commands:
            names = " ".join(f"/{name}" for name in (command.name, *command.aliases))
            lines += _row(f"{names} {command.argument}".rstrip(), command.told, width)
        return [*lines, *_row("@path", say("Name a file of the work dir; it completes as you type"), width)]

    def _key_lines(self, width: int) -> list[Line]:
        lines: list[Line] = []
        for title, keys in GROUPS:
            lines += [BLANK, *_heading(say(title))] if lines else _heading(say(title))
            for key in keys:
                lines += _row(self._names.all(key.id), say(key.label), width, note=key.id)
        return [*lines, BLANK, *wrap([(say(_REMAP), ink("dim"))], width)]

    def action_close(self) -> None:
        """Back to work."""
        self.dismiss(None)

    def action_scroll(self, lines: int) -> None:
        """Scroll by lines."""
        self.page.scroll_relative(y=lines, animate=False)

    def action_page(self, pages: int) -> None:
        """Scroll by pages."""
        self.page.scroll_relative(y=pages * max(self.page.size.height - 1, 1), animate=False)


def _heading(title: str) -> list[Line]:
    return [Line(((title, ink("heading-2")),))]


def _row(left: str, text: str, width: int, *, note: str = "") -> list[Line]:
    first: Spans = ((padded(left, _LEFT_CELLS), ink("tool-argument")), ("  ", ink()))
    rest: Spans = ((" " * (_LEFT_CELLS + 2), ink()),)
    spans = [(text, ink()), (f"  {note}", ink("dim"))] if note else [(text, ink())]
    if cells(left) > _LEFT_CELLS:
        return [Line(((left, ink("tool-argument")),)), *wrap(spans, width, first=rest, rest=rest)]
    return wrap(spans, width, first=first, rest=rest)
