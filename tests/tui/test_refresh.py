"""Only changed widgets are redrawn: redrawing the whole screen is expensive, however little of it is sent."""

from collections.abc import Iterable
from typing import Any

import pytest
from textual import events
from textual.driver import Driver
from textual.geometry import Region

from kimi_tui.base.content_parts import TextPart
from kimi_tui.tui.terminal.screen_buffer import PlacedStrip
from kimi_tui.wire.events import StatusUpdate, StepBegin, TurnBegin, TurnEnd


class RefreshRecorder:
    """Records requests to redraw the whole screen."""

    def __init__(self, screen: Any) -> None:
        self.refresh_calls: list[dict[str, Any]] = []
        self._refresh = screen.refresh
        screen.refresh = self.refresh

    def refresh(self, *regions: Region, **options: Any) -> object:
        self.refresh_calls.append(options)
        return self._refresh(*regions, **options)


async def test_session_updates_do_not_redraw_the_whole_screen(open_app: Any) -> None:
    async with open_app(size=(120, 40)) as harness:
        await harness.send(TurnBegin("first"), TextPart("Well."))
        await harness.send(TurnEnd("finished"))
        await harness.wait_until(lambda: "Well." in harness.screen_text())
        await harness.driver.pause()
        recorder = RefreshRecorder(harness.screen)
        await harness.send(TurnBegin("second"), StepBegin(1), TextPart("Better."))
        await harness.send(StatusUpdate(context_tokens=50_000, max_context_tokens=200_000))
        await harness.wait_until(
            lambda: "25%" in harness.screen_text() and "Better." in harness.screen_text()
        )
        await harness.send(TurnEnd("finished"))
        await harness.wait_until(lambda: "esc to interrupt" not in harness.screen_text())
        assert recorder.refresh_calls == []


async def test_focus_changes_do_not_redraw_the_whole_screen(open_app: Any) -> None:
    async with open_app(size=(120, 40)) as harness:
        await harness.driver.pause()
        recorder, editor = RefreshRecorder(harness.screen), harness.screen.prompt.editor
        harness.app.post_message(events.AppBlur())
        await harness.wait_until(lambda: not editor.has_focus)
        await harness.driver.pause()
        harness.app.post_message(events.AppFocus())
        await harness.wait_until(lambda: editor.has_focus)
        await harness.driver.pause()
        assert recorder.refresh_calls == []


async def test_resuming_redraws_the_whole_screen(open_app: Any) -> None:
    async with open_app(size=(120, 40)) as harness:
        await harness.driver.pause()
        recorder = RefreshRecorder(harness.screen)
        harness.app.post_message(Driver.SignalResume())
        await harness.wait_until(lambda: recorder.refresh_calls)


async def test_the_spinner_is_painted_without_the_rest_of_the_prompt(
    open_app: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    painted: list[str] = []

    def paint(strips: Iterable[PlacedStrip]) -> bool:
        painted.extend(strip.text for _, _, strip in strips)
        return True

    async with open_app(size=(120, 40)) as harness:
        harness.app.animation_level = "full"
        monkeypatch.setattr(harness.app.frame_writer, "paint", paint)
        await harness.send(TurnBegin("first"))
        await harness.wait_until(lambda: {"⠹", "⠸"} <= set(painted))
