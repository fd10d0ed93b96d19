"""A session that another process writes, opened to be read."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

import pytest

from kimi_tui.base.content import TextPart
from kimi_tui.base.errors import SessionError
from kimi_tui.config.settings import Settings
from kimi_tui.engine.options import EngineOptions
from kimi_tui.engine.reader import open_reader
from kimi_tui.wire.channel import Outgoing, Wire
from kimi_tui.wire.commands import (
    Command,
    Compare,
    ListSessions,
    LookIntoBranch,
    NameCheckpoint,
    Prompt,
    Revert,
    RunSlash,
    ShowTimeline,
    Shutdown,
)
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
from kimi_tui.wire.timeline import BranchContent, Comparison, Timeline
from tests.engine.session import Talk, calls, says, session
from tests.patience import PATIENCE_S

E = TypeVar("E")


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
        async with asyncio.timeout(PATIENCE_S):
            while self.texts() != list(texts):
                self.heard += await self._subscription.drain()

    async def until_noticed(self, words: str) -> None:
        await self._until(lambda it: isinstance(it, Notification) and words in it.title)

    async def until_heard(self, kind: type) -> None:
        await self._until(lambda it: isinstance(it, kind))

    async def answer(self, command: Command, kind: type[E], is_it: Callable[[E], bool] = lambda _: True) -> E:
        """What comes for a command."""
        before = len(self.heard)
        self.wire.command(command)
        return await self.next(kind, is_it, since=before)

    async def next(
        self, kind: type[E], is_it: Callable[[E], bool] = lambda _: True, *, since: int | None = None
    ) -> E:
        """The first of that kind from here on, or since some place, that is as it should be."""
        since = len(self.heard) if since is None else since
        async with asyncio.timeout(PATIENCE_S):
            while True:
                for it in self.heard[since:]:
                    if isinstance(it, kind) and is_it(it):
                        return it
                self.heard += await self._subscription.drain()

    async def _until(self, wanted: Callable[[Outgoing], bool]) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while not any(wanted(it) for it in self.heard):
                self.heard += await self._subscription.drain()


@asynccontextmanager
async def reading(
    home: Path, session_id: str | None, *, share_dir: Path | None = None
) -> AsyncIterator[Ears]:
    wire = Wire()
    ears = Ears(wire)
    options = EngineOptions(
        settings=Settings(),
        share_dir=share_dir or home / "share",
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
        session_id = id_of(talk)
    before = files_under(tmp_path / "share" / "sessions")  # all is saved: the writer has ended
    async with reading(tmp_path, session_id) as ears:
        ears.wire.command(Prompt("mine"))
        ears.wire.command(Revert(0))
        ears.wire.command(NameCheckpoint(0, "mine"))
        await ears.until_noticed("read only")
        ears.wire.command(ShowTimeline())
        ears.wire.command(Compare(0))
        await ears.until_heard(Comparison)
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
            assert [it.in_use for it in ears.heard if isinstance(it, SessionInfo)][-1] is False


async def test_the_timeline_is_told_and_follows_what_is_added(tmp_path: Path) -> None:
    async with session(tmp_path, tmp_path / "share", says("one"), says("two")) as talk:
        await talk.ask("first")
        async with reading(tmp_path, id_of(talk)) as ears:
            told = await ears.answer(ShowTimeline(), Timeline)
            assert [node.label for node in told.nodes if node.kind == "user"] == ["first"]
            await talk.ask("second")
            grown = await ears.next(Timeline, lambda it: any(node.label == "second" for node in it.nodes))
            assert [node.uid for node in grown.nodes][: len(told.nodes)] == [node.uid for node in told.nodes]
            talk.command(NameCheckpoint(0, "the beginning"))
            await ears.next(Timeline, lambda it: it.nodes[0].name == "the beginning")
            assert (grown.undo, grown.redo) == ("", "")


async def test_branches_are_read_and_files_compared_but_nothing_is_taken_back(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    write = calls(("WriteFile", {"path": "a", "content": "one\n"}))
    async with session(work, tmp_path / "share", write, says("done"), says("then")) as talk:
        await talk.ask("write it")
        await talk.ask("and then?")
        first, second = [it.id for it in talk.all(CheckpointCreated) if it.kind == "user"]
        await talk.do(Revert(second, "conversation"), Reverted)
        async with reading(work, id_of(talk), share_dir=tmp_path / "share") as ears:
            told = await ears.answer(ShowTimeline(), Timeline)
            said = await ears.answer(LookIntoBranch(told.branches[0].number), BranchContent)
            assert "and then?" in str(said.events)
            between = await ears.answer(Compare(first, second), Comparison)
            assert [(file.path, file.change, file.by) for file in between.files] == [("a", "added", "agent")]
            now = await ears.answer(Compare(first), Comparison, lambda it: it.after is None)
            assert [file.path for file in now.files] == ["a"]
            assert "how the session saw the files last" in now.note
            listed = await ears.answer(RunSlash("checkpoints"), Notification)
            assert "write it" in listed.body
            refused = await ears.answer(RunSlash(f"revert {first}"), Notification)
            assert "read only" in refused.title
        assert (work / "a").read_text() == "one\n"


async def test_a_folder_without_sessions_has_nothing_to_read(tmp_path: Path) -> None:
    options = EngineOptions(settings=Settings(), share_dir=tmp_path, work_dir=tmp_path, read_only=True)
    with pytest.raises(SessionError, match="no session in this folder"):
        await open_reader(Wire(), options)
    assert list(tmp_path.iterdir()) == []


async def test_the_last_session_of_the_folder_is_read_when_none_is_named(tmp_path: Path) -> None:
    async with session(tmp_path, tmp_path / "share", says("one")) as talk:
        await talk.ask("first")
    async with reading(tmp_path, None) as ears:
        await ears.until_said("first", "one")
        info = next(it for it in ears.heard if isinstance(it, SessionInfo))
        assert (info.read_only, info.in_use) == (True, False)
        assert not [it for it in ears.heard if isinstance(it, Notification)]
