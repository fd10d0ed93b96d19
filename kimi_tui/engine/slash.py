"""The slash commands that every session has: small functions over what may be done to it."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Protocol

from kimi_tui.base.errors import UsageError
from kimi_tui.engine.slash_book import SlashCommand


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


async def _clear(target: SlashTarget, argument: str) -> None:
    if argument.strip():
        raise UsageError("/clear takes nothing after its name.", hint="Type /clear alone to start over.")
    await target.clear()


async def _compact(target: SlashTarget, focus: str) -> None:
    await target.compact(focus)


async def _title(target: SlashTarget, title: str) -> None:
    await target.set_title(title)


def own_commands(target: SlashTarget) -> tuple[SlashCommand, ...]:
    """The commands that every session has."""

    def command(
        name: str,
        description: str,
        run: Callable[[SlashTarget, str], Awaitable[None]],
        *,
        takes_turn: bool = False,
    ) -> SlashCommand:
        return SlashCommand(name, description, partial(run, target), takes_turn=takes_turn)

    return (
        command("clear", "Start over with an empty conversation; this one stays on disk", _clear),
        command(
            "compact",
            "Make the conversation shorter: /compact [WHAT TO LOOK AT ABOVE ALL]",
            _compact,
            takes_turn=True,
        ),
        command("title", "Name this session: /title NAME", _title),
    )
