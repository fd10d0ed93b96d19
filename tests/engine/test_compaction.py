"""Compaction in a session: by command, automatic, with configured strategies, and after a restart."""

import json
from pathlib import Path
from typing import Any

import pytest

from kimi_tui.base.compaction_markers import SUMMARY_PREFIX
from kimi_tui.base.content_parts import TextPart
from kimi_tui.base.errors import ConfigError
from kimi_tui.base.message import Message, user_message
from kimi_tui.compaction.hide_tool_results import ToolResultHidingCompaction
from kimi_tui.config.settings import CompactionSettings
from kimi_tui.engine.recording.replay import replay_events
from kimi_tui.wire.commands import Interrupt, Prompt, RunSlash
from kimi_tui.wire.events import (
    CompactionBegin,
    CompactionEnd,
    Notification,
    Reverted,
    StatusUpdate,
    StepInterrupted,
    TurnBegin,
    TurnEnd,
)
from tests.engine.fake_front_end import FakeFrontEnd, SessionEnv, call, script

HANG = "delay: 1000"


async def run_slash(front: FakeFrontEnd, line: str) -> TurnEnd:
    front.send(RunSlash(line))
    return await front.wait_for(TurnEnd)


def current_messages(home: SessionEnv) -> list[dict[str, Any]]:
    """Return the messages in the session's journal."""
    lines = (home.session_dir / "context.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    return [record for record in records if record.get("role") in {"user", "assistant", "tool"}]


def text_of_record(record: dict[str, Any]) -> str:
    content = record["content"]
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


async def test_compact_compacts_the_conversation(home: SessionEnv) -> None:
    home.script("text: one", "text: two", "text: three", "text: THE SUMMARY", "text: four")
    async with home.open_session() as front:
        for prompt in ("a", "b", "c"):
            await front.turn(prompt)
        assert await run_slash(front, "compact the names") == TurnEnd("finished", 0)
        assert front.of(TurnBegin)[-1] == TurnBegin("/compact the names")
        (end,) = front.of(CompactionEnd)
        assert end.tokens_before is not None
        assert [event.reason for event in front.of(Reverted)] == ["compaction"]
        await front.turn("d")
    texts = [text_of_record(record) for record in current_messages(home)]
    assert texts == [f"{SUMMARY_PREFIX}\n\nTHE SUMMARY", "c", "three", "d", "four"]


async def test_compact_with_nothing_to_compact_sends_a_notice(home: SessionEnv) -> None:
    home.script("text: one")
    async with home.open_session() as front:
        await front.turn("a")
        assert (await run_slash(front, "compact")).outcome == "finished"
        (notice,) = front.of(Notification)
        assert (notice.title, notice.severity) == ("Nothing to compact yet.", "info")


async def test_compact_waits_for_the_running_turn(home: SessionEnv) -> None:
    home.script(script("delay: 0.05", "text: one"), "text: two", "text: THE SUMMARY")
    async with home.open_session() as front:
        front.send(Prompt("a"))
        front.send(Prompt("b"))
        front.send(RunSlash("compact"))
        for _ in range(3):
            assert (await front.wait_for(TurnEnd)).outcome == "finished"
    assert [event.user_input for event in front.of(TurnBegin)] == ["a", "b", "/compact"]


async def test_an_interrupted_compaction_changes_nothing(home: SessionEnv) -> None:
    home.script("text: one", "text: two", script(HANG, "text: never"))
    async with home.open_session() as front:
        await front.turn("a")
        await front.turn("b")
        before = current_messages(home)
        front.send(RunSlash("compact"))
        await front.wait_for(CompactionBegin)
        front.send(Interrupt())
        assert (await front.wait_for(TurnEnd)).outcome == "cancelled"
        assert front.of(CompactionEnd) == [CompactionEnd()]
        assert front.of(StepInterrupted)
        assert current_messages(home) == before


async def test_a_failed_compaction_is_reported_by_its_turn(home: SessionEnv) -> None:
    home.script("text: one", "text: two", "error: 401 wrong key")
    async with home.open_session() as front:
        await front.turn("a")
        await front.turn("b")
        end = await run_slash(front, "compact")
        assert end.outcome == "failed"
        assert end.failure is not None
        assert "wrong key" in end.failure.what


async def test_a_full_context_window_is_compacted_before_the_next_step(home: SessionEnv) -> None:
    todos = [{"title": "fix it", "status": "in_progress"}]
    home.script(
        script("text: old"),
        script(call("c1", "SetTodoList", todos=todos)),
        script("text: looking", call("c2", "LS", path="."), "usage: input_other=190000"),
        script("text: THE SUMMARY"),
        script("text: done"),
    )
    async with home.open_session() as front:
        await front.turn("before")
        await front.turn("the request")
        (end,) = front.of(CompactionEnd)
        assert end.tokens_before is not None
        assert end.tokens_before >= 190_000
        assert front.of(StatusUpdate)[-1].context_tokens is not None
    texts = [text_of_record(record) for record in current_messages(home)]
    assert texts[:2] == [f"{SUMMARY_PREFIX}\n\nTHE SUMMARY", "the request"]
    assert any("[in_progress] fix it" in text for text in texts)
    assert texts[-1] == "done"


async def test_a_conversation_that_the_model_rejects_as_too_long_is_compacted(home: SessionEnv) -> None:
    home.script("text: one", "text: two", "error: context too long", "text: THE SUMMARY", "text: three")
    async with home.open_session() as front:
        await front.turn("a")
        await front.turn("b")
        assert await front.turn("c") == TurnEnd("finished", 1)
        assert len(front.of(CompactionEnd)) == 1


async def test_a_conversation_that_is_still_too_long_fails_with_a_clear_error(home: SessionEnv) -> None:
    home.script("text: one", "text: two", "error: context too long", "text: SUM", "error: context too long")
    async with home.open_session() as front:
        await front.turn("a")
        await front.turn("b")
        end = await front.turn("c")
        assert end.failure is not None
        assert end.failure.kind == "ContextTooLong"
        assert "even after compaction" in end.failure.what


async def test_a_replayed_summary_is_not_a_prompt(home: SessionEnv) -> None:
    home.script("text: one", "text: two", "text: three", "text: THE SUMMARY")
    async with home.open_session() as front:
        for prompt in ("a", "b", "c"):
            await front.turn(prompt)
        await run_slash(front, "compact")
    async with home.open_session(continue_last=True) as front:
        begins = [event.user_input for event in front.replay if isinstance(event, TurnBegin)]
        assert begins == ["c"]
        (notice,) = [event for event in front.replay if isinstance(event, Notification)]
        assert (notice.body, notice.severity) == ("THE SUMMARY", "info")


def test_a_response_whose_prompt_was_compacted_has_a_turn() -> None:
    history = [
        user_message(f"{SUMMARY_PREFIX}\n\nx"),
        Message("assistant", (TextPart("so"),)),
        user_message("b"),
    ]
    kinds = [type(event).__name__ for event in replay_events(history, {})]
    assert kinds == ["Notification", "TurnBegin", "StepBegin", "TextPart", "TurnEnd", "TurnBegin", "TurnEnd"]


# strategies


def settings_with_strategy(home: SessionEnv, strategy: str) -> Any:
    return home.settings(compaction=CompactionSettings(strategy=strategy))


async def test_a_configured_strategy_gets_its_dependencies(home: SessionEnv) -> None:
    home.script("text: one", "text: two")
    async with home.open_session(
        settings=settings_with_strategy(home, "tests.engine.strategies:InWorkspace")
    ) as front:
        await front.turn("a")
        await front.turn("b")
        await run_slash(front, "compact")
    assert text_of_record(current_messages(home)[0]) in {"we were in work", "b"}
    assert "we were in work" in [text_of_record(record) for record in current_messages(home)]


async def test_a_host_program_can_pass_a_strategy(home: SessionEnv) -> None:
    calls = [script(call(f"c{n}", "LS", path=".")) for n in range(7)]
    home.script(*calls, "text: done")
    async with home.open_session(compaction=ToolResultHidingCompaction(kept_groups=1)) as front:
        await front.turn("a")
        await run_slash(front, "compact")
    assert sum("was hidden" in text_of_record(record) for record in current_messages(home)) == 6


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("nowhere.at.all:Short", "nowhere"),
        ("tests.engine.strategies:Missing", "Missing"),
        ("tests.engine.strategies:NoStrategy", "async def compact"),
        ("tests.engine.strategies:compact", "isn't a class"),
        ("tests.engine.strategies:Demanding", "size"),
    ],
)
async def test_the_error_for_an_invalid_strategy_names_it_and_the_problem(
    home: SessionEnv, name: str, problem: str
) -> None:
    home.script("text: one")
    with pytest.raises(ConfigError, match=problem) as error:
        async with home.open_session(settings=settings_with_strategy(home, name)):
            pass
    assert name in str(error.value)


def test_built_in_strategies_can_be_loaded(tmp_path: Path) -> None:
    from kimi_tui.config.settings import BUILTIN_STRATEGIES
    from kimi_tui.engine.build.compaction_strategy import load_strategy

    for name, path in BUILTIN_STRATEGIES.items():
        assert type(load_strategy(path, {})).__name__ == name
