"""A long replay leaves what taking it in message by message would leave, at a fraction of the cost."""

import random
import time
from collections.abc import Callable, Sequence

import pytest

from kimi_tui.base.content import TextPart, ThinkPart
from kimi_tui.base.message import FunctionCall, ToolCall, ToolCallPart
from kimi_tui.tui.catching_up import apply_all
from kimi_tui.tui.state import ScreenState, apply
from kimi_tui.tui.tool_runs import KEPT
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.display import TodoItem
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
from kimi_tui.wire.shell import ShellCommandBegin, ShellCommandEnd


def one_by_one(state: ScreenState, batch: Sequence[Outgoing], *, now: float) -> ScreenState:
    for message in batch:
        state = apply(state, message, now=now)
    return state


def turns(count: int, chance: random.Random) -> list[Outgoing]:
    told: list[Outgoing] = []
    for number in range(count):
        call = ToolCall(f"c{chance.randrange(2 * count)}", FunctionCall("Bash", chance.choice(["", "{"])))
        result = ToolReturn(is_error=chance.random() < 0.2)
        told += [
            TurnBegin(f"turn {number}"),
            CheckpointCreated(number, f"u{number}", "user", ""),
            StepBegin(1),
        ]
        told += [ThinkPart("hm"), TextPart("so"), call]
        told += [ToolCallPart("}")] if chance.random() < 0.3 else []
        told += [ToolResult(call.id, result)] if chance.random() < 0.9 else []
        told += [StepBegin(2), TextPart("done"), TurnEnd(steps=2)]
        if chance.random() < 0.05:
            told += [ShellCommandBegin(f"s{number}", "ls", "/"), ShellCommandEnd(f"s{number}", 0, "", "/")]
        if chance.random() < 0.05:
            told.append(StatusUpdate(context_tokens=number))
    return told


@pytest.mark.parametrize("seed", range(3))
def test_a_replay_leaves_what_its_messages_would_leave_one_by_one(seed: int) -> None:
    chance = random.Random(seed)
    batch = [
        *(TodoUpdate((TodoItem("tests", "done"),)), *turns(2, chance), ReplayBegin()),
        *turns(chance.choice([0, 7, KEPT + 50]), chance),
        *(ReplayEnd(), StatusUpdate(context_tokens=9), *turns(1, chance)[:-3]),
        *(ReplayBegin(anew=True), *turns(3, chance), ReplayEnd(), TurnBegin("and now?")),
    ]
    state = ScreenState()
    for cut in (chance.randrange(len(batch)), len(batch)):  # it may come in several batches
        arrived, batch = batch[:cut], batch[cut:]
        assert apply_all(state, arrived, now=7.0) == (state := one_by_one(state, arrived, now=7.0))


def test_the_turns_before_the_last_ones_cost_next_to_nothing() -> None:
    batch = [ReplayBegin(), *turns(3 * KEPT, random.Random(1)), ReplayEnd()]
    caught_up = min(cpu_seconds(lambda: apply_all(ScreenState(), batch, now=0.0)) for _ in range(2))
    assert caught_up < cpu_seconds(lambda: one_by_one(ScreenState(), batch, now=0.0)) / 3


def cpu_seconds(work: Callable[[], object]) -> float:
    began = time.thread_time()
    work()
    return time.thread_time() - began
