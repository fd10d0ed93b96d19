"""Values: what is passed around and never changed, at a cost that start-up and each token can bear."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, TypeVar, dataclass_transform, get_origin, overload

C = TypeVar("C")

_WORKED_OUT = ("__init__", "__match_args__", "__dataclass_fields__", "__dataclass_params__")
"""What `dataclass` makes of the annotations."""


@overload
def value(cls: type[C], /) -> type[C]: ...
@overload
def value(*, kw_only: bool) -> Callable[[type[C]], type[C]]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def value(cls: type[C] | None = None, /, *, kw_only: bool = False) -> Any:
    """Make a class a slotted dataclass whose fields are assigned once.

    The type checker sees to that, not the interpreter: `dataclass(frozen=True)` compiles seven methods,
    which the first frame would wait for, and makes each streamed part dearer. Equality, hash and repr are
    shared functions for the same reason, and what `dataclass` adds is added when it is first asked for: most
    of the Wire's vocabulary is not spoken before the first frame.
    """
    return _slotted(cls, kw_only) if cls is not None else lambda made: _slotted(made, kw_only)


class _Late:
    """A member of a value's class that stands for itself until somebody asks for it."""

    def __init__(self, draft: type, kw_only: bool) -> None:
        self._draft = draft
        self._kw_only = kw_only

    def __set_name__(self, owner: type, name: str) -> None:
        self._owner = owner
        self._name = name

    def __get__(self, instance: Any, of: type) -> Any:
        # On a copy, since `dataclass` changes what it is given and two threads may ask at once.
        copy = type(self._draft)(self._draft.__name__, self._draft.__bases__, _namespace(self._draft))
        whole: Any = dataclass(repr=False, eq=False, kw_only=self._kw_only)(copy)
        for name in _WORKED_OUT:
            setattr(self._owner, name, getattr(whole, name))
        made = vars(self._owner)[self._name]
        # What this stands for binds itself: `inspect.signature` asks for a class's `__init__` as if the class
        # were an instance, from Python 3.13 on.
        return made.__get__(instance, of) if hasattr(made, "__get__") else made


def _slotted(draft: type, kw_only: bool) -> type:
    body = _namespace(draft)
    names = tuple(name for name, kind in draft.__annotations__.items() if not _is_of_class(kind))
    for name in names:
        body.pop(name, None)
    shared: dict[str, Any] = {"__eq__": _equal, "__hash__": _hash, "__repr__": _repr}
    late = {name: _Late(draft, kw_only) for name in _WORKED_OUT}
    return type(draft)(draft.__name__, draft.__bases__, {**shared, **body, **late, "__slots__": names})


def _namespace(draft: type) -> dict[str, Any]:
    own = {name: item for name, item in vars(draft).items() if name not in ("__dict__", "__weakref__")}
    return {**own, "__qualname__": draft.__qualname__}


def _is_of_class(kind: Any) -> bool:
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
