"""The slash desk: lines that begin with a slash become what their commands do."""

import asyncio
from collections.abc import Callable
from typing import assert_never

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.terminal import plain_line
from kimi_tui.engine.slash_book import PromptCommand, SlashBook, SlashCommand
from kimi_tui.engine.turns import Turns
from kimi_tui.soul.soul import Soul
from kimi_tui.wire.completion import ArgumentChoices
from kimi_tui.wire.events import Event


class SlashDesk:
    """Runs the commands of `book`, those that take a turn in their turn."""

    def __init__(self, book: SlashBook, *, turns: Turns, soul: Soul, send: Callable[[Event], None]) -> None:
        self.book = book
        self._turns = turns
        self._soul = soul
        self._send = send

    async def run(self, line: str, group: asyncio.TaskGroup) -> None:
        """Do what `line` (without its slash) says; its turn, if it takes one, runs in `group`.

        Raises KimiTuiError.
        """
        found = self.book.find(line)
        if found is None:
            name = plain_line(line).partition(" ")[0]
            raise KimiTuiError(f"There is no command /{name}.", hint="/help lists those that there are.")
        command, argument = found
        shown = f"/{line.strip()}"
        match command:
            case PromptCommand():
                self._turns.add(shown, group, lambda: self._say(command, argument, shown))
            case SlashCommand(takes_turn=True):
                self._turns.add(shown, group, lambda: command.run(argument), steerable=False)
            case SlashCommand():
                await command.run(argument)
            case _:
                assert_never(command)

    async def complete(self, name: str, text: str) -> None:
        """Tell what may stand in the place of `text` after the command `name`."""
        self._send(ArgumentChoices(name, text, await self.book.choices(name, text)))

    async def _say(self, command: PromptCommand, argument: str, typed: str) -> None:
        await self._soul.run(await command.prompt(argument), typed=typed)
