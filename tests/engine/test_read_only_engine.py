"""A session that another process writes, opened read-only."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

import pytest

from kimi_tui.base.content_parts import TextPart
from kimi_tui.base.errors import SessionError
from kimi_tui.base.message import Message
from kimi_tui.base.paths import work_dir_key
from kimi_tui.config.settings import Settings
from kimi_tui.engine.options import EngineOptions
from kimi_tui.engine.read_only_engine import open_read_only
from kimi_tui.history.context import Context
from kimi_tui.wire.channel import Outgoing, Wire
from kimi_tui.wire.commands import (
    Command,
    Compare,
    ListSessions,
    NameCheckpoint,
    Prompt,
    ReadBranch,
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
from kimi_tui.wire.review import (
    AddComment,
    ChangeReview,
    CommentList,
    ListComments,
    MarkViewed,
    PlannedFileContent,
    ReadPlannedFile,
    RevertHunks,
    ReviewChanges,
    SendComments,
)
from kimi_tui.wire.session_list import SessionList
from kimi_tui.wire.timeline import BranchContent, Comparison, Timeline
from tests.engine.engine_client import EngineClient, session, text_reply, tool_calls
from tests.timeouts import TEST_TIMEOUT_S

E = TypeVar("E")


class EventListener:
    """Collects the events of a read-only engine."""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire
        self._subscription = wire.subscribe()
        self.events: list[Outgoing] = []

    def texts(self) -> list[str]:
        """Return the prompts and responses since the last replay that replaces the conversation."""
        starts = [index for index, it in enumerate(self.events) if it == ReplayBegin(anew=True)]
        events = self.events[starts[-1] :] if starts else self.events
        return [
            str(it.user_input) if isinstance(it, TurnBegin) else it.text
            for it in events
            if isinstance(it, TurnBegin | TextPart)
        ]

    async def wait_for_text(self, *texts: str) -> None:
        async with asyncio.timeout(TEST_TIMEOUT_S):
            while self.texts() != list(texts):
                self.events += await self._subscription.drain()

    async def wait_for_notice(self, text: str) -> None:
        await self._until(lambda it: isinstance(it, Notification) and text in it.title)

    async def wait_for_event(self, kind: type) -> None:
        await self._until(lambda it: isinstance(it, kind))

    async def answer(
        self, command: Command, kind: type[E], matches: Callable[[E], bool] = lambda _: True
    ) -> E:
        """Send a command and return the next matching event."""
        before = len(self.events)
        self.wire.command(command)
        return await self.next(kind, matches, since=before)

    async def next(
        self, kind: type[E], matches: Callable[[E], bool] = lambda _: True, *, since: int | None = None
    ) -> E:
        """Return the first matching event of a type, from now on or from the index `since`."""
        since = len(self.events) if since is None else since
        async with asyncio.timeout(TEST_TIMEOUT_S):
            while True:
                for it in self.events[since:]:
                    if isinstance(it, kind) and matches(it):
                        return it
                self.events += await self._subscription.drain()

    async def _until(self, matches: Callable[[Outgoing], bool]) -> None:
        async with asyncio.timeout(TEST_TIMEOUT_S):
            while not any(matches(it) for it in self.events):
                self.events += await self._subscription.drain()


@asynccontextmanager
async def open_read_only_client(
    home: Path, session_id: str | None, *, data_dir: Path | None = None
) -> AsyncIterator[EventListener]:
    wire = Wire()
    listener = EventListener(wire)
    options = EngineOptions(
        settings=Settings(),
        data_dir=data_dir or home / "data",
        work_dir=home,
        session_id=session_id,
        read_only=True,
    )
    reader = await open_read_only(wire, options, poll_s=0.01)
    serving = asyncio.create_task(reader.serve())
    try:
        yield listener
    finally:
        wire.command(Shutdown())
        await serving


def id_of(client: EngineClient) -> str:
    return next(it.session_id for it in client.events if isinstance(it, SessionInfo))


def files_under(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


async def test_a_reader_replays_the_conversation_and_follows_new_messages(tmp_path: Path) -> None:
    async with session(tmp_path, tmp_path / "data", text_reply("one"), text_reply("two")) as client:
        await client.ask("first")
        async with open_read_only_client(tmp_path, id_of(client)) as listener:
            await listener.wait_for_text("first", "one")
            info = next(it for it in listener.events if isinstance(it, SessionInfo))
            assert info.read_only
            await client.ask("second")
            await listener.wait_for_text("first", "one", "second", "two")
            assert ReplayBegin(anew=True) not in listener.events
            begins, ends = listener.events.count(ReplayBegin()), listener.events.count(ReplayEnd())
            assert begins == ends >= 2


async def test_a_reader_continues_a_turn_that_it_saw_before_its_first_message(tmp_path: Path) -> None:
    async with session(tmp_path, tmp_path / "data", text_reply("one")) as client:
        await client.ask("first")
    (journal,) = (tmp_path / "data" / "tui-sessions").glob("*/*/context.jsonl")
    writer = Context(journal)
    await writer.restore()
    async with open_read_only_client(tmp_path, id_of(client)) as listener:
        await listener.wait_for_text("first", "one")
        await writer.checkpoint(False, kind="user", label="second")
        await writer.append_message(Message("user", (TextPart("second"),)))
        await writer.checkpoint(False, kind="step")
        await listener.wait_for_text("first", "one", "second")
        await writer.append_message(Message("assistant", (TextPart("two"),)))
        await listener.wait_for_text("first", "one", "second", "two")
        assert ReplayBegin(anew=True) not in listener.events
    await writer.close()


async def test_a_revert_by_the_writer_is_replayed(tmp_path: Path) -> None:
    async with session(tmp_path, tmp_path / "data", text_reply("one"), text_reply("two")) as client:
        await client.ask("first")
        await client.ask("second")
        async with open_read_only_client(tmp_path, id_of(client)) as listener:
            await listener.wait_for_text("first", "one", "second", "two")
            second = [it.id for it in client.all(CheckpointCreated) if it.kind == "user"][1]
            await client.run_command(Revert(second), Reverted)
            await listener.wait_for_text("first", "one")


async def test_commands_that_write_are_rejected(tmp_path: Path) -> None:
    async with session(tmp_path, tmp_path / "data", text_reply("one")) as client:
        await client.ask("first")
        session_id = id_of(client)
    before = files_under(tmp_path / "data" / "tui-sessions")  # complete, since the writer has ended
    async with open_read_only_client(tmp_path, session_id) as listener:
        listener.wire.command(Prompt("mine"))
        listener.wire.command(Revert(0))
        listener.wire.command(NameCheckpoint(0, "mine"))
        await listener.wait_for_notice("read-only")
        listener.wire.command(ShowTimeline())
        listener.wire.command(Compare(0))
        await listener.wait_for_event(Comparison)
        listener.wire.command(ListSessions())
        await listener.wait_for_event(SessionList)
    assert files_under(tmp_path / "data" / "tui-sessions") == before


async def test_the_end_of_the_writer_is_reported(tmp_path: Path) -> None:
    async with session(tmp_path, tmp_path / "data", text_reply("one")) as client:
        await client.ask("first")
        session_id = id_of(client)
        async with open_read_only_client(tmp_path, session_id) as listener:
            await listener.wait_for_text("first", "one")
            client.command(Shutdown())
            await listener.wait_for_notice("The other process has ended.")
            assert [it.in_use for it in listener.events if isinstance(it, SessionInfo)][-1] is False


async def test_a_session_whose_files_are_deleted_stays_on_the_screen(tmp_path: Path) -> None:
    async with session(tmp_path, tmp_path / "data", text_reply("one")) as client:
        await client.ask("first")
        session_id = id_of(client)
    async with open_read_only_client(tmp_path, session_id) as listener:
        await listener.wait_for_text("first", "one")
        sent = len(listener.events)
        shutil.rmtree(tmp_path / "data" / "tui-sessions")
        await listener.wait_for_notice("files of this session were deleted")
        assert not [it for it in listener.events[sent:] if isinstance(it, ReplayBegin | SessionInfo)]


async def test_the_timeline_is_sent_and_follows_new_checkpoints(tmp_path: Path) -> None:
    async with session(tmp_path, tmp_path / "data", text_reply("one"), text_reply("two")) as client:
        await client.ask("first")
        async with open_read_only_client(tmp_path, id_of(client)) as listener:
            timeline = await listener.answer(ShowTimeline(), Timeline)
            assert [node.label for node in timeline.nodes if node.kind == "user"] == ["first"]
            await client.ask("second")
            updated = await listener.next(
                Timeline, lambda it: any(node.label == "second" for node in it.nodes)
            )
            assert [node.uid for node in updated.nodes][: len(timeline.nodes)] == [
                node.uid for node in timeline.nodes
            ]
            client.command(NameCheckpoint(0, "the beginning"))
            await listener.next(Timeline, lambda it: it.nodes[0].name == "the beginning")
            assert (updated.undo, updated.redo) == ("", "")


async def test_branches_and_files_can_be_read_but_not_reverted(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    write = tool_calls(("WriteFile", {"path": "a", "content": "one\n"}))
    async with session(work, tmp_path / "data", write, text_reply("done"), text_reply("then")) as client:
        await client.ask("write it")
        await client.ask("and then?")
        first, second = [it.id for it in client.all(CheckpointCreated) if it.kind == "user"]
        await client.run_command(Revert(second, "conversation"), Reverted)
        async with open_read_only_client(work, id_of(client), data_dir=tmp_path / "data") as listener:
            timeline = await listener.answer(ShowTimeline(), Timeline)
            content = await listener.answer(ReadBranch(timeline.branches[0].number), BranchContent)
            assert "and then?" in str(content.events)
            between = await listener.answer(Compare(first, second), Comparison)
            assert [(file.path, file.change, file.by) for file in between.files] == [("a", "added", "agent")]
            now = await listener.answer(Compare(first), Comparison, lambda it: it.after is None)
            assert [file.path for file in now.files] == ["a"]
            assert "last file snapshot" in now.note
            listed = await listener.answer(RunSlash("checkpoints"), Notification)
            assert "write it" in listed.body
            error = await listener.answer(RunSlash(f"revert {first}"), Notification)
            assert "read-only" in error.title
        assert (work / "a").read_text() == "one\n"


async def test_diffs_after_the_hundredth_can_be_read(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    write = tool_calls(("Bash", {"command": "for n in $(seq 100 220); do echo text > $n.txt; done"}))
    async with session(work, tmp_path / "data", write, text_reply("done")) as client:
        await client.ask("write them")
        first = next(it.id for it in client.all(CheckpointCreated) if it.kind == "user")
        await client.run_command(Compare(first), Comparison)  # it waits for the scans
        async with open_read_only_client(work, id_of(client), data_dir=tmp_path / "data") as listener:
            compared = await listener.answer(Compare(first), Comparison)
            assert [file.path for file in compared.files if file.is_on_request] == [
                f"{number}.txt" for number in range(200, 221)
            ]
            read = await listener.answer(ReadPlannedFile(compared.id, "215.txt"), PlannedFileContent)
            assert read.file.diff is not None
            assert (read.file.diff.old_text, read.file.diff.new_text) == ("", "text\n")


async def test_a_review_has_the_stored_changes_and_comments_and_changes_nothing(tmp_path: Path) -> None:
    work, data_dir = tmp_path / "work", tmp_path / "data"
    work.mkdir()
    (work / "a").write_text("one\ntwo\n")
    write = tool_calls(("WriteFile", {"path": "a", "content": "one\nthree\n"}))
    async with session(work, data_dir, write, text_reply("done"), text_reply("then")) as client:
        await client.ask("write it")
        await client.ask("and then?")
        shown = await client.run_command(ReviewChanges(), ChangeReview)
        await client.command_and_wait(AddComment("a", 2, "Why three?", shown.id))
        await client.command_and_wait(AddComment("a", 2, "Why not two?", shown.id, is_removed=True))
        await client.command_and_wait(MarkViewed(shown.id, ("a",)))
        session_id = id_of(client)
    before = files_under(data_dir / "tui-sessions")
    async with open_read_only_client(work, session_id, data_dir=data_dir) as listener:
        for start in (shown.before, None):
            review = await listener.answer(ReviewChanges(start), ChangeReview)
            assert review.is_read_only
            assert "last file snapshot" in review.note
        review = await listener.answer(ReviewChanges(shown.before), ChangeReview)
        assert [(file.path, file.added, file.removed) for file in review.files] == [("a", 1, 1)]
        assert review.viewed == ("a",)
        content = await listener.answer(ReadPlannedFile(review.id, "a"), PlannedFileContent)
        assert [hunk.diff.old_text for hunk in content.file.hunks] == ["one\nthree\n"]
        assert not content.can_revert
        comments = await listener.answer(ListComments(review.id), CommentList)
        assert [(it.line, it.removed_line) for it in comments.comments] == [(2, None), (None, 2)]
        for command in (
            AddComment("a", 1, "x", review.id),
            MarkViewed(review.id, ("a",), viewed=False),
            RevertHunks(("1",)),
            SendComments(),
            RunSlash("comment a:1 x"),
            RunSlash("review --revert 1"),
        ):
            refused = await listener.answer(command, Notification)
            assert "read-only" in refused.title
        text = await listener.answer(RunSlash(f"review {shown.before}"), ChangeReview)
        assert text.files == review.files
    assert files_under(data_dir / "tui-sessions") == before


async def test_a_review_of_a_session_without_snapshots_says_so(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    kimi_cli = tmp_path / "data" / "sessions" / work_dir_key(work) / "11111111-1111-4111-8111-111111111111"
    kimi_cli.mkdir(parents=True)
    lines = ('{"role": "_checkpoint", "id": 0}', '{"role": "user", "content": "hello"}')
    (kimi_cli / "context.jsonl").write_text("".join(f"{line}\n" for line in lines))
    async with open_read_only_client(work, None, data_dir=tmp_path / "data") as listener:
        review = await listener.answer(ReviewChanges(), ChangeReview)
    assert (review.files, review.is_read_only) == ((), True)
    assert "no file snapshot" in review.note


async def test_a_directory_without_sessions_is_an_error(tmp_path: Path) -> None:
    options = EngineOptions(settings=Settings(), data_dir=tmp_path, work_dir=tmp_path, read_only=True)
    with pytest.raises(SessionError, match="No session in this directory"):
        await open_read_only(Wire(), options)
    assert list(tmp_path.iterdir()) == []


async def test_the_latest_session_of_the_directory_is_the_default(tmp_path: Path) -> None:
    async with session(tmp_path, tmp_path / "data", text_reply("one")) as client:
        await client.ask("first")
    async with open_read_only_client(tmp_path, None) as listener:
        await listener.wait_for_text("first", "one")
        info = next(it for it in listener.events if isinstance(it, SessionInfo))
        assert (info.read_only, info.in_use) == (True, False)
        assert not [it for it in listener.events if isinstance(it, Notification)]
