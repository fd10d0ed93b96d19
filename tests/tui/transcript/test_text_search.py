"""Search in the conversation, including folded blocks and history."""

import time
from collections.abc import Callable, Sequence

from kimi_tui.base.content_parts import TextPart
from kimi_tui.base.message import FunctionCall, ToolCall
from kimi_tui.tui.transcript.layout import START, Section, TranscriptLayout
from kimi_tui.tui.transcript.render_cache import RenderCache
from kimi_tui.tui.transcript.text_search import TextSearch
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.events import ToolResult, ToolReturn, TurnBegin
from tests.tui.transcript.conftest import OpenTranscript, TranscriptHarness
from tests.tui.transcript.sample_turns import build_replay


async def test_search_counts_matches_and_scrolls_to_the_nearest_above(
    open_transcript: OpenTranscript,
) -> None:
    async with open_transcript(40, 12) as s:
        await s.feed(*build_replay(50))
        assert s.transcript.search("PROMPT") == 50
        assert s.transcript.search("answer 7 ") == 3
        assert any("answer 7 paragraph 2" in row for row in s.rows())


async def test_the_count_is_right_when_the_text_is_extended_or_shortened(
    open_transcript: OpenTranscript,
) -> None:
    async with open_transcript(40, 12) as s:
        await s.feed(*build_replay(50))
        counts = [
            s.transcript.search(text) for text in ("ans", "answer 7 ", "7 p", "zebra", "zebras", "answer 7 p")
        ]
        assert counts == [150, 3, 15, 0, 0, 3]
        await s.feed(TurnBegin("a zebra"), TextPart("zebras are striped"))
        assert s.transcript.search("zebra") == 2


class NoLoader:
    """Loader that builds no blocks."""

    def load_section(self, section: Section, messages: Sequence[Outgoing]) -> None:
        pass


def test_text_without_matches_is_searched_once() -> None:
    layout = TranscriptLayout(RenderCache(), NoLoader())
    for number in range(1000):
        layout.begin_section(
            is_turn=True, stored_messages=(TurnBegin(f"prompt {number}"), TextPart("words " * 200))
        )
    text_search = TextSearch(layout)
    first_duration = measure_cpu_seconds(lambda: text_search.search("zeb"))
    assert text_search.needle == "zeb"
    assert (
        measure_cpu_seconds(lambda: (text_search.step(1, START), text_search.search("zebra")))
        < first_duration / 2
    )


def measure_cpu_seconds(action: Callable[[], object]) -> float:
    started_at = time.thread_time()
    action()
    return time.thread_time() - started_at


async def test_next_and_previous_wrap_around(open_transcript: OpenTranscript) -> None:
    async with open_transcript(40, 12) as s:
        await s.feed(*build_replay(30))
        s.transcript.search("paragraph 1")
        visited: list[str] = []
        for _ in range(31):
            visited.append(current_match(s, "paragraph 1"))
            await s.press("n")
        assert visited == [f"  answer {number} paragraph 1" for number in (29, *range(30))]
        await s.press("N")
        assert current_match(s, "paragraph 1") == "  answer 29 paragraph 1"


async def test_all_matches_in_one_response_are_visited(open_transcript: OpenTranscript) -> None:
    async with open_transcript(40, 6) as s:
        await s.feed(TextPart("\n\n".join(f"needle {n}" if n % 2 else f"hay {n}" for n in range(8))))
        assert s.transcript.search("needle") == 4
        rows = []
        for _ in range(4):
            rows.append(current_match(s, "needle"))
            await s.press("N")
        assert rows == ["  needle 7", "  needle 5", "  needle 3", "  needle 1"]


async def test_a_match_in_a_folded_block_unfolds_it(open_transcript: OpenTranscript) -> None:
    async with open_transcript(40, 12) as s:
        await s.feed(
            ToolCall("c", FunctionCall("ReadFile", '{"path": "a"}')),
            ToolResult("c", ToolReturn(output="hidden treasure")),
        )
        assert "treasure" not in s.text()
        assert s.transcript.search("treasure") == 1
        assert "treasure" in s.text()


async def test_matches_on_the_screen_are_marked(open_transcript: OpenTranscript) -> None:
    async with open_transcript(40, 12) as s:
        await s.feed(TurnBegin("find me"), TextPart("here: me"))
        plain = _background_of(s, 4, "me")
        s.transcript.search("me")
        assert _background_of(s, 4, "me") != plain
        s.transcript.search("")
        assert _background_of(s, 4, "here: me") == plain


async def test_a_search_without_matches_does_not_scroll(open_transcript: OpenTranscript) -> None:
    async with open_transcript(40, 12) as s:
        before = await s.feed(*build_replay(5))
        assert s.transcript.search("no such words") == 0
        assert not s.transcript.next_match(1)
        assert s.rows() == before


async def test_the_search_key_posts_a_message(open_transcript: OpenTranscript) -> None:
    async with open_transcript() as s:
        await s.press("slash")
        assert [type(message).__name__ for message in s.app.posted] == ["SearchRequested"]


def _background_of(s, y: int, text: str) -> object:
    for segment in s.transcript.render_line(y):
        if text in segment.text:
            return segment.style.bgcolor
    raise AssertionError(f"no segment contains {text!r}")


def current_match(s: TranscriptHarness, text: str) -> str:
    """Return the row of the current match, which is marked in bold."""
    for y in range(s.transcript.size.height):
        strip = s.transcript.render_line(y)
        if any(segment.style and segment.style.bold and segment.text == text for segment in strip):
            return strip.text.rstrip()
    raise AssertionError("no match is marked")
