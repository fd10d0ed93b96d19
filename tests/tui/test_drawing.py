"""Only what looks different is drawn anew: all of the screen is costly, however little of it is sent."""

from typing import Any

from textual import events
from textual.driver import Driver
from textual.geometry import Region

from kimi_tui.base.content import TextPart
from kimi_tui.wire.events import StatusUpdate, StepBegin, TurnBegin, TurnEnd


class Watched:
    """Notes what asks for a screen to be drawn, all of it."""

    def __init__(self, screen: Any) -> None:
        self.asked: list[dict[str, Any]] = []
        self._refresh = screen.refresh
        screen.refresh = self.refresh

    def refresh(self, *regions: Region, **what: Any) -> object:
        self.asked.append(what)
        return self._refresh(*regions, **what)


async def test_what_a_session_tells_draws_the_lines_that_show_it(open_desk: Any) -> None:
    async with open_desk(size=(120, 40)) as desk:
        await desk.say(TurnBegin("first"), TextPart("Well."))
        await desk.say(TurnEnd("finished"))
        await desk.until(lambda: "Well." in desk.shown())
        await desk.pilot.pause()
        watched = Watched(desk.screen)
        await desk.say(TurnBegin("second"), StepBegin(1), TextPart("Better."))
        await desk.say(StatusUpdate(context_tokens=50_000, max_context_tokens=200_000))
        await desk.until(lambda: "25%" in desk.shown() and "Better." in desk.shown())
        await desk.say(TurnEnd("finished"))
        await desk.until(lambda: "esc interrupts" not in desk.shown())
        assert watched.asked == []


async def test_a_terminal_that_loses_and_gets_the_focus_has_the_prompt_drawn(open_desk: Any) -> None:
    async with open_desk(size=(120, 40)) as desk:
        await desk.pilot.pause()
        watched, editor = Watched(desk.screen), desk.screen.prompt.editor
        desk.app.post_message(events.AppBlur())
        await desk.until(lambda: not editor.has_focus)
        await desk.pilot.pause()
        desk.app.post_message(events.AppFocus())
        await desk.until(lambda: editor.has_focus)
        await desk.pilot.pause()
        assert watched.asked == []


async def test_all_is_drawn_when_a_suspended_program_goes_on(open_desk: Any) -> None:
    async with open_desk(size=(120, 40)) as desk:
        await desk.pilot.pause()
        watched = Watched(desk.screen)
        desk.app.post_message(Driver.SignalResume())
        await desk.until(lambda: watched.asked)
