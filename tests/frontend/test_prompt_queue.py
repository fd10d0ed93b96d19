"""Prompt queue: sending, queuing, steering and interrupting."""

from dataclasses import replace

from kimi_tui.base.content_parts import TextPart
from kimi_tui.frontend import prompt_queue
from kimi_tui.frontend.message_batch import SessionMessage
from kimi_tui.frontend.session_state import RunningTurn, SessionViewState, reduce
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

IDLE = SessionViewState()
RUNNING = SessionViewState(turn=RunningTurn(started_at=0.0))


def test_a_prompt_is_sent_immediately_when_idle() -> None:
    state, command = prompt_queue.submit(IDLE, "hello")
    assert command == Prompt("hello")
    assert state.is_busy


def test_a_prompt_is_queued_while_a_turn_runs() -> None:
    state, command = prompt_queue.submit(RUNNING, "next")
    assert command is None
    assert state.queue == ("next",)


def test_a_second_prompt_is_queued_even_before_the_first_turn_begins() -> None:
    state, _ = prompt_queue.submit(IDLE, "one")
    state, command = prompt_queue.submit(state, "two")
    assert command is None
    assert state.queue == ("two",)


def test_steering_reaches_the_running_turn_or_starts_one() -> None:
    assert prompt_queue.steer(RUNNING, "not there")[1] == Steer("not there")
    assert prompt_queue.steer(IDLE, "hello")[1] == Prompt("hello")


def test_interrupting_needs_a_turn() -> None:
    state, command = prompt_queue.interrupt(RUNNING)
    assert command == Interrupt()
    assert state.turn is not None
    assert state.turn.is_interrupted
    assert prompt_queue.interrupt(IDLE)[1] is None


def test_a_revert_that_scans_files_can_be_interrupted_without_a_turn() -> None:
    assert prompt_queue.interrupt(replace(IDLE, snapshot_progress=SnapshotProgress(1, 2)))[1] == Interrupt()


def test_the_next_prompt_is_sent_after_a_finished_turn() -> None:
    state, command, returned = prompt_queue.advance_queue(SessionViewState(queue=("a", "b")))
    assert command == Prompt("a")
    assert state.queue == ("b",)
    assert returned == ""


def test_the_queue_returns_to_the_editor_after_any_other_outcome() -> None:
    state, command, returned = prompt_queue.advance_queue(
        SessionViewState(queue=("a", "b"), last_outcome="cancelled")
    )
    assert command is None
    assert state.queue == ()
    assert returned == "a\n\nb"


def test_the_last_queued_prompt_can_be_edited() -> None:
    state, text = prompt_queue.pop_queued(SessionViewState(queue=("a", "b")))
    assert (state.queue, text) == (("a",), "b")


def reduce_messages(state: SessionViewState, *messages: SessionMessage) -> SessionViewState:
    for message in messages:
        state = reduce(state, message, now=0.0)
    return state


def test_a_prompt_is_unsaved_until_the_engine_has_recorded_it() -> None:
    state, _ = prompt_queue.submit(IDLE, "hello")
    assert state.unsaved_prompts == ("hello",)
    started = reduce_messages(state, TurnBegin("hello"))
    assert started.unsaved_prompts == ("hello",)
    assert reduce_messages(started, StepBegin(1)).unsaved_prompts == ()
    assert reduce_messages(started, TurnEnd("failed")).unsaved_prompts == ()


def test_a_turn_with_another_prompt_acknowledges_nothing() -> None:
    state, _ = prompt_queue.submit(IDLE, "hello")
    assert reduce_messages(state, TurnBegin("/compact"), TurnEnd()).unsaved_prompts == ("hello",)
    past = reduce_messages(state, ReplayBegin(), TurnBegin("hello"), StepBegin(1), TurnEnd(), ReplayEnd())
    assert past.unsaved_prompts == ("hello",)
    with_image = reduce_messages(state, TurnBegin((TextPart("hello"),)), StepBegin(1))
    assert with_image.unsaved_prompts == ()


def test_later_steps_acknowledge_no_further_prompts() -> None:
    state = reduce_messages(prompt_queue.submit(IDLE, "one")[0], TurnBegin("one"), StepBegin(1))
    state, _ = prompt_queue.submit(state, "two")
    state, _ = prompt_queue.steer(state, "not there")
    assert reduce_messages(state, StepBegin(2)).unsaved_prompts == ("not there", "two")
    assert reduce_messages(state, SteerInput("not there")).unsaved_prompts == ("two",)


def test_unsaved_prompts_return_if_the_engine_fails_and_are_recorded_if_it_exits_cleanly() -> None:
    state, _ = prompt_queue.submit(IDLE, "one")
    state, _ = prompt_queue.submit(state, "two")
    failed, text = prompt_queue.abandon(state)
    assert (failed.unsaved_prompts, text) == ((), "one\n\ntwo")
    assert prompt_queue.acknowledge_all(state).unsaved_prompts == ("two",)


def test_prompts_after_shutdown_are_kept() -> None:
    state = replace(RUNNING, is_closing=True)
    state, steer = prompt_queue.steer(state, "not there")
    state, _ = prompt_queue.submit(state, "later")
    ended, command, _ = prompt_queue.advance_queue(reduce_messages(state, TurnEnd()))
    assert (steer, command) == (None, None)
    assert prompt_queue.acknowledge_all(ended).unsaved_prompts == ("not there", "later")
