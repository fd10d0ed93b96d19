"""What the user says, on its way to the engine: sent at once, or kept until the running turn has ended."""

from dataclasses import replace

from kimi_tui.tui.state import ScreenState
from kimi_tui.wire.commands import Command, Interrupt, Prompt, Steer, StopShell


def submit(state: ScreenState, text: str) -> tuple[ScreenState, Command | None]:
    """Send `text`, or queue it while a turn runs."""
    if state.busy:
        return replace(state, queue=(*state.queue, text)), None
    return _sent(state, text), Prompt(text)


def steer(state: ScreenState, text: str) -> tuple[ScreenState, Command | None]:
    """Say `text` to the running turn; without one it starts a turn."""
    if state.closing:
        return submit(state, text)
    if state.turn is not None:
        return replace(state, steered=(*state.steered, text)), Steer(text)
    return _sent(state, text), Prompt(text)


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
        return _sent(replace(state, queue=tuple(others)), first), Prompt(first), ""
    return replace(state, queue=()), None, "\n\n".join(state.queue)


def break_off(state: ScreenState) -> tuple[ScreenState, str]:
    """Nothing goes out any more; what nobody has heard, to be handed back."""
    nothing = replace(state, turn=None, sent=0, queue=(), unheard=(), steered=(), failed=True)
    return nothing, "\n\n".join(state.at_stake)


def all_heard(state: ScreenState) -> ScreenState:
    """The engine has come to its end, in order: what it was given is written down."""
    return replace(state, unheard=(), steered=())


def _sent(state: ScreenState, text: str) -> ScreenState:
    return replace(state, sent=state.sent + 1, unheard=(*state.unheard, text))
