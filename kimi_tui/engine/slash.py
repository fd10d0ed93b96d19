"""Commands that the engine understands in RunSlash: one registry of small functions."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from kimi_tui.wire.events import SlashCommandInfo


class SlashTarget(Protocol):
    """What a slash command may do to a session."""

    async def clear(self) -> None:
        """Empty the conversation; what was said stays as a branch."""
        ...

    async def compact(self, focus: str) -> None:
        """Make the conversation shorter; a summary looks at `focus` above all."""
        ...

    async def set_title(self, title: str) -> None:
        """Name the session."""
        ...


@dataclass(frozen=True, slots=True)
class SlashCommand:
    """A command: `run` gets the target and what stands after the name."""

    name: str
    description: str
    run: Callable[[SlashTarget, str], Awaitable[None]]
    aliases: tuple[str, ...] = ()
    takes_turn: bool = False
    """Whether it runs as a turn does: after those that wait already, and so that it can be interrupted."""

    @property
    def info(self) -> SlashCommandInfo:
        """The command as front ends list it."""
        return SlashCommandInfo(self.name, self.description, self.aliases, self.takes_turn)


async def _clear(target: SlashTarget, _: str) -> None:
    await target.clear()


async def _compact(target: SlashTarget, focus: str) -> None:
    await target.compact(focus)


async def _title(target: SlashTarget, title: str) -> None:
    await target.set_title(title)


SLASH_COMMANDS = (
    SlashCommand("clear", "Start over with an empty conversation; this one stays on disk", _clear),
    SlashCommand(
        "compact",
        "Make the conversation shorter: /compact [WHAT TO LOOK AT ABOVE ALL]",
        _compact,
        takes_turn=True,
    ),
    SlashCommand("title", "Name this session: /title NAME", _title),
)
_BY_NAME: Mapping[str, SlashCommand] = {
    name: command for command in SLASH_COMMANDS for name in (command.name, *command.aliases)
}


def find_slash_command(line: str) -> tuple[SlashCommand, str] | None:
    """The command that `line` (without its slash) names, and its argument."""
    name, _, argument = line.strip().partition(" ")
    command = _BY_NAME.get(name)
    return (command, argument.strip()) if command is not None else None
