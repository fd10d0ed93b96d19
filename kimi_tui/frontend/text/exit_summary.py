"""Line that is printed when the user leaves a session."""

from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.frontend.number_format import format_cost
from kimi_tui.frontend.session_state import SessionViewState
from kimi_tui.i18n.translate import tr, tr_n


def exit_summary(state: SessionViewState) -> str:
    """Return the command that resumes or attaches to the session, the cost, and the background tasks that end
    with the program.

    Return an empty string for a session without messages.
    """
    session = state.session
    if session is None or not (state.context_tokens or state.last_step):
        return ""
    program = "kimi-tui --demo" if state.is_demo else "kimi-tui"
    if session.resident:
        parts = [tr("Detached. Attach: {command}", command=f"kimi-tui attach {session.session_id[:8]}")]
    else:
        parts = [tr("Resume: {command}", command=f"{program} -r {session.session_id}")]
    if state.cost_usd is not None:
        parts.append(format_cost(state.cost_usd))
    tasks = [sanitize_line(task.description or task.command) for task in state.running_tasks]
    if tasks and not session.resident:
        names = "; ".join(tasks)
        parts.append(
            tr_n(
                "{count} background task stopped: {names}",
                "{count} background tasks stopped: {names}",
                len(tasks),
                names=names,
            )
        )
    return " · ".join(parts)
