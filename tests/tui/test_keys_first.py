"""A key on its way is answered before what streams in is drawn."""

from typing import Any

from kimi_tui.base.content import TextPart
from kimi_tui.tui.keys_first import KeysFirst
from kimi_tui.wire.events import TurnBegin


def test_a_key_waits_until_it_is_answered() -> None:
    keys = KeysFirst()
    assert not keys.has_waiting
    keys.pressed()
    assert keys.has_waiting
    keys.answered()
    assert not keys.has_waiting


def test_keys_that_come_faster_than_they_are_answered_hold_nothing_up_for_ever() -> None:
    time = 0.0
    keys = KeysFirst(now=lambda: time)
    held = []
    for _ in range(20):
        keys.pressed()
        time += 0.03
        held.append(keys.has_waiting)
    assert True in held
    assert held.count(False) >= 4


async def test_what_streams_in_is_taken_in_once_the_key_is_answered(open_desk: Any) -> None:
    async with open_desk() as desk:
        await desk.say(TurnBegin("go"))
        transcript = desk.screen.furnished.workbench.transcript
        desk.app.keys_first.pressed()
        transcript.show_all([TextPart("the words of the answer")])
        assert transcript.busy
        await desk.write("x")
        assert not desk.app.keys_first.has_waiting
        await desk.until(lambda: "the words of the answer" in desk.shown())
        assert desk.prompt_text == "x"


async def test_what_has_changed_is_laid_out_once_the_key_is_answered(open_desk: Any) -> None:
    async with open_desk() as desk:
        await desk.until(lambda: not desk.screen._layout_required)
        desk.app.keys_first.pressed()
        desk.screen.refresh(layout=True)
        await desk.until(lambda: desk.screen._layout_required)
        for _ in range(3):
            desk.screen._on_timer_update()  # its timer's tick
        assert desk.screen._layout_required
        await desk.write("x")
        await desk.until(lambda: not desk.screen._layout_required)


async def test_a_key_with_an_action_is_answered_when_that_has_run(open_desk: Any) -> None:
    async with open_desk() as desk:
        desk.app.keys_first.pressed()
        await desk.app.run_action("bell")
        assert not desk.app.keys_first.has_waiting
