"""List of completions above the prompt."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, assert_never

from textual import work

from kimi_tui.base.frozen import frozen
from kimi_tui.tui.prompt.completion_target import CompletionTarget, file_reference
from kimi_tui.tui.prompt.file_index import FileIndex
from kimi_tui.tui.widgets.choice_list import Choice, ChoiceList

MAX_SHOWN = 8
"""Maximum number of visible lines."""


class CommandSource(Protocol):
    """Source of completions: commands, arguments, resources and messages."""

    def commands(self, query: str) -> Sequence[Choice]:
        """Return the commands that match `query`, best first. Values are command names."""
        ...

    def arguments(self, name: str, query: str) -> Sequence[Choice]:
        """Return the possible arguments of a command."""
        ...

    def resources(self, query: str) -> Sequence[Choice]:
        """Return the choices for `@` that aren't files: MCP resources."""
        ...

    def passages(self, query: str) -> Sequence[Choice]:
        """Return the messages of all sessions that contain `query`, from the replies received so far.

        Values are the texts to insert.
        """
        ...

    def takes_argument(self, name: str) -> bool:
        """Return whether the command requires an argument."""
        ...


@frozen
class Replacement:
    """Text that replaces the completed part of a line."""

    text: str
    row: int
    start: int
    is_done: bool
    """Whether the completed text has no further completions."""
    is_sendable: bool
    """Whether the prompt can be sent after the replacement."""


class CompletionList(ChoiceList):
    """List of choices. Visible while the text at the cursor has completions."""

    DEFAULT_CSS = """
    CompletionList { overlay: screen; display: none; width: 1fr; max-width: 110; }
    CompletionList.-open { display: block; }
    """

    def __init__(self, *, work_dir: Path) -> None:
        super().__init__()
        self.styles.max_height = MAX_SHOWN
        self.command_source: CommandSource | None = None
        """None until the screen's controllers are loaded."""
        self._files = FileIndex(work_dir)
        self._requested_target: CompletionTarget | None = None
        self._shown_target: CompletionTarget | None = None

    @property
    def shown_target(self) -> CompletionTarget | None:
        """The target of the visible completions. None while the list is closed."""
        return self._shown_target

    def set_target(self, target: CompletionTarget | None) -> None:
        """Show the completions of `target`. None closes the list."""
        self._requested_target = target
        match target:
            case None:
                self._show_choices(None, ())
            case CompletionTarget(kind="command", query=query):
                self._show_choices(target, self.command_source.commands(query) if self.command_source else ())
            case CompletionTarget(kind="argument", query=query, command=command):
                self._show_choices(
                    target, self.command_source.arguments(command, query) if self.command_source else ()
                )
            case CompletionTarget(kind="passage", query=query):
                self._show_choices(target, self.command_source.passages(query) if self.command_source else ())
            case _:
                self._show_choices(None, ())
                self._list_files()
                self._search_files(target)

    def refresh_list(self) -> None:
        """Update the list after the engine has sent completions."""
        if self._requested_target is not None and self._requested_target.kind in ("argument", "passage"):
            self.set_target(self._requested_target)

    def close(self) -> None:
        """Close the list."""
        self.set_target(None)

    def replacement(self, *, sending: bool = False) -> Replacement | None:
        """Return the replacement for the highlighted line. None without a highlighted line."""
        target, choice = self._shown_target, self.choice
        if target is None or choice is None:
            return None
        match target.kind:
            case "command":
                is_complete = self.command_source is not None and not self.command_source.takes_argument(
                    choice.value
                )
                text = f"/{choice.value}" if sending and is_complete else f"/{choice.value} "
                is_sendable = is_complete or choice.value == target.query
            case "argument":
                text, is_sendable = choice.value, True
            case "file":
                text = file_reference(choice.value) + ("" if choice.value.endswith("/") else " ")
                is_sendable = text.strip() == f"@{target.query}"
            case "passage":
                text, is_sendable = choice.value, False
            case _:
                assert_never(target.kind)
        is_done = target.kind in ("argument", "passage") or (sending and is_sendable)
        return Replacement(text, target.row, target.start, is_done, is_sendable)

    @work(group="files")
    async def _list_files(self) -> None:
        if await self._files.refresh() and self._requested_target is not None:
            self.set_target(self._requested_target)

    @work(group="search", exclusive=True)
    async def _search_files(self, target: CompletionTarget) -> None:
        matches = await self._files.search(target.query)
        if target is self._requested_target:
            files = [
                Choice(value=match.text, label=match.text, matched_positions=match.positions)
                for match in matches
            ]
            resources = self.command_source.resources(target.query) if self.command_source is not None else ()
            is_resource = any(":" in target.query and it.value.startswith(target.query) for it in resources)
            self._show_choices(target, [*resources, *files] if is_resource else [*files, *resources])

    def _show_choices(self, target: CompletionTarget | None, choices: Sequence[Choice]) -> None:
        self._shown_target = target if choices else None
        self.set_class(self._shown_target is not None, "-open")
        if self._shown_target is not None:
            self.show(choices)
            self.styles.offset = (0, -min(len(choices), MAX_SHOWN) - 1)
