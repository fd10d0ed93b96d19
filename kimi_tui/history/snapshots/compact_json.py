"""JSON without spaces, in ASCII, made in pieces: the encoder lets no other thread run until it is done."""

import json
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

_AT_ONCE = 2000


def compact_json(record: Mapping[str, Any]) -> bytes:
    """`record` as an object; what is large in it are mappings."""
    fields = (f"{json.dumps(name)}:{_value(value)}" for name, value in record.items())
    return f"{{{','.join(fields)}}}".encode("ascii")


def _value(value: Any) -> str:
    if not isinstance(value, dict) or len(value) <= _AT_ONCE:
        return json.dumps(value, separators=(",", ":"))
    return f"{{{','.join(_pieces(value))}}}"


def _pieces(value: dict[str, Any]) -> Iterator[str]:
    items = iter(value.items())
    while some := dict(islice(items, _AT_ONCE)):
        yield json.dumps(some, separators=(",", ":"))[1:-1]
