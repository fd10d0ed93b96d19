"""What it costs to open a long session, against merely parsing its lines."""

import json
import time
from collections.abc import Callable

from kimi_tui.base.encoding import to_json
from kimi_tui.base.message import user_message
from kimi_tui.history.loading import load
from kimi_tui.history.notation import encode
from kimi_tui.history.records import Checkpoint, Pending, Usage
from tests.history.words import asks, gives, says

TURNS = 1000


def records():
    """Turns of two steps, as the soul writes them."""
    for turn in range(TURNS):
        step, result = asks("I look at it " * 20, "a"), gives("a", 'a line with "quotes"\n' * 40)
        yield Checkpoint(
            id=3 * turn, uid=f"u{3 * turn}", parent=f"u{3 * turn - 1}", kind="user", label="fix it"
        )
        yield user_message("fix it, please " * 20)
        yield Checkpoint(id=3 * turn + 1, uid=f"u{3 * turn + 1}", parent=f"u{3 * turn}", label="step 1")
        yield from (Pending(to_json(step)), Pending(to_json(result)), step, Usage(turn), result)
        yield Checkpoint(id=3 * turn + 2, uid=f"u{3 * turn + 2}", parent=f"u{3 * turn + 1}", label="step 2")
        yield from (says("it is done " * 20), Usage(turn))


def cpu_seconds(work: Callable[[], object]) -> float:
    """The least CPU time of a few tries."""
    times = []
    for _ in range(5):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return min(times)


def test_opening_a_session_costs_little_more_than_parsing_its_lines(context_file):
    context_file.parent.mkdir()
    context_file.write_bytes(b"".join(encode(record) for record in records()))
    lines = context_file.read_bytes().splitlines()
    assert len(load(context_file).line.history) == 4 * TURNS
    parsing = cpu_seconds(lambda: [json.loads(line) for line in lines])
    assert cpu_seconds(lambda: load(context_file)) < 3 * parsing
