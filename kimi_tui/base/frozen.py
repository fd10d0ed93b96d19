"""Immutable dataclasses that are cheap to define and to create."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, TypeVar, dataclass_transform, get_origin, overload

C = TypeVar("C")

_LAZY_MEMBERS = ("__init__", "__match_args__", "__dataclass_fields__", "__dataclass_params__")
"""Members that `dataclass` generates from the annotations."""


@overload
def frozen(cls: type[C], /) -> type[C]: ...
@overload
def frozen(*, kw_only: bool) -> Callable[[type[C]], type[C]]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[C] | None = None, /, *, kw_only: bool = False) -> Any:
    """Make a class a slotted dataclass whose fields are assigned only once.

    The type checker enforces this, not the interpreter: `dataclass(frozen=True)` compiles seven methods,
    which delays the first frame, and makes each streamed part more expensive. For the same reason equality,
    hash and repr are shared functions, and the members that `dataclass` generates are added on first access.
    Most Wire messages aren't used before the first frame.
    """
    return _make_slotted(cls, kw_only) if cls is not None else lambda draft: _make_slotted(draft, kw_only)


class _LazyMember:
    """Descriptor that generates a dataclass member on first access."""

    def __init__(self, draft: type, kw_only: bool) -> None:
        self._draft = draft
        self._kw_only = kw_only

    def __set_name__(self, owner: type, name: str) -> None:
        self._owner = owner
        self._name = name

    def __get__(self, instance: Any, of: type) -> Any:
        # Use a copy: `dataclass` modifies its argument, and two threads may get here at the same time.
        copy = type(self._draft)(self._draft.__name__, self._draft.__bases__, _namespace(self._draft))
        complete: Any = dataclass(repr=False, eq=False, kw_only=self._kw_only)(copy)
        for name in _LAZY_MEMBERS:
            setattr(self._owner, name, getattr(complete, name))
        member = vars(self._owner)[self._name]
        # Bind the generated member: since Python 3.13, `inspect.signature` gets a class's `__init__` as if
        # the class were an instance.
        return member.__get__(instance, of) if hasattr(member, "__get__") else member


def _make_slotted(draft: type, kw_only: bool) -> type:
    body = _namespace(draft)
    names = tuple(name for name, kind in draft.__annotations__.items() if not _is_class_var(kind))
    for name in names:
        body.pop(name, None)
    shared: dict[str, Any] = {"__eq__": _equal, "__hash__": _hash, "__repr__": _repr}
    lazy = {name: _LazyMember(draft, kw_only) for name in _LAZY_MEMBERS}
    return type(draft)(draft.__name__, draft.__bases__, {**shared, **body, **lazy, "__slots__": names})


def _namespace(draft: type) -> dict[str, Any]:
    own = {name: item for name, item in vars(draft).items() if name not in ("__dict__", "__weakref__")}
    return {**own, "__qualname__": draft.__qualname__}


def _is_class_var(kind: Any) -> bool:
    if isinstance(kind, str):
        return kind.startswith(("ClassVar", "typing.ClassVar"))
    return kind is ClassVar or get_origin(kind) is ClassVar


def _equal(self: Any, other: Any) -> Any:
    if self.__class__ is not other.__class__:
        return NotImplemented
    return all(getattr(self, name) == getattr(other, name) for name in self.__slots__)


def _hash(self: Any) -> int:
    return hash((self.__class__, *(getattr(self, name) for name in self.__slots__)))


def _repr(self: Any) -> str:
    shown = ", ".join(f"{item.name}={getattr(self, item.name)!r}" for item in fields(self) if item.repr)
    return f"{self.__class__.__name__}({shown})"
