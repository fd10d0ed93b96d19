"""Values: what is passed around and never changed, at a cost that start-up and each token can bear."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar, dataclass_transform

C = TypeVar("C")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def value(cls: type[C]) -> type[C]:
    """Make `cls` a slotted dataclass whose fields are assigned once.

    The type checker sees to that, not the interpreter: `dataclass(frozen=True)` compiles five methods a class
    that the first frame would wait for, and makes each streamed part dearer. Equality, hash and repr are
    shared functions for the same reason.
    """
    shared: dict[str, Callable[..., Any]] = {"__eq__": _equal, "__hash__": _hash, "__repr__": _repr}
    for name, function in shared.items():
        if name not in cls.__dict__:
            setattr(cls, name, function)
    return dataclass(slots=True, repr=False, eq=False)(cls)


def _equal(self: Any, other: Any) -> Any:
    if self.__class__ is not other.__class__:
        return NotImplemented
    return all(getattr(self, name) == getattr(other, name) for name in self.__slots__)


def _hash(self: Any) -> int:
    return hash((self.__class__, *(getattr(self, name) for name in self.__slots__)))


def _repr(self: Any) -> str:
    fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__slots__)
    return f"{self.__class__.__name__}({fields})"
