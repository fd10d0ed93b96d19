"""Running sessions dialog: the open sessions, answered, stopped and opened."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pytest_textual_snapshot import SVGImageExtension

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.i18n.translate import set_language
from kimi_tui.tui.dialogs.running_sessions import RunningSessionsDialog
from kimi_tui.tui.session_request import SessionRequest
from kimi_tui.wire.display_blocks import ShellBlock
from kimi_tui.wire.events import ApprovalResponse, TurnBegin
from kimi_tui.wire.requests import (
    Answer,
    ApprovalRequest,
    Question,
    QuestionOption,
    QuestionRequest,
    QuestionResponse,
)
from kimi_tui.wire.running_session import RunningSession, RunningSessionList, encode_request
from tests.tui.conftest import SESSION, AppHarness
from tests.tui.test_sessions import SessionServer
from tests.tui.timeline.test_dialogs import click_text

COMMAND = ApprovalRequest(
    "r1", "c1", "Bash", "run command", "make deploy", display=(ShellBlock("make deploy"),)
)
COLORS = tuple(QuestionOption(name, f"a {name} door") for name in ("red", "blue"))
SIZES = tuple(QuestionOption(name) for name in ("small", "large"))
QUESTIONS = QuestionRequest(
    "q1", "c2", (Question("Which color?", "color", COLORS), Question("Which size?", "size", SIZES))
)


def running(session_id: str, **fields: Any) -> RunningSession:
    values = {"title": f"title {session_id}", "work_dir": "/work/shop", "state": "working", "since_s": 130.0}
    return RunningSession(id=session_id, **{**values, **fields})


ASKING = running(
    "a1",
    title="ship \x1b[31mit",
    state="awaiting approval",
    since_s=5.0,
    cost_today_usd=0.25,
    last_line="I will deploy now.",
    requests=(encode_request(COMMAND),),
)
WORKING = running("w1", title="写测试", work_dir="/work/door", cost_today_usd=1.5, last_line="Running pytest")


@dataclass
class PlayedRunningSessions:
    """Service whose sessions are set by the test."""

    sessions: tuple[RunningSession, ...] = (WORKING, ASKING)
    is_engine_running: bool = True
    problem: KimiTuiError | None = None
    answers: list[tuple[str, Answer]] = field(default_factory=list)
    stopped: list[str] = field(default_factory=list)
    changes: "asyncio.Queue[tuple[RunningSession, ...]]" = field(default_factory=asyncio.Queue)
    """What `watch` yields."""

    async def list(self) -> RunningSessionList:
        if self.problem is not None:
            raise self.problem
        return RunningSessionList(sessions=self.sessions, is_engine_running=self.is_engine_running)

    async def watch(self) -> AsyncIterator[tuple[RunningSession, ...]]:
        while True:
            yield await self.changes.get()

    async def answer(self, session_id: str, answer: Answer) -> bool:
        is_first = not self.answers
        self.answers.append((session_id, answer))
        self.sessions = tuple(replace(it, requests=()) for it in self.sessions)
        return is_first

    async def stop(self, session_id: str) -> tuple[RunningSession, ...]:
        self.stopped.append(session_id)
        stopped = tuple(it for it in self.sessions if it.id == session_id)
        self.sessions = tuple(it for it in self.sessions if it.id != session_id)
        return stopped


@pytest.fixture(autouse=True)
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kimi_tui.tui.dialogs.running_sessions._POLL_S", 0.02)
    monkeypatch.setattr("kimi_tui.tui.dialogs.running_sessions.GRACE_S", 0.0)


async def show(harness: AppHarness) -> RunningSessionsDialog:
    await harness.driver.press("f5")
    await harness.wait_until(lambda: isinstance(harness.app.screen, RunningSessionsDialog))
    dialog = harness.app.screen
    assert isinstance(dialog, RunningSessionsDialog)
    await harness.wait_until(lambda: dialog.is_mounted and dialog._list is not None)
    await harness.driver.pause()
    return dialog


@pytest.mark.parametrize(("size", "language"), [((80, 24), "en"), ((120, 35), "zh"), ((60, 16), "en")])
async def test_the_dialog_matches_its_snapshot(
    size: tuple[int, int], language: str, open_app: Any, snapshot: Any
) -> None:
    set_language(language)
    try:
        async with open_app(
            size=size, work_dir=Path("/work/shop"), running_sessions=PlayedRunningSessions()
        ) as harness:
            await show(harness)
            assert snapshot.use_extension(SVGImageExtension) == harness.app.export_screenshot()
    finally:
        set_language("en")


async def test_each_session_has_its_state_duration_cost_directory_and_last_line(open_app: Any) -> None:
    async with open_app(size=(120, 35), running_sessions=PlayedRunningSessions()) as harness:
        await show(harness)
        text = harness.screen_text()
        assert "Running sessions · 2 · 1 awaiting approval" in text
        row = next(line for line in text.split("\n") if "写测试" in line)
        assert " ".join(row.split()).strip("│ ").startswith("⟳ working 2 min $1.50 today door 写测试")
        assert "? awaiting approval" in text
        assert "I will deploy now." in text  # the session with the request is highlighted
        await harness.driver.press("up")
        assert "Running pytest" in harness.screen_text()


async def test_a_call_is_allowed_and_another_declined_from_the_list(open_app: Any) -> None:
    service = PlayedRunningSessions()
    async with open_app(running_sessions=service) as harness:
        await show(harness)
        assert "make deploy" in harness.screen_text()
        await harness.driver.press("y")
        await harness.wait_until(lambda: "make deploy" not in harness.screen_text())
        service.sessions = (WORKING, replace(ASKING, requests=(encode_request(replace(COMMAND, id="r2")),)))
        await harness.wait_until(lambda: "make deploy" in harness.screen_text())
        await click_text(harness, "n No")
        await harness.wait_until(lambda: len(service.answers) == 2)
        assert service.answers == [
            ("a1", ApprovalResponse("r1", "approve")),
            ("a1", ApprovalResponse("r2", "reject")),
        ]
        await harness.wait_until(lambda: "already answered" in harness.toast_text())


async def test_several_options_are_selected_and_sent(open_app: Any) -> None:
    several = replace(QUESTIONS.questions[0], multi_select=True)
    request = QuestionRequest("q1", "c2", (several, QUESTIONS.questions[1]))
    service = PlayedRunningSessions((replace(ASKING, requests=(encode_request(request),)),))
    async with open_app(running_sessions=service) as harness:
        await show(harness)
        await harness.driver.press("y")  # nothing is selected yet
        await harness.driver.press("2", "1", "2", "2")
        text = harness.screen_text()
        assert "☑ red" in text
        assert "☑ blue" in text
        assert "☐" not in text
        assert service.answers == []
        await click_text(harness, "y Continue")
        await harness.driver.press("2")
        await harness.wait_until(lambda: service.answers)
        answers = {"Which color?": "red, blue", "Which size?": "large"}
        assert service.answers == [("a1", QuestionResponse("q1", answers))]


async def test_a_new_request_ignores_keys_at_first(open_app: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kimi_tui.tui.dialogs.running_sessions.GRACE_S", 60.0)
    service = PlayedRunningSessions()
    async with open_app(running_sessions=service) as harness:
        await show(harness)
        await harness.driver.press("y", "n")
        await harness.driver.pause()
        assert service.answers == []


async def test_a_long_command_must_be_on_the_screen_before_it_is_allowed(open_app: Any) -> None:
    command = "\n".join(f"echo {number}" for number in range(60))
    request = replace(COMMAND, display=(ShellBlock(command),))
    service = PlayedRunningSessions((replace(ASKING, requests=(encode_request(request),)),))
    async with open_app(size=(80, 24), running_sessions=service) as harness:
        await show(harness)
        await harness.driver.press("y")
        await harness.wait_until(lambda: "Page down first" in harness.toast_text())
        assert service.answers == []
        for _ in range(12):
            await harness.driver.press("pagedown")
        await harness.driver.press("y")
        await harness.wait_until(lambda: service.answers)


async def test_questions_are_answered_with_numbers_one_after_another(open_app: Any) -> None:
    service = PlayedRunningSessions((replace(ASKING, requests=(encode_request(QUESTIONS),)),))
    async with open_app(running_sessions=service) as harness:
        await show(harness)
        assert "Which color?" in harness.screen_text()
        await harness.driver.press("3")  # there is no third option
        await harness.driver.press("2")
        await harness.wait_until(lambda: "Which size?" in harness.screen_text())
        await harness.driver.press("1")
        await harness.wait_until(lambda: service.answers)
        answers = {"Which color?": "blue", "Which size?": "small"}
        assert service.answers == [("a1", QuestionResponse("q1", answers))]


async def test_a_session_is_stopped_when_the_key_is_pressed_twice(open_app: Any) -> None:
    service = PlayedRunningSessions()
    async with open_app(running_sessions=service) as harness:
        await show(harness)
        await harness.driver.press("up", "s")
        assert "press again to stop" in harness.unwrapped_text()
        await harness.driver.press("down", "up", "s")
        assert service.stopped == []
        await harness.driver.press("s")
        await harness.wait_until(lambda: service.stopped == ["w1"])
        await harness.wait_until(lambda: "Stopped: 写测试" in harness.toast_text())
        await harness.wait_until(lambda: "Running pytest" not in harness.screen_text())


async def test_a_session_opens_by_enter_or_click_also_while_a_resident_turn_runs(open_app: Any) -> None:
    server = SessionServer()
    session = replace(SESSION, resident=True)
    service = PlayedRunningSessions()
    async with open_app(session=session, serve_session=server, running_sessions=service) as harness:
        await harness.send(TurnBegin("go"))
        await show(harness)
        await click_text(harness, "⟳ working")
        await click_text(harness, "⟳ working")
        await harness.wait_until(lambda: server.requests)
        assert server.requests == [SessionRequest(session_id="w1", work_dir=Path("/work/door"))]


async def test_without_an_engine_own_and_other_sessions_are_listed_but_not_opened(open_app: Any) -> None:
    own = running(SESSION.session_id, state="open", is_resident=False)
    other = running("o1", title="elsewhere", state="open", is_resident=False)
    server, service = SessionServer(), PlayedRunningSessions((own, other), is_engine_running=False)
    async with open_app(serve_session=server, running_sessions=service) as harness:
        await harness.send(TurnBegin("go"))
        await show(harness)
        text = harness.unwrapped_text()
        assert "⟳ working" in text
        assert "current" in text
        assert "· open elsewhere" in text
        assert "kimi-tui --resident" in text
        await harness.driver.press("down", "enter", "s", "s")
        await harness.wait_until(lambda: "Another process has this session open" in harness.toast_text())
        assert (server.requests, service.stopped) == ([], [])
        await harness.driver.press("up", "enter")
        await harness.wait_until(lambda: not isinstance(harness.app.screen, RunningSessionsDialog))


async def test_a_failed_reading_shows_its_reason_and_recovers(open_app: Any) -> None:
    service = PlayedRunningSessions(problem=KimiTuiError("The engine is version 1.", hint="Restart it."))
    async with open_app(running_sessions=service) as harness:
        await harness.driver.press("f5")
        await harness.wait_until(lambda: "The engine is version 1. Restart it." in harness.unwrapped_text())
        service.problem = None
        await harness.wait_until(lambda: "I will deploy now." in harness.screen_text())
        await harness.driver.press("f5")
        await harness.wait_until(lambda: not isinstance(harness.app.screen, RunningSessionsDialog))


async def test_sessions_on_no_screen_are_reported_with_their_directories(open_app: Any) -> None:
    service = PlayedRunningSessions()
    own = running(SESSION.session_id, state="working")
    shown = running("s1", title="elsewhere", clients=1)
    async with open_app(running_sessions=service) as harness:
        await harness.send(TurnBegin("go"))
        service.changes.put_nowait((own, shown, WORKING, replace(ASKING, state="working", requests=())))
        done = (replace(own, state="done"), replace(shown, state="failed"), WORKING, ASKING)
        service.changes.put_nowait(done)
        await harness.wait_until(lambda: "ship it (shop) is awaiting approval." in harness.toast_text())
        assert "elsewhere" not in harness.toast_text()
        assert "(work)" not in harness.toast_text()
        service.changes.put_nowait((*done[:2], replace(WORKING, state="done")))
        await harness.wait_until(lambda: "写测试 (door) is done." in harness.toast_text())


async def test_a_session_on_no_screen_is_reported_to_a_user_who_is_away(open_app: Any) -> None:
    service = PlayedRunningSessions()
    async with open_app(running_sessions=service, notify="osc9") as harness:
        harness.app.on_app_blur()
        sent: list[str] = []
        harness.app._notifier._terminal = SimpleNamespace(send=sent.append)
        service.changes.put_nowait((WORKING,))
        service.changes.put_nowait((replace(WORKING, state="failed"),))
        await harness.wait_until(lambda: sent)
        assert "写测试 (door) has failed." in sent[0]
