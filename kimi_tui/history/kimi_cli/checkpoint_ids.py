"""Renumbering of checkpoints on branches: Kimi CLI numbers the checkpoints of each file from 0.

Checkpoints up to the point where a rotated file differs from the current branch are the same and keep their
ids. Later ones get unused ids, so that the timeline shows them. A `_repair` record reserves these ids.
"""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kimi_tui.history.record_codec import role_of


def renumber_branches(current: Path, branches: list[Path]) -> None:
    """Renumber the checkpoints of `branches` where they differ from those of `current`. Raises OSError."""
    files = {path: path.read_bytes().split(b"\n") for path in (current, *branches)}
    next_id = 1 + max((number for lines in files.values() for number in _checkpoint_ids(lines)), default=-1)
    shared = set(_checkpoint_digests(files[current]).values())
    first = next_id
    for path in branches:
        lines = files[path]
        for index, content_digest in _checkpoint_digests(lines).items():
            record = _parse_checkpoint(lines[index])
            if content_digest not in shared and record is not None:
                lines[index] = json.dumps({**record, "id": next_id, "uid": f"checkpoint-{next_id}"}).encode()
                next_id += 1
        path.write_bytes(b"\n".join(lines))
    if next_id > first:
        newline = b"" if not files[current][-1] else b"\n"
        with current.open("ab") as file:
            file.write(
                newline + json.dumps({"role": "_repair", "found": [], "next_id": next_id}).encode() + b"\n"
            )


def _checkpoint_ids(lines: list[bytes]) -> Iterator[int]:
    for line in lines:
        record = _parse_checkpoint(line)
        if record is not None:
            yield record["id"]


def _checkpoint_digests(lines: list[bytes]) -> dict[int, bytes]:
    """Return, by line index of each checkpoint, a digest of all content up to the next checkpoint."""
    digests: dict[int, bytes] = {}
    digest, at = hashlib.sha256(), None
    for index, line in enumerate([*lines, None]):
        if line is None or _parse_checkpoint(line) is not None:
            if at is not None:
                digests[at] = digest.digest()
            at = index
        if line is not None and line.strip():
            digest.update(line.strip() + b"\n")
    return digests


def _parse_checkpoint(line: bytes) -> dict[str, Any] | None:
    """Return the record in a line if it is a checkpoint."""
    if role_of(line) != "_checkpoint":
        return None
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) and isinstance(record.get("id"), int) else None
