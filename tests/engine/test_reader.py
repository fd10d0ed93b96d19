"""A session that another process writes, opened to be read."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from kimi_tui.base.content import TextPart
from kimi_tui.config.settings import Settings
from kimi_tui.engine.options import EngineOptions
from kimi_tui.engine.reader import open_reader
from kimi_tui.wire.channel import Outgoing, Wire
from kimi_tui.wire.commands import ListSessions, Prompt, Revert, SaveRecording, Shutdown
from kimi_tui.wire.events import (
    CheckpointCreated,
    Notification,
    ReplayBegin,
    ReplayEnd,
    Reverted,
    SessionInfo,
    TurnBegin,
)
from kimi_tui.wire.sessions import SessionList
from tests.engine.session import Talk, says, session


class Ears:
    """Everything that a reader tells."""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire
        self._subscription = wire.subscribe()
        self.heard: list[Outgoing] = []

    def texts(self) -> list[str]:
        """What was said since the conversation was told anew the last time."""
        anew = [place for place, it in enumerate(self.heard) if it == ReplayBegin(anew=True)]
        heard = self.heard[anew[-1] :] if anew else self.heard
        return [
            str(it.user_input) if isinstance(it, TurnBegin) else it.text
            for it in heard
            if isinstance(it, TurnBegin | TextPart)
        ]

    async def until_said(self, *texts: str) -> None:
        async with asyncio.timeout(20):
            while self.texts() != list(texts):
                self.heard += await self._subscription.drain()

    async def until_noticed(self, words: str) -> None:
        await self._until(lambda it: isinstance(it, Notification) and words in it.title)

    async def until_heard(self, kind: type) -> None:
        await self._until(lambda it: isinstance(it, kind))

    async def _until(self, wanted: Callable[[Outgoing], bool]) -> None:
        async with asyncio.timeout(20):
            while not any(wanted(it) for it in self.heard):
                self.heard += await self._subscription.drain()


@asynccontextmanager
async def reading(home: Path, session_id: str) -> AsyncIterator[Ears]:
    wire = Wire()
    ears = Ears(wire)
    options = EngineOptions(
        settings=Settings(),
        share_dir=home / "share",
        work_dir=home,
        session_id=session_id,
        read_only=True,
    )
    reader = await open_reader(wire, options, look_s=0.01)
    serving = asyncio.create_task(reader.serve())
    try:
        yield ears
    finally:
        wire.command(Shutdown())
        await serving


def id_of(talk: Talk) -> str:
    return next(it.session_id for it in talk.heard if isinstance(it, SessionInfo))


def files_under(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


async def test_a_reader_tells_what_was_said_and_follows_what_is_added(tmp_path: Path) -> None:
    async with session(tmp_path, tmp_path / "share", says("one"), says("two")) as talk:
        await talk.ask("first")
        async with reading(tmp_path, id_of(talk)) as ears:
            await ears.until_said("first", "one")
            info = next(it for it in ears.heard if isinstance(it, SessionInfo))
            assert info.read_only
            await talk.ask("second")
            await ears.until_said("first", "one", "second", "two")
            assert ReplayBegin(anew=True) not in ears.heard
            begins, ends = ears.heard.count(ReplayBegin()), ears.heard.count(ReplayEnd())
            assert begins == ends >= 2


async def test_a_jump_of_the_writer_is_told_anew(tmp_path: Path) -> None:
    async with session(tmp_path, tmp_path / "share", says("one"), says("two")) as talk:
        await talk.ask("first")
        await talk.ask("second")
        async with reading(tmp_path, id_of(talk)) as ears:
            await ears.until_said("first", "one", "second", "two")
            second = [it.id for it in talk.all(CheckpointCreated) if it.kind == "user"][1]
            await talk.do(Revert(second), Reverted)
            await ears.until_said("first", "one")


async def test_whatever_is_asked_of_it_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    async with session(tmp_path, tmp_path / "share", says("one")) as talk:
        await talk.ask("first")
        talk.command(SaveRecording())
        await talk.do(ListSessions(), SessionList)
        before = files_under(tmp_path / "share" / "sessions")
        async with reading(tmp_path, id_of(talk)) as ears:
            ears.wire.command(Prompt("mine"))
            ears.wire.command(Revert(0))
            await ears.until_noticed("only read")
            ears.wire.command(ListSessions())
            await ears.until_heard(SessionList)
        assert files_under(tmp_path / "share" / "sessions") == before


async def test_the_end_of_the_writer_is_told_once(tmp_path: Path) -> None:
    async with session(tmp_path, tmp_path / "share", says("one")) as talk:
        await talk.ask("first")
        session_id = id_of(talk)
        async with reading(tmp_path, session_id) as ears:
            await ears.until_said("first", "one")
            talk.command(Shutdown())
            await ears.until_noticed("The other process has ended.")
