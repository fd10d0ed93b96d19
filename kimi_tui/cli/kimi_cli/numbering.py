"""Telling the checkpoints of branches from those of the live line: Kimi CLI numbers each file from 0 on.

Where a rotation differs from the live line its checkpoints get numbers that nobody has, so that the timeline
shows them; up to there they are the same moments. A `_repair` record keeps later numbers apart from those.
"""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kimi_tui.history.notation import role_of


def number_branches(live: Path, branches: list[Path]) -> None:
    """Number the checkpoints of `branches` anew where they differ from those of `live`. Raises OSError."""
    files = {path: path.read_bytes().split(b"\n") for path in (live, *branches)}
    fresh = 1 + max((number for lines in files.values() for number in _numbers(lines)), default=-1)
    shared = set(_moments(files[live]).values())
    first = fresh
    for path in branches:
        lines = files[path]
        for index, moment in _moments(lines).items():
            record = _checkpoint(lines[index])
            if moment not in shared and record is not None:
                lines[index] = json.dumps({**record, "id": fresh, "uid": f"checkpoint-{fresh}"}).encode()
                fresh += 1
        path.write_bytes(b"\n".join(lines))
    if fresh > first:
        ended = b"" if not files[live][-1] else b"\n"
        with live.open("ab") as file:
            file.write(
                ended + json.dumps({"role": "_repair", "found": [], "next_id": fresh}).encode() + b"\n"
            )


def _numbers(lines: list[bytes]) -> Iterator[int]:
    for line in lines:
        record = _checkpoint(line)
        if record is not None:
            yield record["id"]


def _moments(lines: list[bytes]) -> dict[int, bytes]:
    """For the line of each checkpoint a digest of all that was said until the next one."""
    found: dict[int, bytes] = {}
    digest, at = hashlib.sha256(), None
    for index, line in enumerate([*lines, None]):
        if line is None or _checkpoint(line) is not None:
            if at is not None:
                found[at] = digest.digest()
            at = index
        if line is not None and line.strip():
            digest.update(line.strip() + b"\n")
    return found


def _checkpoint(line: bytes) -> dict[str, Any] | None:
    """The record in a line, when it is a checkpoint."""
    if role_of(line) != "_checkpoint":
        return None
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) and isinstance(record.get("id"), int) else None
