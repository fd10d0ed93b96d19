"""Searching the conversation goes from match to match, through folds and history alike."""

import time
from collections.abc import Callable

from kimi_tui.base.content import TextPart
from kimi_tui.base.message import FunctionCall, ToolCall
from kimi_tui.tui.transcript.finder import Finder
from kimi_tui.tui.transcript.flow import START, Flow
from kimi_tui.tui.transcript.piece import Gallery
from kimi_tui.wire.events import ToolResult, ToolReturn, TurnBegin
from tests.tui.transcript.conftest import OpenStage, Stage
from tests.tui.transcript.history import replay


async def test_matches_are_counted_and_the_nearest_above_is_gone_to(stage: OpenStage) -> None:
    async with stage(40, 12) as s:
        await s.feed(*replay(50))
        assert s.transcript.search("PROMPT") == 50
        assert s.transcript.search("answer 7 ") == 3
        assert any("answer 7 paragraph 2" in row for row in s.rows())


async def test_with_more_letters_and_with_fewer_the_count_is_right(stage: OpenStage) -> None:
    async with stage(40, 12) as s:
        await s.feed(*replay(50))
        found = [
            s.transcript.search(words)
            for words in ("ans", "answer 7 ", "7 p", "zebra", "zebras", "answer 7 p")
        ]
        assert found == [150, 3, 15, 0, 0, 3]
        await s.feed(TurnBegin("a zebra"), TextPart("zebras are striped"))
        assert s.transcript.search("zebra") == 2


def test_words_that_nothing_holds_are_looked_for_once() -> None:
    flow = Flow(Gallery(), lambda chapter, messages: None)
    for number in range(1000):
        flow.begin_chapter(is_turn=True, stored=(TurnBegin(f"prompt {number}"), TextPart("words " * 200)))
    finder = Finder(flow)
    first = cpu_seconds(lambda: finder.search("zeb"))
    assert finder.needle == "zeb"
    assert cpu_seconds(lambda: (finder.step(1, START), finder.search("zebra"))) < first / 2


def cpu_seconds(work: Callable[[], object]) -> float:
    began = time.thread_time()
    work()
    return time.thread_time() - began


async def test_next_and_previous_wrap_around(stage: OpenStage) -> None:
    async with stage(40, 12) as s:
        await s.feed(*replay(30))
        s.transcript.search("paragraph 1")
        seen: list[str] = []
        for _ in range(31):
            seen.append(current_match(s, "paragraph 1"))
            await s.press("n")
        assert seen == [f"  answer {number} paragraph 1" for number in (29, *range(30))]
        await s.press("N")
        assert current_match(s, "paragraph 1") == "  answer 29 paragraph 1"


async def test_several_matches_in_one_answer_are_all_visited(stage: OpenStage) -> None:
    async with stage(40, 6) as s:
        await s.feed(TextPart("\n\n".join(f"needle {n}" if n % 2 else f"hay {n}" for n in range(8))))
        assert s.transcript.search("needle") == 4
        found = []
        for _ in range(4):
            found.append(current_match(s, "needle"))
            await s.press("N")
        assert found == ["  needle 7", "  needle 5", "  needle 3", "  needle 1"]


async def test_a_match_within_a_fold_unfolds_it(stage: OpenStage) -> None:
    async with stage(40, 12) as s:
        await s.feed(
            ToolCall("c", FunctionCall("ReadFile", '{"path": "a"}')),
            ToolResult("c", ToolReturn(output="hidden treasure")),
        )
        assert "treasure" not in s.text()
        assert s.transcript.search("treasure") == 1
        assert "treasure" in s.text()


async def test_matches_on_the_screen_are_marked(stage: OpenStage) -> None:
    async with stage(40, 12) as s:
        await s.feed(TurnBegin("find me"), TextPart("here: me"))
        plain = _ground(s, 4, "me")
        s.transcript.search("me")
        assert _ground(s, 4, "me") != plain
        s.transcript.search("")
        assert _ground(s, 4, "here: me") == plain


async def test_what_is_nowhere_moves_nothing(stage: OpenStage) -> None:
    async with stage(40, 12) as s:
        before = await s.feed(*replay(5))
        assert s.transcript.search("no such words") == 0
        assert not s.transcript.next_match(1)
        assert s.rows() == before


async def test_the_search_key_asks_for_words(stage: OpenStage) -> None:
    async with stage() as s:
        await s.press("slash")
        assert [type(message).__name__ for message in s.host.posted] == ["SearchWanted"]


def _ground(s, y: int, text: str) -> object:
    for segment in s.transcript.render_line(y):
        if text in segment.text:
            return segment.style.bgcolor
    raise AssertionError(f"no segment holds {text!r}")


def current_match(s: Stage, text: str) -> str:
    """The row of the match that was gone to last: marked, and bold."""
    for y in range(s.transcript.size.height):
        strip = s.transcript.render_line(y)
        if any(segment.style and segment.style.bold and segment.text == text for segment in strip):
            return strip.text.rstrip()
    raise AssertionError("no match is marked")
