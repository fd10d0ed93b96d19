"""Layers of a session: keeps a mounted one ready, and removes used ones in the background."""

import asyncio
import logging
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from kimi_tui.base.message_text import msg
from kimi_tui.workspaces.open_record import OpenRecords
from kimi_tui.workspaces.overlay.layer import NOTHING_PREPARED, Layer, layer_folder, layer_parents
from kimi_tui.workspaces.overlay.mounted_layer import MountedLayer
from kimi_tui.workspaces.overlay.supervisor_client import SupervisorClient, ViewUnavailable

logger = logging.getLogger(__name__)


class LayerPool:
    """The mounted layers of one supervisor."""

    def __init__(self, client: SupervisorClient, folder: Path, records: OpenRecords) -> None:
        """Create the pool. `folder` is that of the `records`, and the first choice for layers."""
        self._client = client
        self._folder = folder
        self._records = records
        self._ready: MountedLayer | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._preparing: asyncio.Task[None] | None = None

    async def mount_over(self, prepared: Mapping[str, str]) -> MountedLayer:
        """Return an empty layer mounted over other ones, which are given by root. `discard` it after use.

        Raises ViewUnavailable and OSError.
        """
        return await self._mount(tuple(prepared), prepared)

    async def take(self, roots: Sequence[str]) -> MountedLayer:
        """Return an empty mounted layer for `roots`, the one that is kept ready if it fits.

        Raises ViewUnavailable and OSError.
        """
        if self._preparing is not None:
            await asyncio.wait([self._preparing])
        ready, self._ready = self._ready, None
        if ready is None:
            return await self._mount(roots)
        if ready.is_current(roots):
            return ready
        self._start(ready.remove())
        return await self._mount(roots)

    def give_back(self, layer: MountedLayer) -> None:
        """Keep an unused layer ready for the next call of `take`."""
        if self._ready is None:
            self._ready = layer
        else:
            self._start(layer.remove())

    def discard(self, used: MountedLayer) -> None:
        """Remove a used layer in the background."""
        self._start(used.remove())

    def replace(self, used: MountedLayer) -> None:
        """Remove a used layer, and mount another one for the same roots, in the background."""
        removing = self._start(used.remove())
        if self._ready is None and self._preparing is None:
            self._preparing = self._start(self._prepare(used.layer.roots, removing))

    async def close(self) -> None:
        """Remove all unused layers."""
        while self._tasks:
            await asyncio.wait(self._tasks)
        if self._ready is not None:
            ready, self._ready = self._ready, None
            await ready.remove()

    async def _prepare(self, roots: Sequence[str], removing: "asyncio.Task[None]") -> None:
        try:
            await asyncio.wait([removing])
            self.give_back(await self._mount(roots))
        except (ViewUnavailable, OSError):
            logger.warning("no workspace could be prepared", exc_info=True)
        finally:
            self._preparing = None

    async def _mount(
        self, roots: Sequence[str], prepared: Mapping[str, str] = NOTHING_PREPARED
    ) -> MountedLayer:
        problem: ViewUnavailable | OSError = ViewUnavailable(msg("no directory for workspaces was found"))
        for parent in await asyncio.to_thread(layer_parents, self._folder, roots):
            folder = self._records.create_folder()
            layer = Layer(str(layer_folder(parent, folder.name)), self._client.mode, tuple(roots))
            mounted = MountedLayer(self._client, self._records, layer, folder, prepared)
            try:
                await mounted.open()
            except (ViewUnavailable, OSError) as error:
                problem = error
            except BaseException:
                self._start(mounted.remove())
                raise
            else:
                return mounted
            with suppress(OSError):
                await mounted.remove()
        raise problem

    def _start(self, work: Coroutine[None, None, None]) -> "asyncio.Task[None]":
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
