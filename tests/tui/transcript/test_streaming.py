"""Finished parts are laid out once, and a burst of messages never blocks the event loop."""

import tracemalloc
from collections.abc import Callable

import pytest

from kimi_tui.base.content_parts import TextPart, ThinkPart
from kimi_tui.tui.transcript.blocks.response import ResponseBlock
from kimi_tui.tui.transcript.document import TranscriptDocument
from kimi_tui.tui.transcript.frame_scheduler import FRAME_S, FrameScheduler
from kimi_tui.tui.transcript.message_queue import BudgetedQueue
from kimi_tui.tui.transcript.render_cache import RenderCache
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.events import TurnBegin, TurnEnd
from tests.tui.transcript.conftest import OpenTranscript

RESPONSE = "\n\n".join(f"Paragraph {number} has **some** words." for number in range(12))


class ManualScheduler:
    """Clock and timer controlled by the test."""

    def __init__(self) -> None:
        self.now = 0.0
        self.draw_times: list[float] = []
        self.cost = 0.0
        self.timers: list[tuple[float, Callable[[], None]]] = []

    def clock(self) -> float:
        return self.now

    def draw(self) -> None:
        self.draw_times.append(self.now)
        self.now += self.cost

    def set_timer(self, delay: float, callback: Callable[[], None]) -> "ManualScheduler":
        self.timers.append((delay, callback))
        return self

    def fire(self) -> None:
        delay, callback = self.timers.pop()
        self.now += delay
        callback()

    def stop(self) -> None:
        self.timers.clear()


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
    scheduler = ManualScheduler()
    handled: list[Outgoing] = []

    def handle(message: Outgoing) -> None:
        handled.append(message)
        scheduler.now += 0.003

    queue = BudgetedQueue(handle, now=scheduler.clock)
    queue.put([TextPart(str(number)) for number in range(10)])
    queue.process(0.008)
    assert len(handled) == 3
    while queue:
        queue.process(0.008)
    assert [message.text for message in handled if isinstance(message, TextPart)] == list("0123456789")


@pytest.mark.parametrize("part", [TextPart, ThinkPart])
def test_a_huge_message_is_handled_in_chunks(part: type[TextPart] | type[ThinkPart]) -> None:
    handled: list[str] = []
    queue = BudgetedQueue(
        lambda message: handled.append(getattr(message, "text", getattr(message, "think", "")))
    )
    queue.put([part("x" * 1_000_000)])
    while queue:
        queue.process()
    assert max(map(len, handled)) < 50_000
    assert "".join(handled) == "x" * 1_000_000


def test_it_draws_immediately_when_idle_and_then_once_per_frame() -> None:
    scheduler = ManualScheduler()
    frames = FrameScheduler(scheduler.draw, scheduler.set_timer, now=scheduler.clock)
    frames.request()
    assert scheduler.draw_times == [0.0]
    frames.request()
    frames.request()
    assert len(scheduler.draw_times) == 1
    assert [delay for delay, _ in scheduler.timers] == [FRAME_S]


def test_a_key_does_not_wait_for_the_next_frame() -> None:
    scheduler = ManualScheduler()
    frames = FrameScheduler(scheduler.draw, scheduler.set_timer, now=scheduler.clock)
    frames.request()
    frames.request()
    frames.draw_now()
    assert len(scheduler.draw_times) == 2
    assert not frames.is_pending


def test_a_frame_waits_while_a_key_is_pending() -> None:
    scheduler, pending_keys = ManualScheduler(), ["pending"]
    frames = FrameScheduler(
        scheduler.draw, scheduler.set_timer, is_blocked=lambda: bool(pending_keys), now=scheduler.clock
    )
    frames.request()
    assert frames.is_pending
    scheduler.fire()
    assert frames.is_pending
    assert not scheduler.draw_times
    pending_keys.clear()
    scheduler.fire()
    assert len(scheduler.draw_times) == 1
    assert not frames.is_pending


def test_slow_frames_leave_most_of_the_time_to_other_work() -> None:
    scheduler = ManualScheduler()
    scheduler.cost = 0.1
    frames = FrameScheduler(scheduler.draw, scheduler.set_timer, now=scheduler.clock)
    frames.request()
    frames.request()
    assert scheduler.timers[0][0] >= 3 * scheduler.cost


async def test_an_idle_transcript_is_not_busy(open_transcript: OpenTranscript) -> None:
    async with open_transcript() as s:
        await s.feed(TextPart("said"))
        assert not s.transcript.is_busy


@pytest.mark.parametrize("kind", [TextPart, ThinkPart])
def test_finished_text_uses_memory_proportional_to_its_length(
    kind: type[TextPart] | type[ThinkPart],
) -> None:
    document = TranscriptDocument(RenderCache(), lambda: 0.0)
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
