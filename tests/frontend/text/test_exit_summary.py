"""Line that is printed when the user leaves a session."""

from dataclasses import replace

from kimi_tui.frontend.session_state import SessionViewState
from kimi_tui.frontend.text.exit_summary import exit_summary
from kimi_tui.i18n.translate import set_language
from kimi_tui.wire.background import BackgroundTask
from tests.tui.conftest import SESSION

STATE = SessionViewState(session=SESSION, last_step=2)


def test_it_names_the_command_that_resumes_the_session_and_its_cost() -> None:
    state = replace(STATE, cost_usd=0.114)
    assert exit_summary(state) == f"Resume: kimi-tui -r {SESSION.session_id} · $0.11"


def test_it_names_the_tasks_that_were_still_running() -> None:
    tasks = (
        BackgroundTask("t1", "bash", "serve the docs"),
        BackgroundTask("t2", "bash", "", command="npm\x1b[31m test"),
        BackgroundTask("t3", "bash", "done already", status="done"),
    )
    summary = exit_summary(replace(STATE, tasks=tasks))
    assert summary.endswith(" · 2 background tasks stopped: serve the docs; npm test")


def test_it_is_in_the_users_language() -> None:
    tasks = (BackgroundTask("t1", "bash", "serve the docs"),)
    set_language("zh")
    try:
        line = exit_summary(replace(STATE, cost_usd=0.114, tasks=tasks))
    finally:
        set_language("en")
    assert line == f"恢复会话：kimi-tui -r {SESSION.session_id} · $0.11 · 已停止 1 个后台任务：serve the docs"


def test_a_demo_is_resumed_as_a_demo() -> None:
    state = replace(STATE, session=replace(SESSION, model_kind="demo"))
    assert exit_summary(state).startswith("Resume: kimi-tui --demo -r ")


def test_there_is_nothing_to_resume_if_nothing_was_said() -> None:
    assert exit_summary(SessionViewState()) == ""
    assert exit_summary(SessionViewState(session=SESSION)) == ""


def test_a_resident_session_is_attached_to_and_its_tasks_continue() -> None:
    state = replace(
        STATE, session=replace(SESSION, resident=True), tasks=(BackgroundTask("t1", "bash", "serve"),)
    )
    assert exit_summary(state) == f"Detached. Attach: kimi-tui attach {SESSION.session_id[:8]}"
