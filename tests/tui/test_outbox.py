"""What the user says, on its way to the engine."""

from dataclasses import replace

from kimi_tui.base.content import TextPart
from kimi_tui.tui import outbox
from kimi_tui.tui.state import ScreenState, Turn, apply
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.commands import Interrupt, Prompt, Steer
from kimi_tui.wire.events import (
    ReplayBegin,
    ReplayEnd,
    SnapshotProgress,
    SteerInput,
    StepBegin,
    TurnBegin,
    TurnEnd,
)

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


def after(state: ScreenState, *messages: Outgoing) -> ScreenState:
    for message in messages:
        state = apply(state, message, now=0.0)
    return state


def test_a_prompt_is_at_stake_until_the_engine_has_written_it_down() -> None:
    state, _ = outbox.submit(IDLE, "hello")
    assert state.at_stake == ("hello",)
    begun = after(state, TurnBegin("hello"))
    assert begun.at_stake == ("hello",)
    assert after(begun, StepBegin(1)).at_stake == ()
    assert after(begun, TurnEnd("failed")).at_stake == ()


def test_a_turn_that_begins_with_something_else_takes_nothing_from_what_is_at_stake() -> None:
    state, _ = outbox.submit(IDLE, "hello")
    assert after(state, TurnBegin("/compact"), TurnEnd()).at_stake == ("hello",)
    past = after(state, ReplayBegin(), TurnBegin("hello"), StepBegin(1), TurnEnd(), ReplayEnd())
    assert past.at_stake == ("hello",)
    with_picture = after(state, TurnBegin((TextPart("hello"),)), StepBegin(1))
    assert with_picture.at_stake == ()


def test_each_step_of_a_turn_takes_no_further_prompt() -> None:
    state = after(outbox.submit(IDLE, "one")[0], TurnBegin("one"), StepBegin(1))
    state, _ = outbox.submit(state, "two")
    state, _ = outbox.steer(state, "not there")
    assert after(state, StepBegin(2)).at_stake == ("not there", "two")
    assert after(state, SteerInput("not there")).at_stake == ("two",)


def test_what_nobody_heard_returns_when_the_engine_fails_and_is_heard_when_it_ends_in_order() -> None:
    state, _ = outbox.submit(IDLE, "one")
    state, _ = outbox.submit(state, "two")
    failed, text = outbox.break_off(state)
    assert (failed.at_stake, text) == ((), "one\n\ntwo")
    assert outbox.all_heard(state).at_stake == ("two",)


def test_what_is_said_when_the_engine_was_told_to_end_stays_here() -> None:
    state = replace(RUNNING, closing=True)
    state, steer = outbox.steer(state, "not there")
    state, _ = outbox.submit(state, "later")
    ended, command, _ = outbox.after_turn(after(state, TurnEnd()))
    assert (steer, command) == (None, None)
    assert outbox.all_heard(ended).at_stake == ("not there", "later")
