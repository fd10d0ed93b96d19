"""Large JSON documents in chunks, one per line, since the JSON codec blocks all other threads."""

import json
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

MAX_ITEMS = 2000
"""Number of a mapping's items per chunk."""


def encode(record: Mapping[str, Any]) -> bytes:
    """Return `record` as objects, one per line, in ASCII. Large mappings span several lines."""
    small = {name: value for name, value in record.items() if not _is_large(value)}
    lines = [encode_compact(small)]
    for name in record.keys() - small.keys():
        lines += (encode_compact({name: chunk}) for chunk in chunks(record[name]))
    return b"\n".join(lines)


def decode(data: bytes) -> dict[str, Any]:
    """Return the record that `encode` wrote. Raises ValueError."""
    record: dict[str, Any] = {}
    for line in data.split(b"\n"):
        for name, value in json.loads(line).items():
            if isinstance(value, dict) and name in record:
                record[name].update(value)
            else:
                record[name] = value
    return record


def chunks(mapping: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the mapping in smaller ones. An empty mapping yields one chunk."""
    items = iter(mapping.items())
    yield dict(islice(items, MAX_ITEMS))
    while chunk := dict(islice(items, MAX_ITEMS)):
        yield chunk


def encode_compact(value: Any) -> bytes:
    """Return `value` as one line."""
    return json.dumps(value, separators=(",", ":")).encode("ascii")


def _is_large(value: Any) -> bool:
    return isinstance(value, dict) and len(value) > MAX_ITEMS
