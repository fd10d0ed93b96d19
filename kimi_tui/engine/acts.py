"""What the user does to a session besides talking: empty it, shorten it, name it, travel in it."""

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.engine.telling import Telling
from kimi_tui.engine.title import Title
from kimi_tui.engine.todos import SessionTodos
from kimi_tui.engine.travels import Travels
from kimi_tui.engine.turns import Turns
from kimi_tui.soul.soul import Soul
from kimi_tui.wire.commands import TravelCommand


class SessionActs:
    """Each act is whole when it returns, and has told the front ends of its outcome."""

    def __init__(
        self,
        *,
        turns: Turns,
        soul: Soul,
        travels: Travels,
        todos: SessionTodos,
        title: Title,
        telling: Telling,
    ) -> None:
        self._turns = turns
        self._soul = soul
        self._travels = travels
        self._todos = todos
        self._title = title
        self._telling = telling

    async def clear(self) -> None:
        """Empty the conversation; undo leads back to it. Raises KimiTuiError while a turn runs."""
        self._require_rest()
        if not await self._travels.clear():
            return
        if self._todos.items:
            await self._todos.set(())
        self._soul.send_status()

    async def travel(self, command: TravelCommand) -> None:
        """Do something with the timeline. Raises KimiTuiError, for most of it also while a turn runs."""
        if self._travels.needs_rest(command):
            self._require_rest()
        await self._travels.do(command)
        self._soul.send_status()

    async def list_checkpoints(self) -> None:
        """Show the checkpoints."""
        self._telling.notice("Checkpoints", await self._travels.listed(), severity="info")

    async def list_branches(self) -> None:
        """Show the branches."""
        self._telling.notice("Branches", await self._travels.listed_branches(), severity="info")

    async def compact(self, focus: str) -> None:
        """Make the conversation shorter. Raises KimiTuiError when that fails."""
        if not await self._soul.compact(focus):
            self._telling.notice("There is nothing to compact yet.", "", severity="info")

    async def set_title(self, title: str) -> None:
        """Name the session. Raises KimiTuiError without a name."""
        await self._title.set(title)
        self._telling.info()

    def _require_rest(self) -> None:
        if self._turns.is_running:
            raise KimiTuiError("A turn is running.", hint="Interrupt it first.")
