"""What the agent is doing, in the prompt's upper edge."""

from textual.content import Content

from kimi_tui.tui.figures import duration
from kimi_tui.tui.state import ScreenState

_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
FRAME_S = 0.1


def activity(
    state: ScreenState, *, now: float, frame: int | None, interrupt_key: str, answer_key: str
) -> Content:
    """One line about the running turn, empty at rest; `frame` None draws no spinner."""
    turn = state.turn
    if turn is None:
        waiting = "compacting the conversation" if state.compacting else "sending" if state.sent else ""
        return Content(waiting)
    mark = "●" if frame is None or state.requests else _FRAMES[frame % len(_FRAMES)]
    doing = "stopping" if turn.interrupted else turn.activity
    elapsed = duration(float(int(now - turn.started))) if now - turn.started >= 10 else ""
    answers = f"{answer_key} answers" if state.requests else ""
    parts = [f"{mark} {doing}", elapsed, answers, "" if turn.interrupted else f"{interrupt_key} interrupts"]
    return Content(" · ".join(part for part in parts if part))
