"""Catching up: a batch taken into the screen's state, in which a long replay costs what is left of it."""

from collections.abc import Sequence
from dataclasses import replace

from kimi_tui.base.content import AudioURLPart, ImageURLPart, TextPart, ThinkPart, VideoURLPart
from kimi_tui.base.message import ToolCall, ToolCallPart
from kimi_tui.tui.state import ScreenState, apply
from kimi_tui.tui.tool_runs import KEPT, ToolRuns
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.events import (
    CheckpointCreated,
    ReplayBegin,
    ReplayEnd,
    SteerInput,
    StepBegin,
    ToolResult,
    TurnBegin,
    TurnEnd,
)

_PASSING = frozenset(
    {
        TurnBegin,
        TurnEnd,
        StepBegin,
        SteerInput,
        TextPart,
        ThinkPart,
        ImageURLPart,
        AudioURLPart,
        VideoURLPart,
        ToolCall,
        ToolCallPart,
        ToolResult,
        CheckpointCreated,
    }
)
"""Messages of which a later turn leaves nothing but the tool calls."""


def apply_all(state: ScreenState, batch: Sequence[Outgoing], *, now: float) -> ScreenState:
    """`state` after all of `batch`, which arrived at `now`."""
    start = 0
    while (replay := _next_replay(batch, start)) is not None:
        begin, end = replay
        state = _applied(state, batch[start:begin], now=now)
        state = _caught_up(state, batch[begin:end], now=now)
        start = end
    return _applied(state, batch[start:], now=now)


def _applied(state: ScreenState, messages: Sequence[Outgoing], *, now: float) -> ScreenState:
    for message in messages:
        state = apply(state, message, now=now)
    return state


def _next_replay(batch: Sequence[Outgoing], start: int) -> tuple[int, int] | None:
    """Where the next replay that is whole has its first message, and its end."""
    begin = next((at for at in range(start, len(batch)) if type(batch[at]) is ReplayBegin), None)
    if begin is None:
        return None
    end = next((at for at in range(begin, len(batch)) if type(batch[at]) is ReplayEnd), None)
    return None if end is None else (begin + 1, end)


def _caught_up(state: ScreenState, replay: Sequence[Outgoing], *, now: float) -> ScreenState:
    """`state` after a replay. Of all turns but the last one the latest calls are all that is left."""
    last = next((at for at in reversed(range(len(replay))) if type(replay[at]) is TurnBegin), 0)
    earlier = replay[:last]
    state = replace(state, runs=_runs_after(state.runs, earlier, now=now))
    lasting = [message for message in earlier if type(message) not in _PASSING]
    return _applied(state, [*lasting, *replay[last:]], now=now)


def _runs_after(runs: ToolRuns, messages: Sequence[Outgoing], *, now: float) -> ToolRuns:
    for message in messages[_start_of_latest_runs(messages) :]:
        match message:
            case ToolCall():
                runs = runs.begun(message, now=None)
            case ToolCallPart():
                runs = runs.fed(message)
            case ToolResult():
                runs = runs.ended(message, now=now)
            case TurnEnd():
                runs = runs.stopped()
            case _:
                continue
    return runs


def _start_of_latest_runs(messages: Sequence[Outgoing]) -> int:
    """Where the turn begins from which on there are as many calls as are remembered."""
    calls = 0
    for at in reversed(range(len(messages))):
        calls += type(messages[at]) is ToolCall
        if calls >= KEPT and type(messages[at]) is TurnBegin:
            return at
    return 0
