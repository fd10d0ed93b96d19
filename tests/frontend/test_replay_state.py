"""Applying a long replay equals reducing its messages one by one, at a fraction of the cost."""

import random
import time
from collections.abc import Callable, Sequence

import pytest

from kimi_tui.base.content_parts import TextPart, ThinkPart
from kimi_tui.base.message import FunctionCall, ToolCall, ToolCallPart
from kimi_tui.frontend.message_batch import MessageBatch
from kimi_tui.frontend.replay_state import apply_batch
from kimi_tui.frontend.session_state import SessionViewState, reduce
from kimi_tui.frontend.tool_runs import MAX_RUNS
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.display_blocks import TodoItem
from kimi_tui.wire.events import (
    CheckpointCreated,
    ReplayBegin,
    ReplayEnd,
    StatusUpdate,
    StepBegin,
    TodoUpdate,
    ToolResult,
    ToolReturn,
    TurnBegin,
    TurnEnd,
)
from kimi_tui.wire.user_shell import ShellCommandBegin, ShellCommandEnd


def reduce_one_by_one(state: SessionViewState, batch: Sequence[Outgoing], *, now: float) -> SessionViewState:
    for message in MessageBatch(batch).session:
        state = reduce(state, message, now=now)
    return state


def build_turns(count: int, rng: random.Random) -> list[Outgoing]:
    messages: list[Outgoing] = []
    for number in range(count):
        call = ToolCall(f"c{rng.randrange(2 * count)}", FunctionCall("Bash", rng.choice(["", "{"])))
        result = ToolReturn(is_error=rng.random() < 0.2)
        messages += [
            TurnBegin(f"turn {number}"),
            CheckpointCreated(number, f"u{number}", "user", ""),
            StepBegin(1),
        ]
        messages += [ThinkPart("hm"), TextPart("so"), call]
        messages += [ToolCallPart("}")] if rng.random() < 0.3 else []
        messages += [ToolResult(call.id, result)] if rng.random() < 0.9 else []
        messages += [StepBegin(2), TextPart("done"), TurnEnd(steps=2)]
        if rng.random() < 0.05:
            messages += [
                ShellCommandBegin(f"s{number}", "ls", "/"),
                ShellCommandEnd(f"s{number}", 0, "", "/"),
            ]
        if rng.random() < 0.05:
            messages.append(StatusUpdate(context_tokens=number))
    return messages


@pytest.mark.parametrize("seed", range(3))
def test_a_replay_has_the_same_result_as_reducing_one_by_one(seed: int) -> None:
    rng = random.Random(seed)
    batch = [
        *(TodoUpdate((TodoItem("tests", "done"),)), *build_turns(2, rng), ReplayBegin()),
        *build_turns(rng.choice([0, 7, MAX_RUNS + 50]), rng),
        *(ReplayEnd(), StatusUpdate(context_tokens=9), *build_turns(1, rng)[:-3]),
        *(ReplayBegin(anew=True), *build_turns(3, rng), ReplayEnd(), TurnBegin("and now?")),
    ]
    state = SessionViewState()
    for cut in (rng.randrange(len(batch)), len(batch)):  # it may arrive in several batches
        arrived, batch = batch[:cut], batch[cut:]
        in_one_go = apply_batch(state, MessageBatch(arrived).session, now=7.0)
        state = reduce_one_by_one(state, arrived, now=7.0)
        assert in_one_go == state


def test_earlier_turns_cost_almost_nothing() -> None:
    batch = [ReplayBegin(), *build_turns(3 * MAX_RUNS, random.Random(1)), ReplayEnd()]
    messages = MessageBatch(batch).session
    batch_time = min(
        measure_cpu_seconds(lambda: apply_batch(SessionViewState(), messages, now=0.0)) for _ in range(2)
    )
    assert batch_time < measure_cpu_seconds(lambda: reduce_one_by_one(SessionViewState(), batch, now=0.0)) / 3


def measure_cpu_seconds(work: Callable[[], object]) -> float:
    started_at = time.thread_time()
    work()
    return time.thread_time() - started_at
