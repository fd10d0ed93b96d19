"""Random histories of a file: each line is attributed to who wrote it. `make faults` runs 1,000 of them."""

import os
from collections import Counter
from pathlib import Path

import pytest

from kimi_tui.history.line_origins.line_tracer import LineOrigin, LineTracer
from tests.history.line_origins.random_history import USERS, RandomHistory

HISTORIES = int(os.environ.get("KIMI_TUI_LINE_HISTORIES", "20"))
STEPS = 25
LEAST_RIGHT = 0.995
PER_TEST = 20 if HISTORIES <= 100 else 250
"""Few histories have too few lines for a share of 0.5 % of them to mean much."""


def owners_of(origin: LineOrigin) -> set[str]:
    """Return the call that wrote a line, or `USERS`; both if a scan found it after a command."""
    author = origin.version.author
    if author is not None and author.who == "call" and author.began and origin.is_known:
        return {author.call, USERS}
    return {USERS} if origin.is_users or author is None else {author.call}


@pytest.mark.parametrize("first", range(0, HISTORIES, PER_TEST))
def test_lines_are_attributed_to_those_who_wrote_them(first: int, tmp_path: Path):
    counts: Counter[str] = Counter()
    by_hand: list[str] = []
    for seed in range(first, min(first + PER_TEST, HISTORIES)):
        folder = tmp_path / str(seed)
        folder.mkdir()
        history = RandomHistory(folder, seed)
        history.run(STEPS)
        tracer = LineTracer(history.project.store.manifests, history.project.store.blobs)
        origins = tracer.trace(history.path, history.head)
        assert len(origins) == len(history.content)
        for number, line in enumerate(history.content):
            found = owners_of(origins[number])
            is_right = line.owner in found or not found.isdisjoint(line.possible)
            counts["right" if is_right else "wrong"] += 1
            if not is_right and line.owner == USERS and line.text.strip() and not line.possible:
                by_hand.append(f"history {seed}, line {number + 1} {line.text!r}: {found}, {history.log}")
        history.close()
    total = counts.total()
    assert not by_hand, f"written by hand, but attributed to the agent: {by_hand}"
    assert counts["right"] >= LEAST_RIGHT * total, f"{counts['wrong']} of {total} lines are wrong"
