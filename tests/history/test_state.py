"""`state.json` gives back what was written."""

from pathlib import Path

from kimi_tui.history.state import Jump, SessionState, encoded_state, read_state
from kimi_tui.wire.display import TodoItem


def test_what_a_session_remembers_survives_a_restart(tmp_path: Path) -> None:
    state = SessionState(
        title="标题",
        todos=(TodoItem("look", "done"),),
        grants=("Bash(ls *)",),
        undos=(Jump(2, None, 1), Jump(3, "manifest")),
        redos=(Jump(4),),
        updated=1.5,
    )
    path = tmp_path / "state.json"
    path.write_bytes(encoded_state(state))
    assert read_state(path) == state
