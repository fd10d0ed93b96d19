"""Classes that a config names as `module:Class`, made with the collaborators that they ask for."""

import inspect
from collections.abc import Mapping
from importlib import import_module
from typing import Any, get_type_hints

from kimi_tui.base.errors import ConfigError

Collaborators = Mapping[Any, object]
"""A type, as constructors annotate it -> the object they get."""


def load_class(path: str, *, what: str) -> type[Any]:
    """The class that `path` names. Raises ConfigError, which calls it by `what` it should be."""
    module_name, _, class_name = path.partition(":")
    try:
        cls = getattr(import_module(module_name), class_name)
    except Exception as error:  # importing runs the user's own code
        raise ConfigError(
            f"The {what} {path} can't be loaded: {type(error).__name__}: {error}.",
            hint="Name it as module:Class, of a module that Python finds.",
        ) from error
    if not isinstance(cls, type):
        raise ConfigError(f"The {what} {path} is no class.", hint="Name it as module:Class.")
    return cls


def made(cls: type[Any], collaborators: Collaborators, *, name: str) -> Any:
    """An instance of `cls`: positional parameters are matched by annotation, the others have their defaults.

    Raises ConfigError, which calls it `name`, when it asks for what there is not.
    """
    if cls.__init__ is object.__init__:
        return cls()
    hints = _hints(cls, name)
    arguments = []
    for parameter in list(inspect.signature(cls.__init__).parameters.values())[1:]:
        if parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            break
        wanted = hints.get(parameter.name)
        if wanted not in collaborators:
            raise ConfigError(
                f"The {name} asks for `{parameter.name}: {wanted}`, which there is not.",
                hint="Annotate its positional parameters with types that kimi-tui provides.",
            )
        arguments.append(collaborators[wanted])
    return cls(*arguments)


def _hints(cls: type[Any], name: str) -> dict[str, Any]:
    try:
        return get_type_hints(cls.__init__)
    except (NameError, TypeError) as error:
        raise ConfigError(
            f"The annotations of the {name} can't be read: {error}.",
            hint="Import the types that its constructor names, outside of TYPE_CHECKING.",
        ) from error
