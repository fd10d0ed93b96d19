"""Help dialog: all keys and commands, from the registries that define them, with a search."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from rich.cells import cell_len
from textual import getters, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.frontend.text.cell_width import pad_right
from kimi_tui.frontend.text.command_topics import (
    COMMAND_SYNONYMS,
    COMMAND_TOPICS,
    CUSTOM_TOPIC,
    CommandTopic,
    topic_of,
)
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


@dataclass(frozen=True, slots=True)
class _Row:
    """A key or a command."""

    left: str
    text: str
    note: str = ""
    synonyms: tuple[str, ...] = ()

    def matches(self, words: Iterable[str], heading: str) -> bool:
        """Return whether each of `words` (lowercase) is in the row, its synonyms or its heading."""
        text = " ".join((heading, self.left, self.text, self.note, *self.synonyms)).lower()
        return all(word in text for word in words)


class Help(ModalScreen[None]):
    """Lists keys, then commands by topic, or only keys. Typed text filters the list."""

    BINDINGS = bindings(HELP_KEYS)

    field = getters.query_one("#help-query", Input)
    page = getters.query_one(LineView)

    def __init__(
        self,
        *,
        content: Literal["all", "keys"],
        query: str = "",
        commands: Sequence[UiCommand],
        key_labels: KeyLabels,
        version: str,
    ) -> None:
        super().__init__()
        self._content = content
        self._query = query
        self._commands = commands
        self._key_labels = key_labels
        self._version = version

    def compose(self) -> ComposeResult:
        """Yield the title, the page and the key hints."""
        with Vertical(classes="dialog"):
            yield Static(f"kimi-tui {self._version}".rstrip(), classes="dialog-title", markup=False)
            field = Input(self._query, placeholder=tr("Type to search keys and commands"), id="help-query")
            field.cursor_blink = False
            yield field
            yield LineView(self)
            first = self._key_labels.first_key
            yield KeyHints(
                [
                    KeyHint(first("help.page_down"), tr("page down"), "page(1)"),
                    KeyHint(first("help.page_up"), tr("page up"), "page(-1)"),
                    KeyHint(first("help.close"), tr("close"), "close"),
                ]
            )

    def on_mount(self) -> None:
        """Focus the search."""
        self.field.focus()

    @on(Input.Changed)
    def _handle_query(self) -> None:
        self.page.scroll_home(animate=False)
        self.page.redraw()

    def build_lines(self, width: int) -> list[StyledLine]:
        """Return the keys and commands that match the query."""
        words = self.field.value.lower().split()
        lines: list[StyledLine] = []
        for heading, rows in self._sections():
            shown = [row for row in rows if row.matches(words, heading)]
            if shown:
                lines += [BLANK, *_heading(heading)] if lines else _heading(heading)
                lines += [line for row in shown for line in _row_lines(row, width)]
        if not lines:
            query = sanitize_line(self.field.value.strip())
            return wrap([(tr("“{query}” not found", query=query), text_style("dim"))], width)
        return lines if words else [*lines, BLANK, *wrap([(tr(_REMAP), text_style("dim"))], width)]

    def _sections(self) -> Iterator[tuple[str, list[_Row]]]:
        """Yield the headings with their rows."""
        for title, keys in GROUPS:
            yield (
                tr(title),
                [_Row(self._key_labels.all_keys(key.id), tr(key.label), note=key.id) for key in keys],
            )
        if self._content == "all":
            for topic in (*COMMAND_TOPICS, CUSTOM_TOPIC):
                order = {name: index for index, name in enumerate(topic.commands)}
                members = [it for it in self._commands if topic_of(it.name) is topic]
                members.sort(key=lambda it: order.get(it.name, len(order)))
                rows = [_command_row(it, topic) for it in members]
                if topic.id == "prompt":
                    rows.append(_Row("@path", tr("Mention a file in the working directory")))
                yield tr("Commands: {topic}", topic=tr(topic.title)), rows

    def action_close(self) -> None:
        """Clear the search if the user has typed one; otherwise close the dialog."""
        if self.field.value not in ("", self._query):
            self.field.value = ""
        else:
            self.dismiss(None)

    def action_scroll(self, lines: int) -> None:
        """Scroll by lines."""
        self.page.scroll_relative(y=lines, animate=False)

    def action_page(self, pages: int) -> None:
        """Scroll by pages."""
        self.page.scroll_relative(y=pages * max(self.page.size.height - 1, 1), animate=False)


def _heading(title: str) -> list[StyledLine]:
    return [StyledLine(((title, text_style("heading-2")),))]


def _command_row(command: UiCommand, topic: CommandTopic) -> _Row:
    names = " ".join(f"/{name}" for name in (command.name, *command.aliases))
    return _Row(
        f"{names} {command.argument}".rstrip(),
        command.translated_summary,
        synonyms=(*COMMAND_SYNONYMS.get(command.name, ()), topic.id, *topic.words),
    )


def _row_lines(row: _Row, width: int) -> list[StyledLine]:
    first: Spans = ((pad_right(row.left, _LEFT_CELLS), text_style("tool-argument")), ("  ", text_style()))
    rest: Spans = ((" " * (_LEFT_CELLS + 2), text_style()),)
    spans = [(row.text, text_style())]
    if row.note:
        spans.append((f"  {row.note}", text_style("dim")))
    if cell_len(row.left) > _LEFT_CELLS:
        return [
            StyledLine(((row.left, text_style("tool-argument")),)),
            *wrap(spans, width, first=rest, rest=rest),
        ]
    return wrap(spans, width, first=first, rest=rest)
