"""Large JSON documents in chunks, one per line, since the JSON codec blocks all other threads."""

import json
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from types import MappingProxyType
from typing import Any

MAX_ITEMS = 2000
"""Number of a mapping's items per chunk."""


def encode_lines(record: Mapping[str, Any]) -> Iterator[bytes]:
    """Yield `record` as objects, one per line, in ASCII. Large mappings span several lines."""
    small = {name: value for name, value in record.items() if not _is_large(value)}
    yield encode_compact(small)
    for name in record.keys() - small.keys():
        for chunk in chunks(record[name]):
            yield b"\n"
            yield encode_compact({name: chunk})


def decode(
    data: bytes, parsers: Mapping[str, Callable[[Any], dict[str, Any]]] = MappingProxyType({})
) -> dict[str, Any]:
    """Return the record that `encode_lines` wrote. Raises ValueError.

    `parsers` convert mappings by name, chunk by chunk, and raise ValueError or TypeError.
    """
    record: dict[str, Any] = {}
    for line in split_lines(data):
        for name, value in json.loads(line).items():
            parsed = parsers[name](value) if name in parsers else value
            if isinstance(parsed, dict) and name in record:
                record[name].update(parsed)
            else:
                record[name] = parsed
    return record


def split_lines(data: bytes) -> Iterator[bytes]:
    """Yield the lines of `data`, without a copy of all of them."""
    start = 0
    while (end := data.find(b"\n", start)) >= 0:
        yield data[start:end]
        start = end + 1
    yield data[start:]


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
