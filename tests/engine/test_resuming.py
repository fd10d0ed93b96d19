"""Sessions that go on: resumed, forked, and shut to a second engine."""

import json
from pathlib import Path

import pytest

from kimi_tui.base.content import TextPart
from kimi_tui.base.errors import ConfigError, SessionError
from kimi_tui.base.message import ToolCall
from kimi_tui.engine.opened import OpenedSession, WantedSession, open_session
from kimi_tui.history.session import SessionStore
from kimi_tui.wire.commands import Interrupt, Prompt
from kimi_tui.wire.display import DiffBlock, TodoItem
from kimi_tui.wire.events import (
    CheckpointCreated,
    Event,
    Notification,
    ReplayBegin,
    ReplayEnd,
    SessionInfo,
    StepBegin,
    TodoUpdate,
    ToolOutput,
    ToolResult,
    TurnBegin,
    TurnEnd,
)
from tests.engine.front import Home, bash, call, script, write

TODOS = [{"title": "mend it", "status": "done"}]


async def a_session(home: Home) -> None:
    """Two turns: one that writes a file and plans, one that talks."""
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
    async with home.opened() as front:
        front.give(Prompt("write a.txt"))
        front.answer(await front.asked(), "approve")
        await front.until(TurnEnd)
        await front.turn("thanks")


async def test_a_resumed_session_is_told_as_it_was(home: Home) -> None:
    await a_session(home)
    async with home.opened(continue_last=True) as front:
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
        assert front.of(TodoUpdate) == [TodoUpdate((TodoItem("mend it", "done"),))]
        assert not front.of(Notification)


async def test_a_session_without_its_recording_is_told_from_its_journal(home: Home) -> None:
    await a_session(home)
    (home.session_dir / "wire.jsonl").unlink()
    async with home.opened(continue_last=True) as front:
        results = [event for event in front.replay if isinstance(event, ToolResult)]
        assert [result.return_value.is_error for result in results] == [False, False, True]
        assert "none.txt" in results[2].return_value.message


async def test_a_resumed_session_goes_on_and_its_ids_do_too(home: Home) -> None:
    await a_session(home)
    home.script(script("text: looking", call("c1", "LS", path=".")), "text: done")
    async with home.opened(session_id=home.session_dir.name) as front:
        await front.turn("again")
        calls = [event.id for event in front.events if isinstance(event, ToolCall)]
        assert len(calls) == len(set(calls)) == 4
        assert [event.id for event in front.of(CheckpointCreated)] == [0, 1, 2, 3, 4, 5, 6, 7]
    assert len(SessionStore(home.share_dir).list(home.work_dir)) == 1


async def test_what_was_interrupted_is_told_as_interrupted(home: Home) -> None:
    home.script(script("text: running", bash("c1", "echo started; sleep 100")))
    async with home.opened(yolo=True) as front:
        front.give(Prompt("go"))
        await front.until(ToolOutput)
        front.give(Interrupt())
        await front.until(TurnEnd)
    async with home.opened(continue_last=True) as front:
        (result,) = [event for event in front.replay if isinstance(event, ToolResult)]
        assert "interrupted" in result.return_value.message


async def test_what_was_said_of_an_answer_when_the_program_was_killed_is_there_again(home: Home) -> None:
    await a_session(home)
    journal = home.session_dir / "context.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    (answered,) = (at for at, line in enumerate(lines) if "you are welcome" in line)
    journal.write_text("".join(lines[:answered]))  # as it was while the answer streamed
    for _ in range(2):
        async with home.opened(continue_last=True) as front:
            assert [event for event in front.replay if isinstance(event, TextPart)] == [
                TextPart("working"),
                TextPart("done"),
                TextPart("you are welcome"),
            ]
            assert not front.of(Notification)


async def test_a_fork_goes_its_own_way(home: Home) -> None:
    await a_session(home)
    home.script("text: in the fork")
    async with home.opened(continue_last=True, fork=True) as front:
        assert front.of(SessionInfo)[0].title == "write a.txt (fork)"
        assert len([event for event in front.replay if isinstance(event, TurnBegin)]) == 2
        await front.turn("only here")
    original, fork = sorted(set(home.session_dirs), key=lambda folder: folder.stat().st_ctime_ns)
    assert "only here" not in (original / "context.jsonl").read_text()
    assert "only here" in (fork / "context.jsonl").read_text()


async def test_a_session_has_one_engine_at_a_time(home: Home) -> None:
    await a_session(home)
    async with home.opened(continue_last=True):
        with pytest.raises(SessionError, match="in use"):
            async with home.opened(continue_last=True):
                pass
        async with home.opened(continue_last=True, fork=True):
            pass
    async with home.opened(continue_last=True):
        pass


async def test_a_session_that_can_not_be_opened_is_let_go_of(home: Home) -> None:
    await a_session(home)
    with pytest.raises(Exception, match="nonsense"):
        async with home.opened(continue_last=True, model="nonsense"):
            pass
    async with home.opened(continue_last=True):
        pass


async def test_an_unknown_session_is_an_error_that_names_those_that_there_are(home: Home) -> None:
    await a_session(home)
    with pytest.raises(SessionError, match="write"):
        async with home.opened(session_id="nonsense"):
            pass


async def test_continuing_where_nothing_was_said_begins(home: Home) -> None:
    home.script("text: hi")
    async with home.opened(continue_last=True) as front:
        assert (await front.turn("hello")).outcome == "finished"


async def test_a_session_whose_folder_is_gone_says_so(home: Home) -> None:
    await a_session(home)
    session = home.session_dir.name
    for file in home.work_dir.iterdir():
        file.unlink()
    home.work_dir.rmdir()
    with pytest.raises(SessionError, match="work") as caught:
        async with home.opened(session_id=session):
            pass
    assert f"kimi-tui sessions export {session[:8]} -o talk.json" in caught.value.hint


