"""State transitions for prompts: sent immediately, or queued until the running turn has ended."""

from dataclasses import replace

from kimi_tui.frontend.session_state import SessionViewState
from kimi_tui.wire.commands import Command, Interrupt, Prompt, Steer, StopShell


def submit(state: SessionViewState, text: str) -> tuple[SessionViewState, Command | None]:
    """Send `text`, or queue it while a turn is running."""
    if state.is_busy:
        return replace(state, queue=(*state.queue, text)), None
    return _mark_sent(state, text), Prompt(text)


def steer(state: SessionViewState, text: str) -> tuple[SessionViewState, Command | None]:
    """Send `text` to the running turn. Without one, start a turn."""
    if state.is_closing:
        return submit(state, text)
    if state.turn is not None:
        return replace(state, unacknowledged_steers=(*state.unacknowledged_steers, text)), Steer(text)
    return _mark_sent(state, text), Prompt(text)


def interrupt(state: SessionViewState) -> tuple[SessionViewState, Command | None]:
    """Stop the running turn, otherwise the user's shell commands, otherwise a revert that is still scanning
    files.
    """
    if state.turn is None:
        stop_scan = Interrupt() if state.snapshot_progress is not None else None
        return state, StopShell() if state.shell_ids else stop_scan
    return replace(state, turn=replace(state.turn, is_interrupted=True)), Interrupt()


def pop_queued(state: SessionViewState) -> tuple[SessionViewState, str]:
    """Remove the prompt that was queued last and return it for editing."""
    return replace(state, queue=state.queue[:-1]), state.queue[-1] if state.queue else ""


def advance_queue(state: SessionViewState) -> tuple[SessionViewState, Command | None, str]:
    """Return the state after a turn has ended, the command to send, and the text to return to the editor.

    After a turn that finished, the next prompt is sent. After any other end, the queued prompts may no longer
    apply, so all of them return to the editor.
    """
    if not state.queue or state.is_busy:
        return state, None, ""
    if state.last_outcome == "finished":
        first, *others = state.queue
        return _mark_sent(replace(state, queue=tuple(others)), first), Prompt(first), ""
    return replace(state, queue=()), None, "\n\n".join(state.queue)


def abandon(state: SessionViewState) -> tuple[SessionViewState, str]:
    """Return the state of a failed session, and the prompts that the engine never recorded."""
    failed = replace(
        state, turn=None, sent_count=0, queue=(), unacknowledged=(), unacknowledged_steers=(), has_failed=True
    )
    return failed, "\n\n".join(state.unsaved_prompts)


def acknowledge_all(state: SessionViewState) -> SessionViewState:
    """Mark all sent prompts as recorded, because the engine has shut down cleanly."""
    return replace(state, unacknowledged=(), unacknowledged_steers=())


def _mark_sent(state: SessionViewState, text: str) -> SessionViewState:
    return replace(state, sent_count=state.sent_count + 1, unacknowledged=(*state.unacknowledged, text))
