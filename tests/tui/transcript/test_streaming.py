"""What has settled is laid out once, and a burst never holds the event loop."""

import tracemalloc
from collections.abc import Callable

import pytest

from kimi_tui.base.content import TextPart, ThinkPart
from kimi_tui.tui.transcript.blocks.answer import AnswerBlock
from kimi_tui.tui.transcript.chronicle import Chronicle
from kimi_tui.tui.transcript.inbox import Inbox
from kimi_tui.tui.transcript.pacer import FRAME_S, Pacer
from kimi_tui.tui.transcript.piece import Gallery
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.events import TurnBegin, TurnEnd
from tests.tui.transcript.conftest import OpenStage

ANSWER = "\n\n".join(f"Paragraph {number} has **some** words." for number in range(12))


class Hands:
    """A clock and a timer worked by hand."""

    def __init__(self) -> None:
        self.now = 0.0
        self.drawn: list[float] = []
        self.cost = 0.0
        self.timers: list[tuple[float, Callable[[], None]]] = []

    def clock(self) -> float:
        return self.now

    def draw(self) -> None:
        self.drawn.append(self.now)
        self.now += self.cost

    def set_timer(self, delay: float, callback: Callable[[], None]) -> "Hands":
        self.timers.append((delay, callback))
        return self

    def fire(self) -> None:
        delay, callback = self.timers.pop()
        self.now += delay
        callback()

    def stop(self) -> None:
        self.timers.clear()


def test_a_streamed_answer_lays_each_settled_part_out_no_more_often_than_it_changed() -> None:
    gallery = Gallery()
    block = AnswerBlock()
    for character in ANSWER:
        block.feed(character)
        block.refresh()
    block.finish()
    for _ in range(3):
        for piece in block.pieces:
            gallery.picture(piece, 40)
    assert gallery.layouts == 12


def test_the_open_part_is_all_that_is_laid_out_again() -> None:
    gallery = Gallery()
    block = AnswerBlock()
    for word in ANSWER.split(" "):
        block.feed(f"{word} ")
        block.refresh()
        before = gallery.layouts
        for piece in block.pieces:
            gallery.picture(piece, 40)
        assert gallery.layouts - before <= 2


async def test_an_answer_looks_the_same_however_it_arrives(stage: OpenStage) -> None:
    source = "# T\n\n- a\n- b\n\n```py\nx = 1\n```\n\n| a |\n|---|\n| 1 |\n\nend"
    async with stage(40, 30) as s:
        for character in source:
            await s.feed(TextPart(character))
        slow = s.rows()
        s.transcript.clear()
        assert await s.feed(TextPart(source)) == slow


async def test_code_is_coloured_while_its_fence_is_open(stage: OpenStage) -> None:
    async with stage(40, 10) as s:
        await s.feed(TextPart("```python\ndef f():\n    return 12 + f()"))
        strip = s.transcript.render_line(2)
        colours = {segment.text: segment.style.color for segment in strip if segment.style}
        assert colours["return"] != colours["12"]


async def test_a_burst_is_taken_in_slices_and_ends_up_whole(stage: OpenStage) -> None:
    async with stage(60, 12) as s:
        words = "\n\n".join(f"word {number} " * 20 for number in range(2_000))
        s.transcript.show_all([TextPart(words)])
        while s.transcript.busy:
            await s.pilot.pause()
        assert s.rows()[-1].endswith("word 1999")


def test_a_slice_ends_when_its_time_is_up() -> None:
    hands = Hands()
    taken: list[Outgoing] = []

    def take(message: Outgoing) -> None:
        taken.append(message)
        hands.now += 0.003

    inbox = Inbox(take, now=hands.clock)
    inbox.put([TextPart(str(number)) for number in range(10)])
    inbox.work(0.008)
    assert len(taken) == 3
    while inbox:
        inbox.work(0.008)
    assert [message.text for message in taken if isinstance(message, TextPart)] == list("0123456789")


@pytest.mark.parametrize("part", [TextPart, ThinkPart])
def test_a_huge_message_is_taken_in_bites(part: type[TextPart] | type[ThinkPart]) -> None:
    taken: list[str] = []
    inbox = Inbox(lambda message: taken.append(getattr(message, "text", getattr(message, "think", ""))))
    inbox.put([part("x" * 1_000_000)])
    while inbox:
        inbox.work()
    assert max(map(len, taken)) < 50_000
    assert "".join(taken) == "x" * 1_000_000


def test_it_draws_at_once_after_a_rest_and_then_once_a_frame() -> None:
    hands = Hands()
    pacer = Pacer(hands.draw, hands.set_timer, now=hands.clock)
    pacer.request()
    assert hands.drawn == [0.0]
    pacer.request()
    pacer.request()
    assert len(hands.drawn) == 1
    assert [delay for delay, _ in hands.timers] == [FRAME_S]


def test_a_key_is_not_kept_waiting_for_the_frame() -> None:
    hands = Hands()
    pacer = Pacer(hands.draw, hands.set_timer, now=hands.clock)
    pacer.request()
    pacer.request()
    pacer.draw_now()
    assert len(hands.drawn) == 2
    assert not pacer.pending


def test_what_nobody_asked_for_waits_until_a_key_is_answered() -> None:
    hands, keys = Hands(), ["on its way"]
    pacer = Pacer(hands.draw, hands.set_timer, is_held=lambda: bool(keys), now=hands.clock)
    pacer.request()
    assert pacer.pending
    hands.fire()
    assert pacer.pending
    assert not hands.drawn
    keys.clear()
    hands.fire()
    assert len(hands.drawn) == 1
    assert not pacer.pending


def test_expensive_drawings_leave_most_of_the_time_to_others() -> None:
    hands = Hands()
    hands.cost = 0.1
    pacer = Pacer(hands.draw, hands.set_timer, now=hands.clock)
    pacer.request()
    pacer.request()
    assert hands.timers[0][0] >= 3 * hands.cost


async def test_nothing_ticks_when_nothing_happens(stage: OpenStage) -> None:
    async with stage() as s:
        await s.feed(TextPart("said"))
        assert not s.transcript.busy


@pytest.mark.parametrize("kind", [TextPart, ThinkPart])
def test_what_came_word_by_word_takes_the_room_of_its_text_once_it_is_whole(
    kind: type[TextPart] | type[ThinkPart],
) -> None:
    chronicle = Chronicle(Gallery(), lambda: 0.0)
    words = [str(number) for number in range(5_000)]
    chronicle.show(TurnBegin("go"))
    tracemalloc.start()
    for word in words:
        chronicle.show(kind(f"word {word} "))
    chronicle.show(TurnEnd())
    chronicle.settle()
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert taken < 5 * len("word  ".join(words))
