"""Actions on a session other than prompts."""

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.engine.session.publisher import SessionPublisher
from kimi_tui.engine.session.title import SessionTitle
from kimi_tui.engine.session.todos import SessionTodos
from kimi_tui.engine.session.turns import TurnQueue
from kimi_tui.engine.timeline.commands import TimelineCommands
from kimi_tui.soul.soul import Soul
from kimi_tui.wire.commands import TimelineCommand


class SessionActions:
    """Implements the actions of slash commands and the timeline.

    When an action returns, it is complete and front ends have been sent its outcome.
    """

    def __init__(
        self,
        *,
        turns: TurnQueue,
        soul: Soul,
        timeline_commands: TimelineCommands,
        todos: SessionTodos,
        title: SessionTitle,
        publisher: SessionPublisher,
    ) -> None:
        self._turns = turns
        self._soul = soul
        self._timeline_commands = timeline_commands
        self._todos = todos
        self._title = title
        self._publisher = publisher

    async def clear(self) -> None:
        """Clear the conversation. Undo restores it. Raises KimiTuiError while a turn is running."""
        self._require_idle()
        if not await self._timeline_commands.clear():
            return
        if self._todos.items:
            await self._todos.set(())
        self._soul.send_status()

    async def handle_timeline_command(self, command: TimelineCommand) -> None:
        """Handle a timeline command. Raises KimiTuiError; for most commands also while a turn is running."""
        if self._timeline_commands.requires_idle(command):
            self._require_idle()
        await self._timeline_commands.handle(command)
        self._soul.send_status()

    async def list_checkpoints(self) -> None:
        """Send a notice that lists the checkpoints."""
        self._publisher.send_notice(
            "Checkpoints", await self._timeline_commands.format_checkpoints(), severity="info"
        )

    async def list_branches(self) -> None:
        """Send a notice that lists the branches."""
        self._publisher.send_notice(
            "Branches", await self._timeline_commands.format_branches(), severity="info"
        )

    async def compact(self, focus: str) -> None:
        """Compact the conversation. Raises KimiTuiError if that fails."""
        if not await self._soul.compact(focus):
            self._publisher.send_notice("Nothing to compact yet.", "", severity="info")

    async def set_title(self, title: str) -> None:
        """Set the session's title. Raises KimiTuiError if it's empty."""
        await self._title.set(title)
        self._publisher.send_info()

    def _require_idle(self) -> None:
        if self._turns.is_running:
            raise KimiTuiError("A turn is running.", hint="Interrupt it first.")
