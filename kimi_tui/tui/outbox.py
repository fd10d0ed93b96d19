"""What the user says, on its way to the engine: sent at once, or kept until the running turn has ended."""

from dataclasses import replace

from kimi_tui.tui.state import ScreenState
from kimi_tui.wire.commands import Command, Interrupt, Prompt, Steer, StopShell


def submit(state: ScreenState, text: str) -> tuple[ScreenState, Command | None]:
    """Send `text`, or queue it while a turn runs."""
    if state.busy:
        return replace(state, queue=(*state.queue, text)), None
    return replace(state, sent=state.sent + 1), Prompt(text)


def steer(state: ScreenState, text: str) -> tuple[ScreenState, Command]:
    """Say `text` to the running turn; without one it starts a turn."""
    if state.turn is not None:
        return state, Steer(text)
    return replace(state, sent=state.sent + 1), Prompt(text)


def interrupt(state: ScreenState) -> tuple[ScreenState, Command | None]:
    """Stop the running turn; when there is none, the user's own commands, or a jump that only looks yet."""
    if state.turn is None:
        looks = Interrupt() if state.scan is not None else None
        return state, StopShell() if state.shells else looks
    return replace(state, turn=replace(state.turn, interrupted=True)), Interrupt()


def take_back(state: ScreenState) -> tuple[ScreenState, str]:
    """The prompt that was queued last, to be edited."""
    return replace(state, queue=state.queue[:-1]), state.queue[-1] if state.queue else ""


def after_turn(state: ScreenState) -> tuple[ScreenState, Command | None, str]:
    """What happens to the queue now that a turn has ended: the command to give, the text to hand back.

    After a turn that finished, the next prompt goes out. After any other end what was queued may no longer
    be meant, so all of it returns to the editor.
    """
    if not state.queue or state.busy:
        return state, None, ""
    if state.last_outcome == "finished":
        first, *others = state.queue
        return replace(state, queue=tuple(others), sent=state.sent + 1), Prompt(first), ""
    return replace(state, queue=()), None, "\n\n".join(state.queue)


def break_off(state: ScreenState) -> tuple[ScreenState, str]:
    """Nothing goes out any more; what was queued, to be handed back."""
    return replace(state, turn=None, sent=0, queue=(), failed=True), "\n\n".join(state.queue)
