"""Active model of a session: selected by the user, and prepared before the first turn."""

import asyncio
import logging

from kimi_tui.engine.models.model_pool import ModelPool
from kimi_tui.engine.session.publisher import SessionPublisher
from kimi_tui.history import record_codec
from kimi_tui.history.session import Session
from kimi_tui.soul.runtime_settings import RuntimeSettings
from kimi_tui.soul.soul import Soul

logger = logging.getLogger(__name__)


class ActiveModel:
    """Selects and prepares the model of a session."""

    def __init__(
        self,
        *,
        session: Session,
        soul: Soul,
        runtime_settings: RuntimeSettings,
        models: ModelPool,
        publisher: SessionPublisher,
    ) -> None:
        self._session = session
        self._soul = soul
        self._runtime_settings = runtime_settings
        self._models = models
        self._publisher = publisher
        self._prepare_task: asyncio.Task[None] | None = None

    def prepare(self, group: asyncio.TaskGroup) -> None:
        """Start loading the provider's SDK and other requirements of the first turn, while the user types."""
        self.cancel_preparation()
        if self._runtime_settings.llm is not None:
            self._prepare_task = group.create_task(_prepare_quietly(self._soul))

    async def select(self, name: str, group: asyncio.TaskGroup) -> None:
        """Use the model `name` from the next step on. Raises ConfigError if the model isn't configured."""
        self._runtime_settings.llm = self._models.get(name)
        self.prepare(group)
        self._publisher.send_info()
        self._soul.send_status()
        await self._session.update_state(model=name)

    def cancel_preparation(self) -> None:
        """Cancel the preparation, if it's running."""
        if self._prepare_task is not None:
            self._prepare_task.cancel()


async def _prepare_quietly(soul: Soul) -> None:
    """Prepare the model. Errors are only logged, because the first turn will raise them again."""
    try:
        await asyncio.to_thread(record_codec.prebuild_codecs)
        await soul.prepare()
    except Exception:
        logger.info("the model could not be prepared", exc_info=True)
