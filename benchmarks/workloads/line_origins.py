"""Who wrote a line: in a session of 10,000 checkpoints, with its prompt from the journal.

The files and the journal are written directly, as a session would have left them: each checkpoint changes
one of 100 files of 1,000 lines. The first question also builds the index of the paths.
"""

import json
import random
import tempfile
import time
from pathlib import Path

from benchmarks.figure import Figure, percentile
from benchmarks.scale import Scale
from kimi_tui.engine.why.journal_step import find_step
from kimi_tui.history.line_origins.line_tracer import LineTracer
from kimi_tui.history.snapshots.attribution import USER, ChangeAuthor
from kimi_tui.history.snapshots.blob_store import BlobStore
from kimi_tui.history.snapshots.entry import Entry
from kimi_tui.history.snapshots.manifest import ManifestLog

WORKLOAD = "line origins"
_FILES = 100
_LINES = 1_000
_TARGET_MS = 100
_QUERIES = 40


def measure(scale: Scale) -> list[Figure]:
    """Measure the time until the prompt behind a line is known."""
    n_checkpoints = scale.choose(10_000, 10_000, 300)
    with tempfile.TemporaryDirectory(prefix="kimi-tui-bench-") as folder:
        head = _write_history(Path(folder), n_checkpoints)
        durations = _ask(Path(folder), head)
    return [
        Figure(
            WORKLOAD,
            f"prompt behind a line, {n_checkpoints:,} checkpoints, p95",
            round(percentile(durations[1:], 0.95) * 1000, 1),
            "ms",
            target=_TARGET_MS,
        ),
        Figure(WORKLOAD, "the same, first question", round(durations[0] * 1000, 1), "ms"),
    ]


def _write_history(folder: Path, n_checkpoints: int) -> str:
    """Write the states and the journal. Return the last state."""
    choose = random.Random(1)
    blobs, manifests = BlobStore(folder), ManifestLog(folder / "manifests", "session")
    contents = {
        f"src/file{number}.py": [f"line {line}" for line in range(_LINES)] for number in range(_FILES)
    }
    entries = {path: _store(blobs, lines) for path, lines in contents.items()}
    head = manifests.append(None, USER, entries, {})
    with (folder / "context.jsonl").open("w") as journal:
        for number in range(n_checkpoints):
            path = choose.choice(list(contents))
            lines, at = contents[path], choose.randrange(_LINES)
            lines[at : at + 3] = [f"value_{number}_{offset} = {offset}" for offset in range(3)]
            changes = {path: _store(blobs, lines)}
            author = ChangeAuthor(who="call", session="session", call=f"call-{number}", tool="EditFile")
            head = manifests.append(head, author, changes, entries)
            entries |= changes
            journal.writelines(f"{json.dumps(record)}\n" for record in _step(number, lines[at]))
    return head


def _store(blobs: BlobStore, lines: list[str]) -> Entry:
    content = "".join(f"{line}\n" for line in lines).encode()
    return Entry("file", 0o644, len(content), blobs.put(content))


def _step(number: int, text: str) -> list[dict[str, object]]:
    """Return the records of a step, in a turn of ten steps."""
    is_first = number % 10 == 0
    kind = "user" if is_first else "step"
    records: list[dict[str, object]] = [
        {"role": "_checkpoint", "id": number, "uid": f"u{number}", "time": float(number), "kind": kind}
    ]
    if is_first:
        records.append({"role": "user", "content": f"Change number {number}"})
    function = {"name": "EditFile", "arguments": json.dumps({"path": "a", "new": text * 20})}
    call = {"id": f"call-{number}", "type": "function", "function": function}
    records.append({"role": "assistant", "content": "Editing. " * 20, "tool_calls": [call]})
    records.append({"role": "tool", "content": "Edited. " * 40, "tool_call_id": f"call-{number}"})
    return records


def _ask(folder: Path, head: str) -> list[float]:
    """Return the durations of questions, each from a cold start."""
    choose = random.Random(2)
    durations = []
    for _ in range(_QUERIES):
        path, line = f"src/file{choose.randrange(_FILES)}.py", choose.randrange(_LINES)
        start = time.perf_counter()
        tracer = LineTracer(ManifestLog(folder / "manifests", "session"), BlobStore(folder))
        author = tracer.trace(path, head, [line])[line].version.author
        if author is not None and author.call:
            number = float(author.call.removeprefix("call-"))
            step = find_step(folder / "context.jsonl", author.call, time=number)
            assert step is not None
        durations.append(time.perf_counter() - start)
    return durations
