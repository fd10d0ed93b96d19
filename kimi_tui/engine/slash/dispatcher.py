"""Dispatcher of slash commands."""

import asyncio
from typing import assert_never

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.message_text import msg
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.engine.session.turns import TurnQueue
from kimi_tui.engine.slash.registry import (
    PromptCommand,
    SlashCommand,
    SlashRegistry,
    TimelineSlashCommand,
)
from kimi_tui.soul.soul import Soul
from kimi_tui.wire.argument_completion import ArgumentChoices
from kimi_tui.wire.commands import TimelineCommand
from kimi_tui.wire.event_sender import EventSender


class SlashDispatcher:
    """Runs slash commands. Commands that take a turn are queued."""

    def __init__(self, registry: SlashRegistry, *, turns: TurnQueue, soul: Soul, sender: EventSender) -> None:
        self.registry = registry
        self._turns = turns
        self._soul = soul
        self._sender = sender

    async def run(
        self, line: str, group: asyncio.TaskGroup, *, prompt_id: str | None = None
    ) -> TimelineCommand | None:
        """Run the command in `line` (without the slash). Raises KimiTuiError.

        If the command takes a turn, the turn runs in `group`. If `line` stands for a timeline command of the
        Wire, return that command and run nothing.
        """
        found = self.registry.find(line)
        if found is None:
            name = sanitize_line(line).partition(" ")[0]
            raise KimiTuiError(
                msg("Unknown command: /{name}.", name=name), hint="Type /help to list the commands."
            )
        command, argument = found
        typed = f"/{line.strip()}"
        match command:
            case TimelineSlashCommand():
                return command.parse(argument)
            case PromptCommand():
                self._turns.add(
                    typed, group, lambda: self._run_prompt(command, argument, typed), prompt_id=prompt_id
                )
            case SlashCommand(takes_turn=True):
                self._turns.add(
                    typed, group, lambda: command.run(argument), steerable=False, prompt_id=prompt_id
                )
            case SlashCommand():
                await command.run(argument)
            case _:
                assert_never(command)
        return None

    async def complete(self, name: str, text: str) -> None:
        """Send the completions of the argument `text` of the command `name`."""
        self._sender.send(ArgumentChoices(name, text, await self.registry.complete_argument(name, text)))

    async def _run_prompt(self, command: PromptCommand, argument: str, typed: str) -> None:
        await self._soul.run(await command.prompt(argument), typed=typed)
