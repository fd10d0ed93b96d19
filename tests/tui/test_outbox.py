"""What the user says, on its way to the engine."""

from dataclasses import replace

from kimi_tui.tui import outbox
from kimi_tui.tui.state import ScreenState, Turn
from kimi_tui.wire.commands import Interrupt, Prompt, Steer
from kimi_tui.wire.events import SnapshotProgress

IDLE = ScreenState()
RUNNING = ScreenState(turn=Turn(started=0.0))


def test_a_prompt_goes_out_at_once_when_nothing_runs() -> None:
    state, command = outbox.submit(IDLE, "hello")
    assert command == Prompt("hello")
    assert state.busy


def test_a_prompt_waits_while_a_turn_runs() -> None:
    state, command = outbox.submit(RUNNING, "next")
    assert command is None
    assert state.queue == ("next",)


def test_a_second_prompt_waits_even_before_the_first_ones_turn_has_begun() -> None:
    state, _ = outbox.submit(IDLE, "one")
    state, command = outbox.submit(state, "two")
    assert command is None
    assert state.queue == ("two",)


def test_steering_reaches_the_running_turn_and_starts_one_without() -> None:
    assert outbox.steer(RUNNING, "not there")[1] == Steer("not there")
    assert outbox.steer(IDLE, "hello")[1] == Prompt("hello")


def test_interrupting_needs_a_turn() -> None:
    state, command = outbox.interrupt(RUNNING)
    assert command == Interrupt()
    assert state.turn is not None
    assert state.turn.interrupted
    assert outbox.interrupt(IDLE)[1] is None


def test_a_jump_that_looks_at_files_can_be_interrupted_without_a_turn() -> None:
    assert outbox.interrupt(replace(IDLE, scan=SnapshotProgress(1, 2)))[1] == Interrupt()


def test_the_queue_goes_on_after_a_turn_that_finished() -> None:
    state, command, returned = outbox.after_turn(ScreenState(queue=("a", "b")))
    assert command == Prompt("a")
    assert state.queue == ("b",)
    assert returned == ""


def test_the_queue_returns_to_the_editor_after_any_other_end() -> None:
    state, command, returned = outbox.after_turn(ScreenState(queue=("a", "b"), last_outcome="cancelled"))
    assert command is None
    assert state.queue == ()
    assert returned == "a\n\nb"


def test_the_last_queued_prompt_can_be_taken_back() -> None:
    state, text = outbox.take_back(ScreenState(queue=("a", "b")))
    assert (state.queue, text) == (("a",), "b")
