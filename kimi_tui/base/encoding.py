"""JSON to and from the frozen dataclasses of `base` and `wire`.

One pydantic TypeAdapter a type, built at its first use: defining a message costs nothing at start-up, and
pydantic itself is imported with the first adapter.
"""

from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from pydantic import TypeAdapter

T = TypeVar("T")


_adapters: dict[Any, "TypeAdapter[Any]"] = {}


def _adapter(of: Any) -> "TypeAdapter[Any]":
    known = _adapters.get(of)
    if known is None:
        from pydantic import TypeAdapter

        known = _adapters[of] = TypeAdapter(of)
    return known


def prepare(*types: Any) -> None:
    """Build what values of these types need: a few milliseconds each, which their first use then saves."""
    for of in types:
        _adapter(of)


def to_jsonable(value: Any, *, as_type: Any = None) -> Any:
    """`value` as JSON values; fields that are None are left out."""
    return _adapter(as_type or type(value)).dump_python(value, mode="json", exclude_none=True)


def to_json(value: Any, *, as_type: Any = None) -> bytes:
    """`value` as one line of UTF-8 JSON; fields that are None are left out."""
    return _adapter(as_type or type(value)).dump_json(value, exclude_none=True)


def from_jsonable(of: type[T], value: Any) -> T:
    """`value` as an `of`; unknown fields are ignored. Raises pydantic.ValidationError."""
    return cast("T", _adapter(of).validate_python(value))


def from_json(of: type[T], data: bytes) -> T:
    """The JSON text `data` as an `of`; unknown fields are ignored. Raises pydantic.ValidationError."""
    return cast("T", _adapter(of).validator.validate_json(data))  # past what looks at options
