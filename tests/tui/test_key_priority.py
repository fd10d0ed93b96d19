"""Pending keys are handled before streamed output is drawn."""

from typing import Any

from kimi_tui.base.content_parts import TextPart
from kimi_tui.tui.terminal.key_priority import KeyPriority
from kimi_tui.wire.events import TurnBegin


def test_a_key_is_pending_until_it_is_finished() -> None:
    keys = KeyPriority()
    assert not keys.is_key_pending
    keys.begin_key()
    assert keys.is_key_pending
    keys.finish_key()
    assert not keys.is_key_pending


def test_rapid_keys_do_not_delay_drawing_forever() -> None:
    time = 0.0
    keys = KeyPriority(now=lambda: time)
    pending = []
    for _ in range(20):
        keys.begin_key()
        time += 0.03
        pending.append(keys.is_key_pending)
    assert True in pending
    assert pending.count(False) >= 4


async def test_streamed_output_is_shown_after_a_pending_key(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.send(TurnBegin("go"))
        transcript = harness.screen.controllers.session_view.transcript
        harness.app.key_priority.begin_key()
        transcript.show_all([TextPart("the text of the response")])
        assert transcript.is_busy
        await harness.type_text("x")
        assert not harness.app.key_priority.is_key_pending
        await harness.wait_until(lambda: "the text of the response" in harness.screen_text())
        assert harness.prompt_text == "x"


async def test_layout_waits_for_a_pending_key(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.wait_until(lambda: not harness.screen._layout_required)
        harness.app.key_priority.begin_key()
        harness.screen.refresh(layout=True)
        await harness.wait_until(lambda: harness.screen._layout_required)
        for _ in range(3):
            harness.screen._on_timer_update()  # the tick of Textual's update timer
        assert harness.screen._layout_required
        await harness.type_text("x")
        await harness.wait_until(lambda: not harness.screen._layout_required)


async def test_running_an_action_finishes_its_key(open_app: Any) -> None:
    async with open_app() as harness:
        harness.app.key_priority.begin_key()
        await harness.app.run_action("bell")
        assert not harness.app.key_priority.is_key_pending
