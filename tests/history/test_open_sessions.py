"""Sessions that a process has open."""

from pathlib import Path

from kimi_tui.history.open_sessions import find_open_sessions
from kimi_tui.history.session import SessionStore


async def test_a_session_is_listed_while_it_is_locked_and_has_been_saved(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    session = store.create(tmp_path / "work")
    session.acquire()
    assert find_open_sessions(tmp_path) == ()
    await session.update_state(title="fix it", cost_usd=1.0, cost_day="2026-01-02", cost_day_usd=0.5)
    (listed,) = find_open_sessions(tmp_path)
    assert (listed.id, listed.state.title, listed.state.cost_day_usd) == (session.id, "fix it", 0.5)
    assert 0.0 <= listed.open_s < 60.0
    session.release()
    assert find_open_sessions(tmp_path) == ()
