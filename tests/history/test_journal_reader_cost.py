"""CPU cost of reading a long journal, relative to parsing its lines."""

import json
import time
from collections.abc import Callable

from kimi_tui.base.json_codec import to_json
from kimi_tui.base.message import user_message
from kimi_tui.history.journal_reader import read_journal
from kimi_tui.history.record_codec import encode
from kimi_tui.history.records import Checkpoint, PendingRecord, UsageRecord
from tests.history.messages import assistant_calls, assistant_message, tool_result

TURNS = 1000


def records():
    """Yield turns of two steps, as written by the soul."""
    for turn in range(TURNS):
        step, result = (
            assistant_calls("I look at it " * 20, "a"),
            tool_result("a", 'a line with "quotes"\n' * 40),
        )
        yield Checkpoint(
            id=3 * turn, uid=f"u{3 * turn}", parent=f"u{3 * turn - 1}", kind="user", label="fix it"
        )
        yield user_message("fix it, please " * 20)
        yield Checkpoint(id=3 * turn + 1, uid=f"u{3 * turn + 1}", parent=f"u{3 * turn}", label="step 1")
        yield from (
            PendingRecord(to_json(step)),
            PendingRecord(to_json(result)),
            step,
            UsageRecord(turn),
            result,
        )
        yield Checkpoint(id=3 * turn + 2, uid=f"u{3 * turn + 2}", parent=f"u{3 * turn + 1}", label="step 2")
        yield from (assistant_message("it is done " * 20), UsageRecord(turn))


def cpu_seconds(work: Callable[[], object]) -> float:
    """Return the minimum CPU time of several runs."""
    times = []
    for _ in range(5):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def test_reading_a_journal_costs_at_most_three_times_as_much_as_parsing_its_lines(context_file):
    context_file.parent.mkdir()
    context_file.write_bytes(b"".join(encode(record) for record in records()))
    lines = context_file.read_bytes().splitlines()
    assert len(read_journal(context_file).state.history) == 4 * TURNS
    parsing = cpu_seconds(lambda: [json.loads(line) for line in lines])
    assert cpu_seconds(lambda: read_journal(context_file)) < 3 * parsing
