"""A client that watches the list of sessions gets changes, and keeps nothing running."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from kimi_tui.base.content_parts import TextPart
from kimi_tui.resident import session_host
from kimi_tui.resident.connection import connect
from kimi_tui.resident.frames import Hello, parse_reply
from kimi_tui.wire.events import TurnBegin, TurnEnd, TurnOutcome
from tests.resident.conftest import VERSION, ResidentEngine, start_engine


class Watcher:
    """Collects the lists that the engine sends."""

    def __init__(self, reader: asyncio.StreamReader, first: list[tuple[str, str, int]]) -> None:
        self._reader = reader
        self.lists = [first]

    async def next(self) -> list[tuple[str, str, int]]:
        async with asyncio.timeout(20):
            sessions = parse_reply(await self._reader.readline()).sessions
        self.lists.append([(it.id, it.state, it.clients) for it in sessions])
        return self.lists[-1]


@asynccontextmanager
async def watch(engine: ResidentEngine) -> AsyncIterator[Watcher]:
    hello = Hello(version=VERSION, request="watch")
    async with connect(engine.data_dir, hello) as ((reader, _), reply):
        yield Watcher(reader, [(it.id, it.state, it.clients) for it in reply.sessions])


@pytest.fixture(autouse=True)
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_host, "_WATCH_S", 0.01)


async def test_each_change_of_a_state_is_sent_and_output_is_not(engine: ResidentEngine) -> None:
    async with watch(engine) as watcher:
        assert watcher.lists == [[]]
        client, session = await engine.open()
        while await watcher.next() != [("s-1", "idle", 1)]:
            pass
        session.wire.send(TurnBegin("hi"))
        assert await watcher.next() == [("s-1", "working", 1)]
        for number in range(50):
            session.wire.send(TextPart(f"{number}"))
            await asyncio.sleep(0.002)
        await client.detach()
        assert await watcher.next() == [("s-1", "working", 0)]
        session.wire.send(TurnEnd())
        assert await watcher.next() == [("s-1", "done", 0)]


@pytest.mark.parametrize(
    ("outcome", "state"),
    [
        ("cancelled", "interrupted"),
        ("rejected", "interrupted"),
        ("limit", "failed"),
        ("max_steps", "failed"),
        ("failed", "failed"),
    ],
)
async def test_a_turn_that_did_not_finish_is_not_done(
    engine: ResidentEngine, outcome: TurnOutcome, state: str
) -> None:
    async with watch(engine) as watcher:
        _, session = await engine.open()
        session.wire.send(TurnBegin("hi"))
        while ("s-1", "working", 1) not in await watcher.next():
            pass
        session.wire.send(TurnEnd(outcome))
        assert await watcher.next() == [("s-1", state, 1)]


async def test_a_watcher_does_not_keep_the_engine_running(data_dir: Path) -> None:
    async with start_engine(data_dir, idle_s=0.1) as engine, watch(engine), asyncio.timeout(20):
        await engine.running
