"""The model in use: chosen by the user, and made ready before the first turn needs it."""

import asyncio
import logging

from kimi_tui.engine.models import Models
from kimi_tui.engine.telling import Telling
from kimi_tui.history import notation
from kimi_tui.history.session import Session
from kimi_tui.soul.behaviour import Behaviour
from kimi_tui.soul.soul import Soul

logger = logging.getLogger(__name__)


class ModelInUse:
    """Which model a session's soul works with."""

    def __init__(
        self, *, session: Session, soul: Soul, behaviour: Behaviour, models: Models, telling: Telling
    ) -> None:
        self._session = session
        self._soul = soul
        self._behaviour = behaviour
        self._models = models
        self._telling = telling
        self._preparing: asyncio.Task[None] | None = None

    def prepare(self, group: asyncio.TaskGroup) -> None:
        """Load what the first turn needs while the user still types: the provider's SDK before all."""
        self.stop()
        if self._behaviour.llm is not None:
            self._preparing = group.create_task(_prepared(self._soul))

    async def choose(self, name: str, group: asyncio.TaskGroup) -> None:
        """Use the model of that name from the next step on. Raises ConfigError when there is none."""
        self._behaviour.llm = self._models.named(name)
        self.prepare(group)
        self._telling.info()
        self._soul.send_status()
        await self._session.update_state(model=name)

    def stop(self) -> None:
        """Prepare no longer."""
        if self._preparing is not None:
            self._preparing.cancel()


async def _prepared(soul: Soul) -> None:
    """What goes wrong here goes wrong again at the first turn, which tells."""
    try:
        await asyncio.to_thread(notation.prepare)
        await soul.prepare()
    except Exception:
        logger.info("the model could not be prepared", exc_info=True)
