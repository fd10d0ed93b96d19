"""Resuming and forking sessions."""

import json
from pathlib import Path

import pytest

from kimi_tui.base.content_parts import TextPart
from kimi_tui.base.errors import ConfigError, SessionError
from kimi_tui.base.message import ToolCall
from kimi_tui.engine.session.open import OpenedSession, SessionSelector, open_session
from kimi_tui.history.session import SessionStore
from kimi_tui.wire.commands import Interrupt, Prompt
from kimi_tui.wire.display_blocks import DiffBlock, TodoItem
from kimi_tui.wire.events import (
    CheckpointCreated,
    Event,
    Notification,
    ReplayBegin,
    ReplayEnd,
    SessionInfo,
    StatusUpdate,
    StepBegin,
    TodoUpdate,
    ToolOutput,
    ToolResult,
    TurnBegin,
    TurnEnd,
)
from tests.engine.fake_front_end import SessionEnv, bash, call, script, write

TODOS = [{"title": "fix it", "status": "done"}]


async def create_session(home: SessionEnv) -> None:
    """Create a session with two turns: one that calls tools and one with only text."""
    home.script(
        script(
            "text: working",
            write("c1", "a.txt", "hello\n"),
            call("c2", "SetTodoList", todos=TODOS),
            call("c3", "ReadFile", path="none.txt"),
        ),
        "text: done",
        "text: you are welcome",
    )
    async with home.open_session() as front:
        front.send(Prompt("write a.txt"))
        front.answer(await front.next_approval_request(), "approve")
        await front.wait_for(TurnEnd)
        await front.turn("thanks")


async def test_a_resumed_session_is_replayed(home: SessionEnv) -> None:
    await create_session(home)
    async with home.open_session(continue_last=True) as front:
        names = [type(event).__name__ for event in front.replay]
        assert names == [
            "TurnBegin", "CheckpointCreated", "StepBegin", "CheckpointCreated",
            "TextPart", "ToolCall", "ToolCall", "ToolCall", "ToolResult", "ToolResult", "ToolResult",
            "StepBegin", "CheckpointCreated", "TextPart", "TurnEnd",
            "TurnBegin", "CheckpointCreated", "StepBegin", "CheckpointCreated", "TextPart", "TurnEnd",
        ]  # fmt: skip
        checkpoints = [event for event in front.replay if isinstance(event, CheckpointCreated)]
        assert [(event.id, event.kind) for event in checkpoints] == [
            (0, "user"), (1, "step"), (2, "step"), (3, "user"), (4, "step"),
        ]  # fmt: skip
        written, planned, missing = (event for event in front.replay if isinstance(event, ToolResult))
        (diff,) = [block for block in written.return_value.display if isinstance(block, DiffBlock)]
        assert (diff.path, diff.new_text) == ("a.txt", "hello\n")
        assert not planned.return_value.is_error
        assert missing.return_value.is_error
        assert [event.n for event in front.replay if isinstance(event, StepBegin)] == [1, 2, 1]
        assert [event.user_input for event in front.of(TurnBegin)] == ["write a.txt", "thanks"]
        assert front.of(SessionInfo)[0].title == "write a.txt"
        assert front.of(TodoUpdate) == [TodoUpdate((TodoItem("fix it", "done"),))]
        assert not front.of(Notification)


async def test_a_session_without_a_recording_is_replayed_from_its_journal(home: SessionEnv) -> None:
    await create_session(home)
    (home.session_dir / "wire.jsonl").unlink()
    async with home.open_session(continue_last=True) as front:
        results = [event for event in front.replay if isinstance(event, ToolResult)]
        assert [result.return_value.is_error for result in results] == [False, False, True]
        assert "none.txt" in results[2].return_value.message


async def test_a_resumed_session_continues_its_ids(home: SessionEnv) -> None:
    await create_session(home)
    home.script(script("text: looking", call("c1", "LS", path=".")), "text: done")
    async with home.open_session(session_id=home.session_dir.name) as front:
        await front.turn("again")
        calls = [event.id for event in front.events if isinstance(event, ToolCall)]
        assert len(calls) == len(set(calls)) == 4
        assert [event.id for event in front.of(CheckpointCreated)] == [0, 1, 2, 3, 4, 5, 6, 7]
    assert len(SessionStore(home.data_dir).list(home.work_dir)) == 1


async def test_an_interrupted_call_is_replayed_as_interrupted(home: SessionEnv) -> None:
    home.script(script("text: running", bash("c1", "echo started; sleep 100")))
    async with home.open_session(yolo=True) as front:
        front.send(Prompt("go"))
        await front.wait_for(ToolOutput)
        front.send(Interrupt())
        await front.wait_for(TurnEnd)
    async with home.open_session(continue_last=True) as front:
        (result,) = [event for event in front.replay if isinstance(event, ToolResult)]
        assert "interrupted" in result.return_value.message


