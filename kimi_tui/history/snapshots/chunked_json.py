"""Large JSON documents in chunks, one per line, since the JSON codec blocks all other threads."""

import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from types import MappingProxyType
from typing import Any

MAX_ITEMS = 2000
"""Maximum number of items per chunk of a mapping."""
_DEFLATED_BYTES = 1 << 15
_INFLATED_BYTES = 1 << 18
"""Maximum numbers of bytes before and after decompression, for each step."""


def encode_lines(record: Mapping[str, Any]) -> Iterator[bytes]:
    """Yield `record` as objects, one per line, in ASCII. Large mappings span several lines."""
    small = {name: value for name, value in record.items() if not _is_large(value)}
    yield encode_compact(small)
    for name in record.keys() - small.keys():
        for chunk in chunks(record[name]):
            yield b"\n"
            yield encode_compact({name: chunk})


def decode(
    lines: Iterable[bytes], parsers: Mapping[str, Callable[[Any], dict[str, Any]]] = MappingProxyType({})
) -> dict[str, Any]:
    """Return the record that `encode_lines` split into `lines`. Raises ValueError and any error of `lines`.

    `parsers` convert mappings by name, chunk by chunk, and raise ValueError or TypeError.
    """
    record: dict[str, Any] = {}
    for line in lines:
        for name, value in json.loads(line).items():
            parsed = parsers[name](value) if name in parsers else value
            if isinstance(parsed, dict) and name in record:
                record[name].update(parsed)
            else:
                record[name] = parsed
    return record


def inflate_lines(data: bytes) -> Iterator[bytes]:
    """Yield the lines of zlib-compressed `data`, without holding all of them in memory. Raises zlib.error."""
    decompressor = zlib.decompressobj()
    line: list[bytes] = []
    for part in _inflate(decompressor, memoryview(data)):
        first, *others = part.split(b"\n")
        line.append(first)
        for following in others:
            yield b"".join(line)
            line = [following]
    if not decompressor.eof:
        raise zlib.error("incomplete data")
    yield b"".join(line)


def _inflate(decompressor: "zlib._Decompress", data: memoryview) -> Iterator[bytes]:
    for start in range(0, len(data), _DEFLATED_BYTES):
        rest: bytes | memoryview = data[start : start + _DEFLATED_BYTES]
        while rest:
            yield decompressor.decompress(rest, _INFLATED_BYTES)
            rest = decompressor.unconsumed_tail
    yield decompressor.flush()


def split_lines(data: bytes) -> Iterator[bytes]:
    """Yield the lines of `data`, without a copy of all of them."""
    start = 0
    while (end := data.find(b"\n", start)) >= 0:
        yield data[start:end]
        start = end + 1
    yield data[start:]


def chunks(mapping: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the items in mappings of up to MAX_ITEMS. An empty mapping yields one empty chunk."""
    items = iter(mapping.items())
    yield dict(islice(items, MAX_ITEMS))
    while chunk := dict(islice(items, MAX_ITEMS)):
        yield chunk


def encode_compact(value: Any) -> bytes:
    """Return `value` as one line."""
    return json.dumps(value, separators=(",", ":")).encode("ascii")


def _is_large(value: Any) -> bool:
    return isinstance(value, dict) and len(value) > MAX_ITEMS
