"""A line of the conversation written anew from memory, when its file was deleted or moved."""

import time
from collections.abc import Iterator

from kimi_tui.history.line import Line, Mark
from kimi_tui.history.notation import written
from kimi_tui.history.records import Record, Repair, Usage


def rebuilt(line: Line) -> tuple[Line, list[bytes]]:
    """`line` with its places in a file of its own, and that file's lines after the system prompt's."""
    anew, lines, offset = Line(), list[bytes](), 0
    anew.system_prompt = line.system_prompt
    for record in _records(line):
        clean, data = written(record)
        anew.take(clean, offset=offset)
        lines.append(data)
        offset += len(data)
    return anew, lines


def _records(line: Line) -> Iterator[Record]:
    """Records that make `line`, the system prompt aside."""
    said, counted, reverts = 0, (0, 0), 0
    end = Mark(0, len(line.history), line.token_count, line.counted, len(line.reverts))
    for mark, checkpoint in (*zip(line.marks, line.checkpoints, strict=True), (end, None)):
        if (mark.token_count, mark.counted) != counted:
            counted = (mark.token_count, mark.counted)
            yield from line.history[said : mark.counted]
            said = max(said, mark.counted)
            yield Usage(mark.token_count)
        yield from line.history[said : mark.messages]
        said = mark.messages
        yield from line.reverts[reverts : mark.reverts]
        reverts = mark.reverts
        if checkpoint is not None:
            yield checkpoint
    yield Repair(next_id=line.next_id, time=time.time())
    if line.step is not None:
        yield from line.step.notes()
