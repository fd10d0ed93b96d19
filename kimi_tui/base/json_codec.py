"""Conversion of the frozen dataclasses of `base` and `wire` to and from JSON.

Each type's pydantic TypeAdapter is built on first use, and the first adapter imports pydantic. So defining a
message costs nothing at startup.
"""

from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from pydantic import TypeAdapter

T = TypeVar("T")


_adapters: dict[Any, "TypeAdapter[Any]"] = {}


def _adapter(of: Any) -> "TypeAdapter[Any]":
    adapter = _adapters.get(of)
    if adapter is None:
        from pydantic import TypeAdapter

        adapter = _adapters[of] = TypeAdapter(of)
    return adapter


def build_codecs(*types: Any) -> None:
    """Build the adapters of these types in advance. Each takes a few milliseconds."""
    for of in types:
        _adapter(of)


def to_jsonable(value: Any, *, as_type: Any = None) -> Any:
    """Return `value` as JSON values. Fields that are None are omitted."""
    return _adapter(as_type or type(value)).dump_python(value, mode="json", exclude_none=True)


def to_json(value: Any, *, as_type: Any = None) -> bytes:
    """Return `value` as one line of UTF-8 JSON. Fields that are None are omitted."""
    return _adapter(as_type or type(value)).dump_json(value, exclude_none=True)


def from_jsonable(of: type[T], value: Any) -> T:
    """Return `value` as an instance of `of`. Unknown fields are ignored. Raises pydantic.ValidationError."""
    return cast("T", _adapter(of).validate_python(value))


def from_json(of: type[T], data: bytes) -> T:
    """Parse the JSON text `data` as an instance of `of`. Unknown fields are ignored.

    Raises pydantic.ValidationError.
    """
    return cast(
        "T", _adapter(of).validator.validate_json(data)
    )  # faster than validate_json, which checks options
