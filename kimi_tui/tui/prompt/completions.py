"""The completions above the prompt: what the words before the cursor may become."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, assert_never

from textual import work

from kimi_tui.base.value import value
from kimi_tui.tui.choices import Choice, Choices
from kimi_tui.tui.prompt.completion import Completion, file_reference
from kimi_tui.tui.prompt.files import FileIndex

MOST_SHOWN = 8
"""Lines in sight at once."""


class CommandBook(Protocol):
    """What must be known of commands to complete them."""

    def commands(self, query: str) -> Sequence[Choice]:
        """Commands whose name fits, best first; values are names."""
        ...

    def arguments(self, name: str, query: str) -> Sequence[Choice]:
        """What a command's argument may be."""
        ...

    def resources(self, query: str) -> Sequence[Choice]:
        """What besides files can be named after `@`."""
        ...

    def takes_argument(self, name: str) -> bool:
        """Whether the command is incomplete without more words."""
        ...


@value
class Replacement:
    """What the marked line puts in place of the stretch being completed."""

    text: str
    row: int
    start: int
    done: bool
    """Whether nothing more is to be completed there."""
    sendable: bool
    """Whether the prompt can be sent as it then stands."""


class Completions(Choices):
    """The list, shown for as long as there is something to complete."""

    DEFAULT_CSS = """
    Completions { overlay: screen; display: none; width: 1fr; max-width: 110; }
    Completions.-open { display: block; }
    """

    def __init__(self, *, work_dir: Path) -> None:
        super().__init__()
        self.styles.max_height = MOST_SHOWN
        self.book: CommandBook | None = None
        """What knows the commands; there is none before the screen is complete."""
        self._files = FileIndex(work_dir)
        self._wanted: Completion | None = None
        self._shown: Completion | None = None

    @property
    def completing(self) -> Completion | None:
        """What the list is for; None while it is closed."""
        return self._shown

    def follow(self, completion: Completion | None) -> None:
        """List what `completion` may become; None closes the list."""
        self._wanted = completion
        match completion:
            case None:
                self._list(None, ())
            case Completion(kind="command", query=query):
                self._list(completion, self.book.commands(query) if self.book else ())
            case Completion(kind="argument", query=query, command=command):
                self._list(completion, self.book.arguments(command, query) if self.book else ())
            case _:
                self._list(None, ())
                self._list_files()
                self._search_files(completion)

    def refresh_list(self) -> None:
        """List anew what is being completed: more is known of it now."""
        if self._wanted is not None and self._wanted.kind == "argument":
            self.follow(self._wanted)

    def close(self) -> None:
        """Close the list."""
        self.follow(None)

    def replacement(self, *, sending: bool = False) -> Replacement | None:
        """What the marked line stands for; None when nothing is marked."""
        completion, choice = self._shown, self.choice
        if completion is None or choice is None:
            return None
        match completion.kind:
            case "command":
                complete = self.book is not None and not self.book.takes_argument(choice.value)
                text = f"/{choice.value}" if sending and complete else f"/{choice.value} "
                sendable = complete or choice.value == completion.query
            case "argument":
                text, sendable = choice.value, True
            case "file":
                text = file_reference(choice.value) + ("" if choice.value.endswith("/") else " ")
                sendable = text.strip() == f"@{completion.query}"
            case _:
                assert_never(completion.kind)
        done = completion.kind == "argument" or (sending and sendable)
        return Replacement(text, completion.row, completion.start, done, sendable)

    @work(group="files")
    async def _list_files(self) -> None:
        if await self._files.refresh() and self._wanted is not None:
            self.follow(self._wanted)

    @work(group="search", exclusive=True)
    async def _search_files(self, completion: Completion) -> None:
        found = await self._files.search(completion.query)
        if completion is self._wanted:
            files = [Choice(value=match.text, label=match.text, matched=match.positions) for match in found]
            others = self.book.resources(completion.query) if self.book is not None else ()
            is_resource = any(
                ":" in completion.query and it.value.startswith(completion.query) for it in others
            )
            self._list(completion, [*others, *files] if is_resource else [*files, *others])

    def _list(self, completion: Completion | None, choices: Sequence[Choice]) -> None:
        self._shown = completion if choices else None
        self.set_class(self._shown is not None, "-open")
        if self._shown is not None:
            self.show(choices)
            self.styles.offset = (0, -min(len(choices), MOST_SHOWN) - 1)
