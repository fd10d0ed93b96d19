"""The session state file."""

from pathlib import Path

from kimi_tui.history.session import SessionStore
from kimi_tui.history.session_state import (
    AdoptedAttempt,
    SessionState,
    UndoEntry,
    encode_state,
    read_state,
)
from kimi_tui.wire.display_blocks import TodoItem


def test_the_state_is_read_back_as_written(tmp_path: Path) -> None:
    state = SessionState(
        title="标题",
        todos=(TodoItem("look", "done"),),
        grants=("Bash(ls *)",),
        undos=(UndoEntry(2, None, 1), UndoEntry(3, "manifest", adopted=(AdoptedAttempt(1, 3),))),
        adopted=(AdoptedAttempt(1, 3), AdoptedAttempt(2, 5)),
        redos=(UndoEntry(4),),
        updated=1.5,
    )
    path = tmp_path / "state.json"
    path.write_bytes(encode_state(state))
    assert read_state(path) == state


async def test_a_fork_has_none_of_the_adopted_attempts(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    session = store.create(tmp_path)
    adopted = (AdoptedAttempt(1, 2),)
    await session.update_state(undos=(UndoEntry(4, adopted=adopted),), adopted=adopted)
    state = store.fork(session).state
    assert (state.adopted, state.undos) == ((), (UndoEntry(4),))
