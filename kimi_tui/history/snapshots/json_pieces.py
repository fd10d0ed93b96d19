"""Large JSON in pieces, one a line: encoder and decoder let no other thread run until they are done."""

import json
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

AT_ONCE = 2000
"""So many of a mapping's items make a piece."""


def encoded(record: Mapping[str, Any]) -> bytes:
    """`record` as objects, one a line, in ASCII: what is large in it are mappings, which span several."""
    small = {name: value for name, value in record.items() if not _is_large(value)}
    lines = [compact(small)]
    for name in record.keys() - small.keys():
        lines += (compact({name: piece}) for piece in pieces(record[name]))
    return b"\n".join(lines)


def decoded(data: bytes) -> dict[str, Any]:
    """The record that `encoded` made lines of. Raises ValueError."""
    record: dict[str, Any] = {}
    for line in data.split(b"\n"):
        for name, value in json.loads(line).items():
            if isinstance(value, dict) and name in record:
                record[name].update(value)
            else:
                record[name] = value
    return record


def pieces(mapping: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The mapping cut into smaller ones; an empty one is a piece, too."""
    items = iter(mapping.items())
    yield dict(islice(items, AT_ONCE))
    while some := dict(islice(items, AT_ONCE)):
        yield some


def compact(value: Any) -> bytes:
    """One line."""
    return json.dumps(value, separators=(",", ":")).encode("ascii")


def _is_large(value: Any) -> bool:
    return isinstance(value, dict) and len(value) > AT_ONCE
