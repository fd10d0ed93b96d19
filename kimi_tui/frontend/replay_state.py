"""Applies batches of messages to the session state. Skips replayed messages without a lasting effect."""

from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

from kimi_tui.base.message import ToolCall, ToolCallPart
from kimi_tui.frontend.message_batch import SessionMessage
from kimi_tui.frontend.session_state import SessionViewState, reduce
from kimi_tui.frontend.tool_runs import MAX_RUNS, ToolRuns
from kimi_tui.wire.events import (
    CallEvent,
    ContentEvent,
    ReplayBegin,
    ReplayEnd,
    StepRetry,
    ToolResult,
    TurnBegin,
    TurnEnd,
    TurnEvent,
)

_TRANSIENT = frozenset(get_args(ContentEvent | CallEvent | TurnEvent)) - {StepRetry}
"""Messages that leave only tool calls in the state after later turns."""


def apply_batch(state: SessionViewState, batch: Sequence[SessionMessage], *, now: float) -> SessionViewState:
    """Return `state` after all messages of `batch`, which arrived at `now`."""
    start = 0
    while (replay := _find_next_replay(batch, start)) is not None:
        begin, end = replay
        state = _reduce_all(state, batch[start:begin], now=now)
        state = _apply_replay(state, batch[begin:end], now=now)
        start = end
    return _reduce_all(state, batch[start:], now=now)


def _reduce_all(
    state: SessionViewState, messages: Sequence[SessionMessage], *, now: float
) -> SessionViewState:
    for message in messages:
        state = reduce(state, message, now=now)
    return state


def _find_next_replay(batch: Sequence[SessionMessage], start: int) -> tuple[int, int] | None:
    """Return the index of the first message of the next complete replay, and the index of its end."""
    begin = next((i for i in range(start, len(batch)) if type(batch[i]) is ReplayBegin), None)
    if begin is None:
        return None
    end = next((i for i in range(begin, len(batch)) if type(batch[i]) is ReplayEnd), None)
    return None if end is None else (begin + 1, end)


def _apply_replay(
    state: SessionViewState, replay: Sequence[SessionMessage], *, now: float
) -> SessionViewState:
    """Return `state` after a replay. Of all turns but the last, only the latest tool calls remain."""
    last = next((i for i in reversed(range(len(replay))) if type(replay[i]) is TurnBegin), 0)
    earlier = replay[:last]
    state = replace(state, tool_runs=_runs_after(state.tool_runs, earlier, now=now))
    lasting = [message for message in earlier if type(message) not in _TRANSIENT]
    return _reduce_all(state, [*lasting, *replay[last:]], now=now)


def _runs_after(runs: ToolRuns, messages: Sequence[SessionMessage], *, now: float) -> ToolRuns:
    for message in messages[_find_latest_runs_start(messages) :]:
        match message:
            case ToolCall():
                runs = runs.begin_call(message, now=None)
            case ToolCallPart():
                runs = runs.append_arguments(message)
            case ToolResult():
                runs = runs.end_call(message, now=now)
            case TurnEnd():
                runs = runs.stop_running()
            case _:
                continue
    return runs


def _find_latest_runs_start(messages: Sequence[SessionMessage]) -> int:
    """Return the index of the latest turn start that at least `MAX_RUNS` tool calls follow, or 0."""
    calls = 0
    for index in reversed(range(len(messages))):
        calls += type(messages[index]) is ToolCall
        if calls >= MAX_RUNS and type(messages[index]) is TurnBegin:
            return index
    return 0
