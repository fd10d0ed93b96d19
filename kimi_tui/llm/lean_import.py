"""Lean imports: an SDK without the hundreds of modules that its packages would bring along.

The SDKs have a module for each type of their API, and packages whose `__init__` does nothing but hand on the
names of those. Imported here, such a package brings a module when one of its names is asked for, and not
before; one whose `__init__` does anything else is imported as ever. That is half the CPU of `import openai`.
"""

import re
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import resolve_name
from pathlib import Path
from types import ModuleType
from typing import Any

_FUTURE = "from __future__ import annotations"
_COMMENT = re.compile(r"#.*")
_IMPORT = re.compile(r"^from (\.+[\w.]*) import (?:\(([\w\s,]*)\)|([\w ,]*))$", re.MULTILINE)

Names = dict[str, tuple[str, str]]
"""A package's names: of which module, relative to the package, each is, and its name there."""


def import_lean(name: str) -> ModuleType:
    """The package `name`, with as few of its modules as it needs. Raises ImportError."""
    if name in sys.modules:
        return sys.modules[name]
    finder = _Finder(name)
    sys.meta_path.insert(0, finder)
    try:
        return import_module(name)
    except (ImportError, AttributeError):  # its modules may need each other in the order of its `__init__`
        for known in [known for known in sys.modules if known == name or known.startswith(f"{name}.")]:
            del sys.modules[known]
    finally:
        sys.meta_path.remove(finder)
    return import_module(name)


def handed_on(source: str) -> Names | None:
    """The names that the `__init__` of a package hands on; None when it does anything else.

    A name that is a module's as well is something else: whoever imports that module would put it there.
    """
    names: Names = {}

    def take(found: re.Match[str]) -> str:
        for item in (found[2] or found[3]).split(","):
            if words := item.split():
                names[words[-1]] = (found[1], words[0])
        return ""

    rest = _IMPORT.sub(take, _COMMENT.sub("", source).replace(f"{_FUTURE}\n", ""))
    modules = {place.lstrip(".").partition(".")[0] for place, _ in names.values()}
    return None if rest.strip() or modules & names.keys() else names


class _Package(ModuleType):
    """A package that knows where its names are."""

    def __init__(self, name: str, names: Names) -> None:
        super().__init__(name)
        self._handed_on = names
        self._modules = {
            place[1:].partition(".")[0] for place, _ in names.values() if place[1:2] not in ("", ".")
        }
        self.__all__ = [known for known in names if not known.startswith("_")]

    def __getattr__(self, name: str) -> Any:
        known = self._handed_on.get(name)
        if known is None and name in self._modules:
            return import_module(f"{self.__name__}.{name}")  # which sets it here
        if known is None:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        place, its_name = known
        if place.strip("."):
            found = getattr(import_module(resolve_name(place, self.__name__)), its_name)
        else:
            found = import_module(resolve_name(f"{place}{its_name}", self.__name__))
        setattr(self, name, found)
        return found

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._handed_on, *self._modules})


class _Loader:
    """Loads a package without running its `__init__`; in everything else the loader that would have."""

    def __init__(self, usual: Any, names: Names) -> None:
        self._usual = usual
        self._names = names

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Package(spec.name, self._names)

    def exec_module(self, module: ModuleType) -> None:
        """There is nothing to run."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._usual, name)


class _Finder:
    """Finds what lies below one package."""

    def __init__(self, root: str) -> None:
        self._below = f"{root}."

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not name.startswith(self._below):
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or spec.submodule_search_locations is None or spec.origin is None:
            return spec
        names = handed_on(Path(spec.origin).read_text(encoding="utf-8"))
        if names is not None:
            spec.loader = _Loader(spec.loader, names)  # type: ignore[assignment]
        return spec
