"""Lazy imports of the SDKs, without the hundreds of modules in their packages.

The SDKs have a module for each type of their API, and packages whose `__init__` only re-exports these types.
With `import_lean`, such a package imports a module when one of its names is first accessed. A package whose
`__init__` does anything else is imported normally. This saves a tenth of the CPU time of `import anthropic`.
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
"""Re-exported names of a package, each with the relative name of its module and its name in that module."""


def import_lean(name: str) -> ModuleType:
    """Import the package `name` with as few of its modules as possible. Raises ImportError."""
    if name in sys.modules:
        return sys.modules[name]
    finder = _Finder(name)
    sys.meta_path.insert(0, finder)
    try:
        return import_module(name)
    except (ImportError, AttributeError):  # its modules may depend on the import order of its `__init__`
        for loaded in [it for it in sys.modules if it == name or it.startswith(f"{name}.")]:
            del sys.modules[loaded]
    finally:
        sys.meta_path.remove(finder)
    return import_module(name)


def parse_reexports(source: str) -> Names | None:
    """Return the names that the `__init__` of a package re-exports; None if it contains other code.

    Also return None if a name is the name of a module, because importing the module would replace the name.
    """
    names: Names = {}

    def add_names(match: re.Match[str]) -> str:
        for item in (match[2] or match[3]).split(","):
            if words := item.split():
                names[words[-1]] = (match[1], words[0])
        return ""

    rest = _IMPORT.sub(add_names, _COMMENT.sub("", source).replace(f"{_FUTURE}\n", ""))
    modules = {module.lstrip(".").partition(".")[0] for module, _ in names.values()}
    return None if rest.strip() or modules & names.keys() else names


class _Package(ModuleType):
    """A package that imports each name on first access."""

    def __init__(self, name: str, names: Names) -> None:
        super().__init__(name)
        self._reexports = names
        self._modules = {
            module[1:].partition(".")[0] for module, _ in names.values() if module[1:2] not in ("", ".")
        }
        self.__all__ = [it for it in names if not it.startswith("_")]

    def __getattr__(self, name: str) -> Any:
        reexport = self._reexports.get(name)
        if reexport is None and name in self._modules:
            return import_module(f"{self.__name__}.{name}")  # the import sets the attribute
        if reexport is None:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        module, original_name = reexport
        if module.strip("."):
            value = getattr(import_module(resolve_name(module, self.__name__)), original_name)
        else:
            value = import_module(resolve_name(f"{module}{original_name}", self.__name__))
        setattr(self, name, value)
        return value

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._reexports, *self._modules})


class _Loader:
    """Loads a package without running its `__init__`. Delegates everything else to the original loader."""

    def __init__(self, base_loader: Any, names: Names) -> None:
        self._base_loader = base_loader
        self._names = names

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Package(spec.name, self._names)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: there is no code to run."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._base_loader, name)


class _Finder:
    """Finds modules and packages below one package."""

    def __init__(self, root: str) -> None:
        self._prefix = f"{root}."

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not name.startswith(self._prefix):
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or spec.submodule_search_locations is None or spec.origin is None:
            return spec
        names = parse_reexports(Path(spec.origin).read_text(encoding="utf-8"))
        if names is not None:
            spec.loader = _Loader(spec.loader, names)  # type: ignore[assignment]
        return spec