async def test_a_partial_response_is_restored_after_a_kill(home: SessionEnv) -> None:
    await create_session(home)
    journal = home.session_dir / "context.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    (response_line,) = (at for at, line in enumerate(lines) if "you are welcome" in line)
    journal.write_text("".join(lines[:response_line]))  # the journal while the response is streamed
    for _ in range(2):
        async with home.open_session(continue_last=True) as front:
            assert [event for event in front.replay if isinstance(event, TextPart)] == [
                TextPart("working"),
                TextPart("done"),
                TextPart("you are welcome"),
            ]
            assert not front.of(Notification)


async def test_a_fork_doesnt_change_the_original(home: SessionEnv) -> None:
    await create_session(home)
    home.script("text: in the fork")
    async with home.open_session(continue_last=True, fork=True) as front:
        assert front.of(SessionInfo)[0].title == "write a.txt (fork)"
        assert len([event for event in front.replay if isinstance(event, TurnBegin)]) == 2
        await front.turn("only here")
    original, fork = sorted(set(home.session_dirs), key=lambda folder: folder.stat().st_ctime_ns)
    assert "only here" not in (original / "context.jsonl").read_text()
    assert "only here" in (fork / "context.jsonl").read_text()


async def test_a_session_has_one_engine_at_a_time(home: SessionEnv) -> None:
    await create_session(home)
    async with home.open_session(continue_last=True):
        with pytest.raises(SessionError, match="in use"):
            async with home.open_session(continue_last=True):
                pass
        async with home.open_session(continue_last=True, fork=True):
            pass
    async with home.open_session(continue_last=True):
        pass


async def test_a_session_that_cant_be_opened_is_unlocked(home: SessionEnv) -> None:
    await create_session(home)
    with pytest.raises(Exception, match="nonsense"):
        async with home.open_session(continue_last=True, model="nonsense"):
            pass
    async with home.open_session(continue_last=True):
        pass


async def test_the_error_for_an_unknown_session_lists_the_sessions(home: SessionEnv) -> None:
    await create_session(home)
    with pytest.raises(SessionError, match="write"):
        async with home.open_session(session_id="nonsense"):
            pass


async def test_continuing_without_an_earlier_session_creates_one(home: SessionEnv) -> None:
    home.script("text: hi")
    async with home.open_session(continue_last=True) as front:
        assert (await front.turn("hello")).outcome == "finished"


async def test_a_session_whose_working_directory_is_gone_is_an_error(home: SessionEnv) -> None:
    await create_session(home)
    session = home.session_dir.name
    for file in home.work_dir.iterdir():
        file.unlink()
    home.work_dir.rmdir()
    with pytest.raises(SessionError, match="work") as caught:
        async with home.open_session(session_id=session):
            pass
    assert f"kimi-tui sessions export {session[:8]} -o talk.json" in caught.value.hint


async def test_a_damaged_state_is_reported_and_kept(home: SessionEnv) -> None:
    await create_session(home)
    (home.session_dir / "state.json").write_text("{")
    home.script("text: hi")
    async with home.open_session(continue_last=True) as front:
        (notice,) = front.of(Notification)
        assert "damaged" in notice.title
        await front.turn("go on")
    assert (home.session_dir / "state.json.damaged").read_text() == "{"


async def test_a_truncated_journal_is_repaired_and_reported(home: SessionEnv) -> None:
    await create_session(home)
    journal = home.session_dir / "context.jsonl"
    journal.write_bytes(journal.read_bytes()[:-10])
    home.script("text: hi")
    async with home.open_session(continue_last=True) as front:
        assert "repaired" in front.of(Notification)[0].title
        assert (await front.turn("go on")).outcome == "finished"


async def test_additional_directories_are_kept_in_resumed_sessions(home: SessionEnv, tmp_path: Path) -> None:
    added = tmp_path / "added"
    added.mkdir()
    (added / "b.txt").write_text("added\n")
    home.script("text: hi")
    async with home.open_session(additional_dirs=(added,)) as front:
        await front.turn("hello")
    home.script(script("text: writing", write("c1", str(added / "c.txt"))), "text: done")
    async with home.open_session(continue_last=True) as front:
        front.send(Prompt("go"))
        request = await front.next_approval_request()
        assert request.action == "edit file"
        front.answer(request, "approve")
        await front.wait_for(TurnEnd)


async def test_invalid_lines_of_a_recording_are_ignored(home: SessionEnv) -> None:
    await create_session(home)
    wire_file = home.session_dir / "wire.jsonl"
    nested = '{"message":{"type":"ToolResult","payload":' + "[" * 100_000
    other = json.dumps({"message": {"type": "ToolResult", "payload": [1]}}, separators=(",", ":"))
    wire_file.write_text("\n".join([nested, other, wire_file.read_text()]))
    async with home.open_session(continue_last=True) as front:
        assert len([event for event in front.replay if isinstance(event, ToolResult)]) == 3
        assert TextPart("done") in front.replay


async def do_nothing(_: OpenedSession) -> None:
    """Change nothing between the first replay and the engine."""


