"""The session state file."""

from pathlib import Path

from kimi_tui.history.session_state import SessionState, UndoEntry, encode_state, read_state
from kimi_tui.wire.display_blocks import TodoItem


def test_the_state_is_read_back_as_written(tmp_path: Path) -> None:
    state = SessionState(
        title="标题",
        todos=(TodoItem("look", "done"),),
        grants=("Bash(ls *)",),
        undos=(UndoEntry(2, None, 1), UndoEntry(3, "manifest")),
        redos=(UndoEntry(4),),
        updated=1.5,
    )
    path = tmp_path / "state.json"
    path.write_bytes(encode_state(state))
    assert read_state(path) == state
