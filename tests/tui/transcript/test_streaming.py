"""Finished parts are laid out once, and a burst of messages never blocks the event loop."""

import tracemalloc

import pytest

from kimi_tui.base.content_parts import TextPart, ThinkPart
from kimi_tui.config.startup_settings import ThinkingDisplay
from kimi_tui.tui.transcript.blocks.response import ResponseBlock
from kimi_tui.tui.transcript.blocks.thinking import ThinkingBlock
from kimi_tui.tui.transcript.document import TranscriptDocument
from kimi_tui.tui.transcript.message_queue import BudgetedQueue
from kimi_tui.tui.transcript.open_calls import OpenCalls
from kimi_tui.tui.transcript.render_cache import RenderCache
from kimi_tui.tui.transcript.stopwatch import Stopwatch
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.events import SteerInput, TurnBegin, TurnEnd
from tests.tui.transcript.conftest import OpenTranscript

RESPONSE = "\n\n".join(f"Paragraph {number} has **some** words." for number in range(12))


class RecordingHandler:
    """Records the messages that it handles. Each takes `cost_s` seconds of its clock."""

    def __init__(self, *, cost_s: float = 0.0) -> None:
        self.handled: list[Outgoing] = []
        self.now = 0.0
        self._cost_s = cost_s

    def clock(self) -> float:
        return self.now

    def handle(self, message: Outgoing) -> None:
        self.handled.append(message)
        self.now += self._cost_s

    @property
    def texts(self) -> list[str]:
        return [getattr(message, "text", getattr(message, "think", "")) for message in self.handled]


def test_a_streamed_response_lays_out_each_part_once() -> None:
    render_cache = RenderCache()
    block = ResponseBlock()
    for character in RESPONSE:
        block.feed(character)
        block.refresh()
    block.finish()
    for _ in range(3):
        for piece in block.pieces:
            render_cache.render(piece, 40)
    assert render_cache.layout_count == 12


def test_only_the_open_part_is_laid_out_again() -> None:
    render_cache = RenderCache()
    block = ResponseBlock()
    for word in RESPONSE.split(" "):
        block.feed(f"{word} ")
        block.refresh()
        before = render_cache.layout_count
        for piece in block.pieces:
            render_cache.render(piece, 40)
        assert render_cache.layout_count - before <= 2


async def test_a_response_looks_the_same_however_it_is_split(open_transcript: OpenTranscript) -> None:
    source = "# T\n\n- a\n- b\n\n```py\nx = 1\n```\n\n| a |\n|---|\n| 1 |\n\nend"
    async with open_transcript(40, 30) as s:
        for character in source:
            await s.feed(TextPart(character))
        streamed_rows = s.rows()
        s.transcript.clear()
        assert await s.feed(TextPart(source)) == streamed_rows


async def test_code_is_highlighted_while_its_fence_is_open(open_transcript: OpenTranscript) -> None:
    async with open_transcript(40, 10) as s:
        await s.feed(TextPart("```python\ndef f():\n    return 12 + f()"))
        strip = s.transcript.render_line(2)
        colors = {segment.text: segment.style.color for segment in strip if segment.style}
        assert colors["return"] != colors["12"]


async def test_a_burst_is_handled_in_slices(open_transcript: OpenTranscript) -> None:
    async with open_transcript(60, 12) as s:
        text = "\n\n".join(f"word {number} " * 20 for number in range(2_000))
        s.transcript.show_all([TextPart(text)])
        while s.transcript.is_busy:
            await s.driver.pause()
        assert s.rows()[-1].endswith("word 1999")


def test_a_slice_ends_when_its_budget_is_spent() -> None:
    handler = RecordingHandler(cost_s=0.003)
    queue = BudgetedQueue(handler, now=handler.clock)
    queue.put([TextPart(str(number)) for number in range(10)])
    queue.process(0.008)
    assert len(handler.handled) == 3
    while queue:
        queue.process(0.008)
    assert handler.texts == list("0123456789")


@pytest.mark.parametrize("part", [TextPart, ThinkPart])
def test_a_huge_message_is_handled_in_chunks(part: type[TextPart] | type[ThinkPart]) -> None:
    handler = RecordingHandler()
    queue = BudgetedQueue(handler)
    queue.put([part("x" * 1_000_000)])
    while queue:
        queue.process()
    assert max(map(len, handler.texts)) < 50_000
    assert "".join(handler.texts) == "x" * 1_000_000


async def test_a_batch_is_drawn_as_soon_as_it_arrives(open_transcript: OpenTranscript) -> None:
    async with open_transcript() as s:
        for word in ("first", "second", "third"):
            s.transcript.show(TextPart(f"{word} "))
            assert word in s.text()
            assert not s.transcript.is_busy


async def test_a_key_does_not_wait_for_the_rest_of_a_burst(open_transcript: OpenTranscript) -> None:
    async with open_transcript(60, 12) as s:
        s.transcript.show_all([SteerInput(f"prompt {number}") for number in range(5_000)])
        assert s.transcript.is_busy
        s.transcript.action_scroll_home()
        assert "prompt 0" in s.text()
        assert s.transcript.is_busy


async def test_an_idle_transcript_is_not_busy(open_transcript: OpenTranscript) -> None:
    async with open_transcript() as s:
        await s.feed(TextPart("said"))
        assert not s.transcript.is_busy


@pytest.mark.parametrize("kind", [TextPart, ThinkPart])
def test_finished_text_uses_memory_proportional_to_its_length(
    kind: type[TextPart] | type[ThinkPart],
) -> None:
    document = TranscriptDocument(RenderCache(), OpenCalls(lambda: 0.0))
    words = [str(number) for number in range(5_000)]
    document.handle(TurnBegin("go"))
    tracemalloc.start()
    for word in words:
        document.handle(kind(f"word {word} "))
    document.handle(TurnEnd())
    document.finish_batch()
    allocated, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert allocated < 5 * len("word  ".join(words))


@pytest.mark.parametrize(
    ("display", "while_running", "afterwards"),
    [
        ("preview", ["▸ thinking  Second one"], ["▸ thought"]),
        ("full", ["▾ thinking", "  First one. Second one"], ["▾ thought", "  First one. Second one"]),
        ("summary", ["▸ thinking"], ["▸ thought"]),
    ],
)
def test_thinking_is_shown_as_configured(
    display: ThinkingDisplay, while_running: list[str], afterwards: list[str]
) -> None:
    block = ThinkingBlock(Stopwatch(None), display=display)
    block.feed("First one. ")
    block.feed("Second one")
    assert [line.text for line in block.lines(60)] == while_running
    block.finish()
    assert [line.text for line in block.lines(60)] == afterwards