async def test_a_session_can_be_replayed_before_its_engine_is_built(home: SessionEnv) -> None:
    await create_session(home)
    async with home.open_session(continue_last=True) as front:
        expected = front.replay
    home.script("text: so it is")
    async with home.open_session(continue_last=True, before_engine=do_nothing) as front:
        names = [type(event).__name__ for event in front.events]
        assert names.index("ReplayEnd") < names.index("SessionInfo")
        assert names.count("ReplayBegin") == 1
        assert front.replay == expected
        assert (await front.turn("is it so?")).outcome == "finished"


async def test_a_session_that_changes_before_its_engine_is_built_is_replayed_again(home: SessionEnv) -> None:
    await create_session(home)

    async def revert(opened: OpenedSession) -> None:
        await opened.context.revert_to(3)  # as the recovery of an interrupted revert does

    async with home.open_session(continue_last=True, before_engine=revert) as front:
        assert [event.anew for event in front.of(ReplayBegin)] == [False, True]
        [_, *prompts] = [event.user_input for event in front.of(TurnBegin)]
        assert prompts == ["thanks", "write a.txt"]


async def test_a_replayed_session_is_unlocked_if_its_engine_cant_be_built(home: SessionEnv) -> None:
    await create_session(home)
    with pytest.raises(ConfigError):
        async with home.open_session(continue_last=True, before_engine=do_nothing, agent="nobody"):
            pass
    async with home.open_session(continue_last=True) as front:
        assert front.replay


async def test_a_session_in_use_is_not_replayed(home: SessionEnv) -> None:
    await create_session(home)
    async with home.open_session(continue_last=True):
        with pytest.raises(SessionError):
            async with home.open_session(continue_last=True, before_engine=do_nothing):
                pass


def extend_journal(home: SessionEnv, *, last: str = "") -> None:
    """Append 300 turns and `last` to the journal."""
    turn = (
        '{"role": "user", "content": "request %d"}\n'
        '{"role": "assistant", "content": "I look.", "tool_calls": [{"id": "c%d", "type": "function",'
        ' "function": {"name": "Bash", "arguments": "{}"}}]}\n'
        '{"role": "tool", "tool_call_id": "c%d", "content": "a.py"}\n'
        '{"role": "assistant", "content": "%s"}\n'
    )
    with (home.session_dir / "context.jsonl").open("a") as journal:
        journal.writelines(turn % (number, number, number, "long words " * 400) for number in range(300))
        journal.write(last)


async def collect_opening_events(home: SessionEnv) -> tuple[list[Event], list[Event]]:
    """Return the events that are sent before the session is read, and those sent afterwards."""
    selector = SessionSelector(data_dir=home.data_dir, work_dir=home.work_dir, continue_last=True)
    preview: list[Event] = []
    replay: list[Event] = []
    opened = await open_session(selector, on_preview=preview.append)
    await opened.send_replay(replay.append)
    await opened.context.close()
    opened.close()
    return preview, replay


async def test_the_context_usage_is_sent_with_the_replay(home: SessionEnv) -> None:
    await create_session(home)
    async with home.open_session(continue_last=True) as front:
        expected = front.of(StatusUpdate)[-1]
    preview, replay = await collect_opening_events(home)
    assert not preview  # the usage alone would delay the replay by a frame
    assert replay[-2:] == [
        ReplayEnd(),
        StatusUpdate(
            context_usage=expected.context_usage,
            context_tokens=expected.context_tokens,
            max_context_tokens=200_000,
        ),
    ]


@pytest.mark.parametrize("last", ["", '{"role": "user", "content": "torn of'])
async def test_the_latest_turns_of_a_long_session_are_sent_first(home: SessionEnv, last: str) -> None:
    await create_session(home)
    extend_journal(home, last=last)
    preview, replay = await collect_opening_events(home)
    [begin, *latest, end, usage] = preview
    assert (begin, end) == (ReplayBegin(), ReplayEnd())
    assert isinstance(latest[0], TurnBegin)
    assert isinstance(usage, StatusUpdate)
    [begin, *everything, end, _] = replay
    assert (begin, end) == (ReplayBegin(anew=True), ReplayEnd())
    assert everything[-len(latest) :] == latest
    assert 5 * len(latest) < len(everything)


@pytest.mark.parametrize("last", [None, '{"role": "assistant", "content": "%s"}\n' % ("x" * 200_000)])
async def test_a_session_without_a_useful_preview_is_replayed_once(
    home: SessionEnv, last: str | None
) -> None:
    await create_session(home)
    if last is not None:
        extend_journal(home, last=last)
    preview, replay = await collect_opening_events(home)
    assert not any(isinstance(event, TurnBegin | ReplayBegin) for event in preview)
    assert replay[0] == ReplayBegin()


async def test_a_session_resumed_on_another_day_tells_the_model_the_time(
    home: SessionEnv, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.script("text: one", "text: two", "text: three")
    async with home.open_session() as front:
        await front.turn("first")
    async with home.open_session(continue_last=True) as front:
        await front.turn("second")
    assert "It is now" not in home.journal
    monkeypatch.setattr("kimi_tui.engine.build.prompt_facts.local_time", lambda: "2031-05-06T07:08+00:00")
    async with home.open_session(continue_last=True) as front:
        await front.turn("third")
    assert "The user resumed the session. It is now 2031-05-06T07:08+00:00." in home.journal
