"""Compaction in a session: by command, by itself, by a strategy that is named, and after a restart."""

import json
from pathlib import Path
from typing import Any

import pytest

from kimi_tui.base.compacted import SUMMARY_LEAD
from kimi_tui.base.content import TextPart
from kimi_tui.base.errors import ConfigError
from kimi_tui.base.message import Message, user_message
from kimi_tui.compaction.hiding import ToolResultHidingCompaction
from kimi_tui.config.settings import Compaction
from kimi_tui.engine.replay import replayed
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
from tests.engine.front import Front, Home, call, script

HANG = "delay: 1000"


async def slash(front: Front, line: str) -> TurnEnd:
    front.give(RunSlash(line))
    return await front.until(TurnEnd)


def live(home: Home) -> list[dict[str, Any]]:
    """The messages of the session's journal."""
    lines = (home.session_dir / "context.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    return [record for record in records if record.get("role") in {"user", "assistant", "tool"}]


def words(record: dict[str, Any]) -> str:
    content = record["content"]
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


async def test_the_user_compacts_the_conversation(home: Home) -> None:
    home.script("text: one", "text: two", "text: three", "text: THE SUMMARY", "text: four")
    async with home.opened() as front:
        for prompt in ("a", "b", "c"):
            await front.turn(prompt)
        assert await slash(front, "compact the names") == TurnEnd("finished", 0)
        assert front.of(TurnBegin)[-1] == TurnBegin("/compact the names")
        (end,) = front.of(CompactionEnd)
        assert end.tokens_before is not None
        assert [event.reason for event in front.of(Reverted)] == ["compaction"]
        await front.turn("d")
    said = [words(record) for record in live(home)]
    assert said == [f"{SUMMARY_LEAD}\n\nTHE SUMMARY", "c", "three", "d", "four"]


async def test_with_nothing_to_compact_it_says_so(home: Home) -> None:
    home.script("text: one")
    async with home.opened() as front:
        await front.turn("a")
        assert (await slash(front, "compact")).outcome == "finished"
        (note,) = front.of(Notification)
        assert (note.title, note.severity) == ("There is nothing to compact yet.", "info")


async def test_it_waits_for_the_turn_that_runs(home: Home) -> None:
    home.script(script("delay: 0.05", "text: one"), "text: two", "text: THE SUMMARY")
    async with home.opened() as front:
        front.give(Prompt("a"))
        front.give(Prompt("b"))
        front.give(RunSlash("compact"))
        for _ in range(3):
            assert (await front.until(TurnEnd)).outcome == "finished"
    assert [event.user_input for event in front.of(TurnBegin)] == ["a", "b", "/compact"]


async def test_it_can_be_interrupted_and_then_nothing_has_changed(home: Home) -> None:
    home.script("text: one", "text: two", script(HANG, "text: never"))
    async with home.opened() as front:
        await front.turn("a")
        await front.turn("b")
        before = live(home)
        front.give(RunSlash("compact"))
        await front.until(CompactionBegin)
        front.give(Interrupt())
        assert (await front.until(TurnEnd)).outcome == "cancelled"
        assert front.of(CompactionEnd) == [CompactionEnd()]
        assert front.of(StepInterrupted)
        assert live(home) == before


async def test_when_it_fails_the_turn_says_why(home: Home) -> None:
    home.script("text: one", "text: two", "error: 401 wrong key")
    async with home.opened() as front:
        await front.turn("a")
        await front.turn("b")
        end = await slash(front, "compact")
        assert end.outcome == "failed"
        assert end.failure is not None
        assert "wrong key" in end.failure.what


async def test_a_full_window_is_compacted_before_the_next_step(home: Home) -> None:
    todos = [{"title": "mend it", "status": "in_progress"}]
    home.script(
        script("text: old"),
        script(call("c1", "SetTodoList", todos=todos)),
        script("text: looking", call("c2", "LS", path="."), "usage: input_other=190000"),
        script("text: THE SUMMARY"),
        script("text: done"),
    )
    async with home.opened() as front:
        await front.turn("before")
        await front.turn("the request")
        (end,) = front.of(CompactionEnd)
        assert end.tokens_before is not None
        assert end.tokens_before >= 190_000
        assert front.of(StatusUpdate)[-1].context_tokens is not None
    said = [words(record) for record in live(home)]
    assert said[:2] == [f"{SUMMARY_LEAD}\n\nTHE SUMMARY", "the request"]
    assert any("[in_progress] mend it" in text for text in said)
    assert said[-1] == "done"


async def test_a_conversation_that_the_model_finds_too_long_is_compacted(home: Home) -> None:
    home.script("text: one", "text: two", "error: context too long", "text: THE SUMMARY", "text: three")
    async with home.opened() as front:
        await front.turn("a")
        await front.turn("b")
        assert await front.turn("c") == TurnEnd("finished", 1)
        assert len(front.of(CompactionEnd)) == 1


async def test_still_too_long_it_fails_clearly(home: Home) -> None:
    home.script("text: one", "text: two", "error: context too long", "text: SUM", "error: context too long")
    async with home.opened() as front:
        await front.turn("a")
        await front.turn("b")
        end = await front.turn("c")
        assert end.failure is not None
        assert end.failure.kind == "ContextTooLong"
        assert "compacting it was not enough" in end.failure.what


async def test_after_a_restart_a_summary_is_not_shown_as_the_users_words(home: Home) -> None:
    home.script("text: one", "text: two", "text: three", "text: THE SUMMARY")
    async with home.opened() as front:
        for prompt in ("a", "b", "c"):
            await front.turn(prompt)
        await slash(front, "compact")
    async with home.opened(continue_last=True) as front:
        begins = [event.user_input for event in front.replay if isinstance(event, TurnBegin)]
        assert begins == ["c"]
        (notice,) = [event for event in front.replay if isinstance(event, Notification)]
        assert (notice.body, notice.severity) == ("THE SUMMARY", "info")


def test_an_answer_whose_prompt_was_compacted_has_a_turn() -> None:
    history = [
        user_message(f"{SUMMARY_LEAD}\n\nx"),
        Message("assistant", (TextPart("so"),)),
        user_message("b"),
    ]
    kinds = [type(event).__name__ for event in replayed(history, {})]
    assert kinds == ["Notification", "TurnBegin", "StepBegin", "TextPart", "TurnEnd", "TurnBegin", "TurnEnd"]


# strategies


def configured(home: Home, strategy: str) -> Any:
    return home.settings(compaction=Compaction(strategy=strategy))


async def test_the_config_names_a_strategy_which_gets_the_collaborators_it_asks_for(home: Home) -> None:
    home.script("text: one", "text: two")
    async with home.opened(settings=configured(home, "tests.engine.strategies:InWorkspace")) as front:
        await front.turn("a")
        await front.turn("b")
        await slash(front, "compact")
    assert words(live(home)[0]) in {"we were in work", "b"}
    assert "we were in work" in [words(record) for record in live(home)]


async def test_a_program_gives_its_own_strategy(home: Home) -> None:
    calls = [script(call(f"c{n}", "LS", path=".")) for n in range(7)]
    home.script(*calls, "text: done")
    async with home.opened(compaction=ToolResultHidingCompaction(kept_groups=1)) as front:
        await front.turn("a")
        await slash(front, "compact")
    assert sum("was hidden" in words(record) for record in live(home)) == 6


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("nowhere.at.all:Short", "nowhere"),
        ("tests.engine.strategies:Missing", "Missing"),
        ("tests.engine.strategies:NoStrategy", "async def compact"),
        ("tests.engine.strategies:compact", "is no class"),
        ("tests.engine.strategies:Demanding", "size"),
    ],
)
async def test_a_strategy_that_cannot_be_used_is_named_with_what_is_wrong(
    home: Home, name: str, problem: str
) -> None:
    home.script("text: one")
    with pytest.raises(ConfigError, match=problem) as raised:
        async with home.opened(settings=configured(home, name)):
            pass
    assert name in str(raised.value)


def test_the_strategies_that_come_with_the_program_are_where_the_config_says(tmp_path: Path) -> None:
    from kimi_tui.config.settings import OWN_STRATEGIES
    from kimi_tui.engine.strategy import named_strategy

    for name, path in OWN_STRATEGIES.items():
        assert type(named_strategy(path, {})).__name__ == name