async def test_a_damaged_state_is_told_and_kept(home: Home) -> None:
    await a_session(home)
    (home.session_dir / "state.json").write_text("{")
    home.script("text: hi")
    async with home.opened(continue_last=True) as front:
        (notice,) = front.of(Notification)
        assert "damaged" in notice.title
        await front.turn("go on")
    assert (home.session_dir / "state.json.damaged").read_text() == "{"


async def test_a_torn_journal_is_mended_and_told(home: Home) -> None:
    await a_session(home)
    journal = home.session_dir / "context.jsonl"
    journal.write_bytes(journal.read_bytes()[:-10])
    home.script("text: hi")
    async with home.opened(continue_last=True) as front:
        assert "repaired" in front.of(Notification)[0].title
        assert (await front.turn("go on")).outcome == "finished"


async def test_folders_that_were_added_stay_added(home: Home, tmp_path: Path) -> None:
    beside = tmp_path / "beside"
    beside.mkdir()
    (beside / "b.txt").write_text("beside\n")
    home.script("text: hi")
    async with home.opened(additional_dirs=(beside,)) as front:
        await front.turn("hello")
    home.script(script("text: writing", write("c1", str(beside / "c.txt"))), "text: done")
    async with home.opened(continue_last=True) as front:
        front.give(Prompt("go"))
        request = await front.asked()
        assert request.action == "edit file"
        front.answer(request, "approve")
        await front.until(TurnEnd)


async def test_a_recording_of_nonsense_costs_its_lines_only(home: Home) -> None:
    await a_session(home)
    wire_file = home.session_dir / "wire.jsonl"
    nested = '{"message":{"type":"ToolResult","payload":' + "[" * 100_000
    other = json.dumps({"message": {"type": "ToolResult", "payload": [1]}}, separators=(",", ":"))
    wire_file.write_text("\n".join([nested, other, wire_file.read_text()]))
    async with home.opened(continue_last=True) as front:
        assert len([event for event in front.replay if isinstance(event, ToolResult)]) == 3
        assert TextPart("done") in front.replay


async def leave_it(_: OpenedSession) -> None:
    """Nothing happens between the first look and the engine."""


async def test_a_session_can_be_told_of_before_its_engine_is_there(home: Home) -> None:
    await a_session(home)
    async with home.opened(continue_last=True) as front:
        as_ever = front.replay
    home.script("text: so it is")
    async with home.opened(continue_last=True, shown_first=leave_it) as front:
        names = [type(event).__name__ for event in front.events]
        assert names.index("ReplayEnd") < names.index("SessionInfo")
        assert names.count("ReplayBegin") == 1
        assert front.replay == as_ever
        assert (await front.turn("is it so?")).outcome == "finished"


async def test_what_becomes_of_it_until_the_engine_is_there_is_told_anew(home: Home) -> None:
    await a_session(home)

    async def go_back(opened: OpenedSession) -> None:
        await opened.context.revert_to(3)  # as settling an interrupted jump does

    async with home.opened(continue_last=True, shown_first=go_back) as front:
        assert [event.anew for event in front.of(ReplayBegin)] == [False, True]
        [_, *told] = [event.user_input for event in front.of(TurnBegin)]
        assert told == ["thanks", "write a.txt"]


async def test_a_session_that_was_shown_is_let_go_when_its_engine_can_not_be_opened(home: Home) -> None:
    await a_session(home)
    with pytest.raises(ConfigError):
        async with home.opened(continue_last=True, shown_first=leave_it, agent="nobody"):
            pass
    async with home.opened(continue_last=True) as front:
        assert front.replay


async def test_a_session_that_another_one_has_is_not_shown(home: Home) -> None:
    await a_session(home)
    async with home.opened(continue_last=True):
        with pytest.raises(SessionError):
            async with home.opened(continue_last=True, shown_first=leave_it):
                pass


def grow_long(home: Home, *, last: str = "") -> None:
    """Three hundred turns more in the journal, and `last` at its end."""
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


async def told_while_opening(home: Home) -> tuple[list[Event], list[Event]]:
    """What is told of the session of `home` before it is read, and afterwards."""
    wanted = WantedSession(share_dir=home.share_dir, work_dir=home.work_dir, continue_last=True)
    first: list[Event] = []
    then: list[Event] = []
    opened = await open_session(wanted, glimpse=first.append)
    await opened.show(then.append)
    await opened.context.close()
    opened.close()
    return first, then


@pytest.mark.parametrize("last", ["", '{"role": "user", "content": "torn of'])
async def test_the_latest_turns_of_a_long_session_are_told_while_it_is_read(home: Home, last: str) -> None:
    await a_session(home)
    grow_long(home, last=last)
    first, then = await told_while_opening(home)
    [begin, *latest, end] = first
    assert (begin, end) == (ReplayBegin(), ReplayEnd())
    assert isinstance(latest[0], TurnBegin)
    [begin, *everything, end] = then
    assert (begin, end) == (ReplayBegin(anew=True), ReplayEnd())
    assert everything[-len(latest) :] == latest
    assert 5 * len(latest) < len(everything)


@pytest.mark.parametrize("last", [None, '{"role": "assistant", "content": "%s"}\n' % ("x" * 200_000)])
async def test_a_session_whose_end_says_little_is_told_as_a_whole_at_once(
    home: Home, last: str | None
) -> None:
    await a_session(home)
    if last is not None:
        grow_long(home, last=last)
    first, then = await told_while_opening(home)
    assert first == []
    assert then[0] == ReplayBegin()
