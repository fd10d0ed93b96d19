"""Steps: the records that write a step of the model's down, and those that tell of it before its end."""

from collections.abc import Sequence

from kimi_tui.base.message import Message
from kimi_tui.history.conversation import exchange
from kimi_tui.history.line import Line
from kimi_tui.history.notation import written
from kimi_tui.history.records import Pending, Record, Usage


def step_records(line: Line, messages: Sequence[Message], token_count: int | None) -> list[Record]:
    """What writes a step down at the end of `line`: the model's message, its tools' results, what follows.

    A call without a result gets the one that was noted, else one that says it was interrupted. Raises
    ValueError for a result that no call awaits.
    """
    said, *others = messages
    if said.role != "assistant" or any(other.role == "assistant" for other in others):
        raise ValueError("a step begins with the model's message, and has one")
    results = [message for message in others if message.role == "tool"]
    noted = list(line.step.results) if line.step is not None else []
    said, *results = exchange(said, results, finished=noted)
    records: list[Record] = [said, *results, *(other for other in others if other.role != "tool")]
    if token_count is not None:
        records.insert(1, Usage(token_count))
    before = [] if line.step is not None else line.unfinished()
    return [*before, *records]


def pending_records(line: Line, message: Message) -> list[Record]:
    """What notes a message of the step under way at the end of `line`; nothing when it comes too late."""
    if message.role not in {"assistant", "tool"}:
        raise ValueError(f"a step has no {message.role} message of its own")
    before: list[Message] = []
    if message.role == "assistant":
        before = line.unfinished()
    elif line.step is None or not line.step.has_call_of(message):
        return []
    _, data = written(message)
    return [*before, Pending(data.rstrip())]
