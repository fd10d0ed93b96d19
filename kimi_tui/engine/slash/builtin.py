"""Slash commands that every session has: /clear, /compact and /title."""

from kimi_tui.base.errors import UsageError
from kimi_tui.engine.session.publisher import SessionPublisher
from kimi_tui.engine.session.title import SessionTitle
from kimi_tui.engine.session.turns import TurnQueue
from kimi_tui.engine.slash.registry import SlashCommand
from kimi_tui.engine.timeline.revert_executor import RevertExecutor
from kimi_tui.soul.soul import Soul


class BuiltinCommands:
    """Runs the built-in commands. When a command returns, front ends have received its outcome."""

    def __init__(
        self,
        *,
        turns: TurnQueue,
        soul: Soul,
        reverts: RevertExecutor,
        title: SessionTitle,
        publisher: SessionPublisher,
    ) -> None:
        self._turns = turns
        self._soul = soul
        self._reverts = reverts
        self._title = title
        self._publisher = publisher

    @property
    def all(self) -> tuple[SlashCommand, ...]:
        """The commands."""
        return (
            SlashCommand(
                "clear",
                "Start over with an empty conversation; the current one stays as a branch",
                self._clear,
                aliases=("reset",),
            ),
            SlashCommand(
                "compact", "Compact the conversation: /compact [FOCUS]", self._compact, takes_turn=True
            ),
            SlashCommand("title", "Set the session title: /title NAME", self._set_title, aliases=("rename",)),
        )

    async def _clear(self, argument: str) -> None:
        if argument.strip():
            raise UsageError("/clear takes no arguments.", hint="Type /clear to start over.")
        self._turns.require_idle()
        if await self._reverts.clear():
            self._soul.send_status()

    async def _compact(self, focus: str) -> None:
        if not await self._soul.compact(focus):
            self._publisher.send_notice("Nothing to compact yet.", "", severity="info")

    async def _set_title(self, title: str) -> None:
        await self._title.set(title)
        self._publisher.send_info()
