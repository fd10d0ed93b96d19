"""The sessions dialog, and another session in the running app."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from kimi_tui.base.errors import KimiTuiError, SessionInUse
from kimi_tui.tui.dialogs.picker import Picker
from kimi_tui.tui.dialogs.sessions import SessionsDialog
from kimi_tui.tui.engine_run import FAREWELL_S
from kimi_tui.tui.session_wish import SessionWish
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.commands import (
    DeleteSession,
    ListSessions,
    PreviewSession,
    Prompt,
    RenameSession,
    Shutdown,
)
from kimi_tui.wire.events import SessionInfo, TurnBegin
from kimi_tui.wire.sessions import ListedSession, SaidWords, SessionList, SessionPreview
from tests.clock import Clock
from tests.tui.conftest import SESSION, Desk

OLD = ListedSession("s2", "blue door", "/work/shop", 1_000.0)
OTHER = ListedSession("s3", "红色的门", "/work/other", 900.0)
LISTED = SessionList((ListedSession("s1", "fix login", "/work/shop", 2_000.0), OLD, OTHER))


class Reopening:
    """Serves the sessions that are wished for."""

    def __init__(self) -> None:
        self.wishes: list[SessionWish] = []

    async def __call__(self, wish: SessionWish, wire: Wire) -> None:
        self.wishes.append(wish)
        wire.send(replace(SESSION, session_id=wish.session_id or "new", title="another one"))
        async for command in wire.commands():
            if isinstance(command, Shutdown):
                break
        wire.close()


async def listed(desk: Desk) -> SessionsDialog:
    await desk.write("/sessions")
    await desk.pilot.press("enter")
    await desk.until(lambda: isinstance(desk.app.screen, SessionsDialog))
    await desk.until(lambda: desk.told(ListSessions))
    desk.engine.say(LISTED)
    await desk.until(lambda: "blue door" in desk.shown())
    assert isinstance(desk.app.screen, SessionsDialog)
    return desk.app.screen


def session_id(desk: Desk) -> Callable[[], str]:
    def known() -> str:
        session: SessionInfo | None = desk.app._main.state.session if desk.app._main else None
        return session.session_id if session is not None else ""

    return known


async def test_another_session_is_resumed_in_the_running_app(open_desk: Any) -> None:
    reopening = Reopening()
    async with open_desk(reopen=reopening) as desk:
        await listed(desk)
        await desk.pilot.press("down", "enter")
        await desk.until(lambda: session_id(desk)() == "s2")
        assert reopening.wishes == [SessionWish(session_id="s2", work_dir=Path("/work/shop"))]
        assert desk.told(Shutdown)
        assert len(desk.app.screen_stack) == 1
        await desk.until(lambda: "another one" in desk.shown())


async def test_a_session_is_forked_and_a_new_one_is_begun(open_desk: Any) -> None:
    reopening = Reopening()
    async with open_desk(reopen=reopening) as desk:
        await listed(desk)
        await desk.pilot.press("down", "ctrl+k")
        await desk.until(lambda: session_id(desk)() == "s2")
        assert reopening.wishes[0].fork
        await desk.write("/new")
        await desk.pilot.press("enter")
        await desk.until(lambda: session_id(desk)() == "new")


async def test_the_open_session_stays_when_it_is_chosen_or_while_a_turn_runs(open_desk: Any) -> None:
    reopening = Reopening()
    async with open_desk(reopen=reopening) as desk:
        await listed(desk)
        await desk.pilot.press("enter")
        await desk.until(lambda: not isinstance(desk.app.screen, SessionsDialog))
        await desk.say(TurnBegin("go"))
        await desk.write("/new")
        await desk.pilot.press("enter")
        await desk.until(lambda: "A turn is running" in desk.toasts())
        assert reopening.wishes == []


async def test_typing_filters_and_ctrl_f_looks_into_what_was_said(open_desk: Any) -> None:
    async with open_desk() as desk:
        await listed(desk)
        await desk.write("blue")
        await desk.until(lambda: "红色的门" not in desk.shown())
        await desk.pilot.press("ctrl+f")
        await desk.until(lambda: desk.told(ListSessions)[-1] == ListSessions("blue"))
        desk.engine.say(SessionList((replace(OTHER, snippet="…the blue one"),), "blue"))
        await desk.until(lambda: "the blue one" in desk.shown())


async def test_a_session_is_renamed_and_deleted_once_that_is_confirmed(open_desk: Any) -> None:
    async with open_desk() as desk:
        await listed(desk)
        await desk.pilot.press("down", "ctrl+r")
        await desk.write("er")
        await desk.pilot.press("enter")
        await desk.until(lambda: desk.told(RenameSession) == [RenameSession("s2", "blue doorer")])
        await desk.pilot.press("ctrl+x", "enter")
        await desk.pilot.press("down", "ctrl+x", "y", "enter")
        await desk.until(lambda: desk.told(DeleteSession))
        assert len(desk.told(DeleteSession)) == 1


async def test_how_a_session_ended_is_shown(open_desk: Any) -> None:
    async with open_desk() as desk:
        await listed(desk)
        await desk.pilot.press("down", "ctrl+o")
        await desk.until(lambda: desk.told(PreviewSession) == [PreviewSession("s2")])
        desk.engine.say(
            SessionPreview("s2", (SaidWords("user", "which \x1b[31mcolour?"), SaidWords("agent", "blue")))
        )
        await desk.until(lambda: "How it ended" in desk.shown())
        assert "you: which colour? agent: blue" in desk.words().replace("│ ", "")


async def test_cost_and_debug_say_what_is_known(open_desk: Any) -> None:
    async with open_desk() as desk:
        await desk.write("/cost")
        await desk.pilot.press("enter")
        await desk.until(lambda: "the model has no price" in desk.shown())
        await desk.pilot.press("escape")
        await desk.write("/debug")
        await desk.pilot.press("enter")
        await desk.until(lambda: "kimi-tui.log" in desk.shown().replace("\n", ""))


async def test_what_ends_a_session_too_late_is_not_told_in_the_one_after_it(open_desk: Any) -> None:
    async with open_desk(reopen=Reopening()) as desk:
        clock, before = Clock(), desk.app._engine
        desk.engine.held = asyncio.Future()
        await desk.write("/new")
        await desk.pilot.press("enter")
        await desk.until(lambda: desk.told(Shutdown))
        clock.forward(FAREWELL_S)
        await desk.until(lambda: session_id(desk)() == "new")
        desk.engine.held.set_exception(KimiTuiError("The disk is full."))
        await desk.until(lambda: before.failure is not None)
        await desk.pilot.pause()
        assert "The disk is full." not in desk.shown()
        await desk.write("hello")
        await desk.pilot.press("ctrl+q")
        await desk.until(lambda: desk.app.return_code == 0)


async def test_a_session_that_another_process_writes_can_be_gone_on_with_in_a_copy(open_desk: Any) -> None:
    reopening = Reopening()
    error = SessionInUse("The session is in use by another process (pid 7).", session_id="s9")
    async with open_desk(reopen=reopening, error=error) as desk:
        await desk.until(lambda: isinstance(desk.app.screen, Picker))
        await desk.until(lambda: "go on in a copy" in desk.shown())
        await desk.pilot.press("enter")
        await desk.until(lambda: session_id(desk)() == "s9")
        assert reopening.wishes == [SessionWish(session_id="s9", fork=True)]


async def test_a_session_that_another_process_writes_can_be_read(open_desk: Any) -> None:
    reopening = Reopening()
    error = SessionInUse("The session is in use by another process (pid 7).", session_id="s9")
    async with open_desk(reopen=reopening, error=error) as desk:
        await desk.until(lambda: isinstance(desk.app.screen, Picker) and "read it" in desk.shown())
        await desk.pilot.press("down", "enter")
        await desk.until(lambda: session_id(desk)() == "s9")
        assert reopening.wishes == [SessionWish(session_id="s9", read_only=True)]


async def test_what_is_typed_into_a_session_that_is_only_read_goes_on_in_a_copy(open_desk: Any) -> None:
    reopening = Reopening()
    only_read = replace(SESSION, read_only=True, in_use=True, model="", model_kind="")
    async with open_desk(reopen=reopening, session=only_read) as desk:
        await desk.until(lambda: "Only read here" in desk.shown())
        assert "another process writes this session" in desk.words()
        assert desk.shown().split("\n")[0].endswith("read-only")
        await desk.write("mine")
        await desk.pilot.press("enter")
        await desk.until(lambda: isinstance(desk.app.screen, Picker) and "go on here" in desk.shown())
        assert desk.told(Prompt) == []
        await desk.pilot.press("enter")
        await desk.until(lambda: session_id(desk)() == "s1" and reopening.wishes)
        assert reopening.wishes == [SessionWish(session_id="s1", fork=True)]
        await desk.until(lambda: desk.prompt_text == "mine")
