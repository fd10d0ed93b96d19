"""Sessions dialog, and switching sessions in the running app."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from kimi_tui.base.errors import EngineLost, KimiTuiError, SessionInUse
from kimi_tui.frontend.engine_runner import SHUTDOWN_TIMEOUT_S
from kimi_tui.tui.dialogs.message_search import MessageSearchDialog
from kimi_tui.tui.dialogs.pager import Pager
from kimi_tui.tui.dialogs.picker import Picker
from kimi_tui.tui.dialogs.sessions import SessionsDialog
from kimi_tui.tui.session_request import SessionRequest
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.commands import (
    DeleteSession,
    ListSessions,
    PreviewSession,
    Prompt,
    RenameSession,
    SearchMessages,
    Shutdown,
)
from kimi_tui.wire.events import SessionInfo, TurnBegin
from kimi_tui.wire.session_list import SessionExcerpt, SessionList, SessionListItem, SessionPreview
from tests.loop_clock import LoopClock
from tests.tui.conftest import SESSION, AppHarness
from tests.tui.timeline.test_dialogs import click_text

OLD = SessionListItem("s2", "blue door", "/work/shop", 1_000.0)
OTHER = SessionListItem("s3", "红色的门", "/work/other", 900.0)
SESSION_LIST = SessionList((SessionListItem("s1", "fix login", "/work/shop", 2_000.0), OLD, OTHER))
PREVIEW = SessionPreview(
    "s2",
    (SessionExcerpt("user", "which \x1b[31mcolor?"), SessionExcerpt("agent", "blue")),
    changed_files=("src/door.py", "README.md"),
    added_lines=12,
    removed_lines=3,
)


class SessionServer:
    """Serves the requested sessions and records the requests."""

    def __init__(self) -> None:
        self.requests: list[SessionRequest] = []

    async def __call__(self, request: SessionRequest, wire: Wire) -> None:
        self.requests.append(request)
        wire.send(replace(SESSION, session_id=request.session_id or "new", title="another one"))
        async for command in wire.commands():
            if isinstance(command, Shutdown):
                break
        wire.close()


async def open_sessions_dialog(harness: AppHarness) -> SessionsDialog:
    await harness.type_text("/sessions")
    await harness.driver.press("enter")
    await harness.wait_until(lambda: isinstance(harness.app.screen, SessionsDialog))
    await harness.wait_until(lambda: harness.commands_of(ListSessions))
    harness.engine.send(SESSION_LIST)
    await harness.wait_until(lambda: "blue door" in harness.screen_text())
    assert isinstance(harness.app.screen, SessionsDialog)
    return harness.app.screen


def session_id(harness: AppHarness) -> Callable[[], str]:
    def current_session_id() -> str:
        session: SessionInfo | None = harness.app._main.state.session if harness.app._main else None
        return session.session_id if session is not None else ""

    return current_session_id


async def test_a_new_session_is_in_the_directory_of_the_start(open_app: Any, tmp_path: Path) -> None:
    session_server = SessionServer()
    async with open_app(serve_session=session_server) as harness:
        await open_sessions_dialog(harness)
        await harness.driver.press("enter")
        await harness.wait_until(lambda: session_id(harness)() == "s2")
        assert "/work/shop" in harness.screen_text().split("\n")[0]
        await harness.type_text("/new")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: session_id(harness)() == "new")
        assert "/work/shop" not in harness.screen_text().split("\n")[0]
        assert tmp_path.name in harness.screen_text().split("\n")[0]


async def test_another_session_is_resumed_in_the_running_app(open_app: Any) -> None:
    session_server = SessionServer()
    async with open_app(serve_session=session_server) as harness:
        await open_sessions_dialog(harness)
        await harness.driver.press("enter")
        await harness.wait_until(lambda: session_id(harness)() == "s2")
        assert session_server.requests == [SessionRequest(session_id="s2", work_dir=Path("/work/shop"))]
        assert harness.commands_of(Shutdown)
        assert len(harness.app.screen_stack) == 1
        await harness.wait_until(lambda: "another one" in harness.screen_text())


async def test_a_session_is_forked_and_a_new_one_started(open_app: Any) -> None:
    session_server = SessionServer()
    async with open_app(serve_session=session_server) as harness:
        await open_sessions_dialog(harness)
        await harness.driver.press("ctrl+k")
        await harness.wait_until(lambda: session_id(harness)() == "s2")
        assert session_server.requests[0].fork
        await harness.type_text("/new")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: session_id(harness)() == "new")


async def test_the_session_stays_open_when_chosen_again_or_while_a_turn_runs(open_app: Any) -> None:
    session_server = SessionServer()
    async with open_app(serve_session=session_server) as harness:
        await open_sessions_dialog(harness)
        await harness.driver.press("up", "enter")
        await harness.wait_until(lambda: not isinstance(harness.app.screen, SessionsDialog))
        await harness.send(TurnBegin("go"))
        await harness.type_text("/new")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: "A turn is running" in harness.toast_text())
        assert session_server.requests == []


async def test_typing_filters_by_title_and_ctrl_f_searches_messages(open_app: Any) -> None:
    async with open_app() as harness:
        await open_sessions_dialog(harness)
        await harness.driver.press("tab")
        await harness.type_text("blue")
        await harness.wait_until(lambda: "红色的门" not in harness.screen_text())
        await harness.driver.press("ctrl+f")
        await harness.wait_until(lambda: isinstance(harness.app.screen, MessageSearchDialog))
        await harness.wait_until(lambda: harness.commands_of(SearchMessages)[-1] == SearchMessages("blue"))
        await harness.driver.press("escape")
        await harness.wait_until(lambda: isinstance(harness.app.screen, SessionsDialog))


async def test_a_session_is_renamed_and_deleted_after_confirmation(open_app: Any) -> None:
    async with open_app() as harness:
        await open_sessions_dialog(harness)
        await harness.driver.press("ctrl+r")
        await harness.type_text("er")
        await harness.driver.press("enter")
        await harness.wait_until(
            lambda: harness.commands_of(RenameSession) == [RenameSession("s2", "blue doorer")]
        )
        await harness.driver.press("ctrl+x", "enter")
        await harness.driver.press("ctrl+x", "y", "enter")
        await harness.wait_until(lambda: harness.commands_of(DeleteSession))
        assert len(harness.commands_of(DeleteSession)) == 1


async def test_the_highlighted_session_is_previewed_with_its_changed_files(open_app: Any) -> None:
    async with open_app() as harness:
        await open_sessions_dialog(harness)
        await harness.wait_until(lambda: PreviewSession("s2") in harness.commands_of(PreviewSession))
        harness.engine.send(PREVIEW)
        await harness.wait_until(lambda: "which color?" in harness.screen_text())
        assert "2 files changed  +12 −3" in harness.screen_text()
        assert "src/door.py" in harness.screen_text()
        await harness.driver.press("ctrl+o")
        await harness.wait_until(lambda: isinstance(harness.app.screen, Pager))
        assert "you: which color? agent: blue" in harness.unwrapped_text().replace("│ ", "")


async def test_the_last_other_session_is_highlighted_until_the_user_moves(open_app: Any) -> None:
    async with open_app(size=(80, 24)) as harness:
        dialog = await open_sessions_dialog(harness)
        assert dialog.choices.choice.value == "s2"
        newer = SessionListItem("s4", "newer one", "/work/shop", 3_000.0)
        harness.engine.send(SessionList((newer, *SESSION_LIST.sessions)))
        await harness.wait_until(lambda: "newer one" in harness.screen_text())
        assert dialog.choices.choice.value == "s4"
        await harness.driver.press("down")
        assert dialog.choices.choice.note == "current"
        newest = SessionListItem("s5", "newest one", "/work/shop", 4_000.0)
        harness.engine.send(SessionList((newest, newer, *SESSION_LIST.sessions)))
        await harness.wait_until(lambda: "newest one" in harness.screen_text())
        assert dialog.choices.choice.value == "s1"


async def test_enter_before_the_sessions_are_listed_resumes_the_last_one(open_app: Any) -> None:
    session_server = SessionServer()
    async with open_app(serve_session=session_server) as harness:
        await harness.driver.press("alt+s", "enter")
        await harness.wait_until(lambda: harness.commands_of(ListSessions))
        assert isinstance(harness.app.screen, SessionsDialog)
        harness.engine.send(SESSION_LIST)
        await harness.wait_until(lambda: session_id(harness)() == "s2")
        assert session_server.requests == [SessionRequest(session_id="s2", work_dir=Path("/work/shop"))]


async def test_if_only_the_open_session_exists_it_is_highlighted(open_app: Any) -> None:
    async with open_app() as harness:
        dialog = await open_sessions_dialog(harness)
        await harness.type_text("fix")
        await harness.wait_until(lambda: "blue door" not in harness.screen_text())
        assert dialog.choices.choice.value == "s1"


async def test_the_preview_is_shown_again_when_the_dialog_is_opened_again(open_app: Any) -> None:
    async with open_app(size=(80, 24)) as harness:
        await open_sessions_dialog(harness)
        await harness.wait_until(lambda: harness.commands_of(PreviewSession))
        harness.engine.send(PREVIEW)
        await harness.wait_until(lambda: "which color?" in harness.screen_text())
        await harness.driver.press("escape")
        await harness.driver.press("alt+s")
        await harness.wait_until(lambda: len(harness.commands_of(ListSessions)) == 2)
        harness.engine.send(SESSION_LIST)
        harness.engine.send(replace(PREVIEW))  # an equal reply doesn't change the state
        await harness.wait_until(lambda: "which color?" in harness.screen_text())


async def test_sessions_of_other_directories_are_listed_on_request(open_app: Any) -> None:
    async with open_app() as harness:
        await open_sessions_dialog(harness)
        assert "Sessions in this directory · 2" in harness.screen_text()
        assert "红色的门" not in harness.screen_text()
        await click_text(harness, "all directories")
        await harness.wait_until(lambda: "红色的门" in harness.screen_text())
        await harness.driver.press("tab")
        await harness.wait_until(lambda: "红色的门" not in harness.screen_text())


async def test_a_directory_without_sessions_shows_those_of_the_others(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.type_text("/sessions")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: harness.commands_of(ListSessions))
        harness.engine.send(SessionList((OTHER,)))
        await harness.wait_until(lambda: "Sessions in all directories · 1" in harness.screen_text())


async def test_the_session_to_resume_is_chosen_at_the_start(open_app: Any) -> None:
    session_server = SessionServer()
    request = SessionRequest(fork=True)
    async with open_app(serve_session=session_server, choose_session=request, initial_prompt="go") as harness:
        await harness.wait_until(lambda: harness.commands_of(ListSessions))
        harness.engine.send(SESSION_LIST)
        await harness.wait_until(lambda: "blue door" in harness.screen_text())
        assert harness.commands_of(Prompt) == []
        await harness.driver.press("enter")
        await harness.wait_until(lambda: session_id(harness)() == "s2")
        assert session_server.requests == [
            SessionRequest(session_id="s2", fork=True, work_dir=Path("/work/shop"))
        ]
        assert harness.app._options.initial_prompt == "go"


async def test_escape_at_the_start_stays_in_a_new_session_and_sends_the_prompt(open_app: Any) -> None:
    async with open_app(choose_session=SessionRequest(), initial_prompt="go") as harness:
        await harness.wait_until(lambda: isinstance(harness.app.screen, SessionsDialog))
        assert "new session" in harness.screen_text()
        await harness.driver.press("escape")
        await harness.wait_until(lambda: harness.commands_of(Prompt) == [Prompt("go")])


async def test_debug_opens_the_pager(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.type_text("/debug")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: "kimi-tui.log" in harness.screen_text().replace("\n", ""))


async def test_a_late_error_of_a_closed_session_is_not_shown_in_the_next(open_app: Any) -> None:
    async with open_app(serve_session=SessionServer()) as harness:
        clock, before = LoopClock(), harness.app._engine
        harness.engine.shutdown_gate = asyncio.Future()
        await harness.type_text("/new")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: harness.commands_of(Shutdown))
        clock.advance(SHUTDOWN_TIMEOUT_S)
        await harness.wait_until(lambda: session_id(harness)() == "new")
        harness.engine.shutdown_gate.set_exception(KimiTuiError("The disk is full."))
        await harness.wait_until(lambda: before.failure is not None)
        await harness.driver.pause()
        assert "The disk is full." not in harness.screen_text()
        await harness.type_text("hello")
        await harness.driver.press("ctrl+q")
        await harness.wait_until(lambda: harness.app.return_code == 0)


async def test_a_session_in_use_can_be_forked(open_app: Any) -> None:
    session_server = SessionServer()
    error = SessionInUse("The session is in use by another process (pid 7).", session_id="s9")
    async with open_app(serve_session=session_server, error=error) as harness:
        await harness.wait_until(lambda: isinstance(harness.app.screen, Picker))
        await harness.wait_until(lambda: "fork the session" in harness.screen_text())
        await harness.driver.press("enter")
        await harness.wait_until(lambda: session_id(harness)() == "s9")
        assert session_server.requests == [SessionRequest(session_id="s9", fork=True)]


async def test_a_session_in_use_can_be_opened_read_only(open_app: Any) -> None:
    session_server = SessionServer()
    error = SessionInUse("The session is in use by another process (pid 7).", session_id="s9")
    async with open_app(serve_session=session_server, error=error) as harness:
        await harness.wait_until(
            lambda: isinstance(harness.app.screen, Picker) and "open read-only" in harness.screen_text()
        )
        await harness.driver.press("down", "enter")
        await harness.wait_until(lambda: session_id(harness)() == "s9")
        assert session_server.requests == [SessionRequest(session_id="s9", read_only=True)]


async def test_a_prompt_in_a_read_only_session_is_kept_for_the_fork(open_app: Any) -> None:
    session_server = SessionServer()
    read_only_session = replace(SESSION, read_only=True, in_use=True, model="", model_kind="")
    async with open_app(serve_session=session_server, session=read_only_session) as harness:
        await harness.wait_until(lambda: "Read-only session" in harness.screen_text())
        assert "another process is using this session" in harness.unwrapped_text()
        assert harness.screen_text().split("\n")[0].endswith("read-only")
        await harness.type_text("mine")
        await harness.driver.press("enter")
        await harness.wait_until(
            lambda: isinstance(harness.app.screen, Picker) and "resume it here" in harness.screen_text()
        )
        assert harness.commands_of(Prompt) == []
        await harness.driver.press("enter")
        await harness.wait_until(lambda: session_id(harness)() == "s1" and session_server.requests)
        assert session_server.requests == [SessionRequest(session_id="s1", fork=True)]
        await harness.wait_until(lambda: harness.prompt_text == "mine")


async def test_a_lost_connection_to_the_resident_engine_is_restored(open_app: Any) -> None:
    session_server = SessionServer()
    error = EngineLost("The connection to the resident engine was lost.", session_id="s9", hint="Try again.")
    async with open_app(serve_session=session_server, error=error) as harness:
        await harness.wait_until(lambda: session_id(harness)() == "s9")
        assert session_server.requests == [SessionRequest(session_id="s9")]


async def test_detaching_needs_a_session_that_continues(open_app: Any) -> None:
    async with open_app() as harness:
        await harness.type_text("/detach")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: "--resident" in harness.toast_text())
        assert harness.commands_of(Shutdown) == []
        await harness.send(replace(SESSION, resident=True))
        await harness.type_text("/detach")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: harness.commands_of(Shutdown))


async def test_reload_opens_the_same_session_again(open_app: Any) -> None:
    session_server = SessionServer()
    async with open_app(serve_session=session_server) as harness:
        await harness.type_text("/reload")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: session_server.requests == [SessionRequest(session_id="s1")])
        await harness.wait_until(lambda: session_id(harness)() == "s1")
