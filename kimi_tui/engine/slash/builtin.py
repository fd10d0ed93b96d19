"""Slash commands that every session has."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Protocol

from kimi_tui.base.errors import UsageError
from kimi_tui.engine.slash.registry import SlashCommand


class SlashActions(Protocol):
    """Session actions that the built-in slash commands use."""

    async def clear(self) -> None:
        """Clear the conversation, which stays as a branch."""
        ...

    async def compact(self, focus: str) -> None:
        """Compact the conversation. A summary concentrates on `focus`."""
        ...

    async def set_title(self, title: str) -> None:
        """Set the session's title."""
        ...


async def _clear(actions: SlashActions, argument: str) -> None:
    if argument.strip():
        raise UsageError("/clear takes no arguments.", hint="Type /clear to start over.")
    await actions.clear()


async def _compact(actions: SlashActions, focus: str) -> None:
    await actions.compact(focus)


async def _set_title(actions: SlashActions, title: str) -> None:
    await actions.set_title(title)


def builtin_commands(actions: SlashActions) -> tuple[SlashCommand, ...]:
    """Return the slash commands that every session has."""

    def command(
        name: str,
        description: str,
        run: Callable[[SlashActions, str], Awaitable[None]],
        *,
        takes_turn: bool = False,
    ) -> SlashCommand:
        return SlashCommand(name, description, partial(run, actions), takes_turn=takes_turn)

    return (
        command("clear", "Start over with an empty conversation; the current one stays as a branch", _clear),
        command(
            "compact",
            "Compact the conversation: /compact [FOCUS]",
            _compact,
            takes_turn=True,
        ),
        command("title", "Set the session title: /title NAME", _set_title),
    )
