"""Dependency injection for classes that a config names as `module:Class`."""

import inspect
from collections.abc import Mapping
from importlib import import_module
from typing import Any, get_type_hints

from kimi_tui.base.errors import ConfigError
from kimi_tui.base.message_text import msg

Dependencies = Mapping[Any, object]
"""Maps types in constructors' annotations to the objects to inject."""


def load_class(path: str, *, kind: str) -> type[Any]:
    """Return the class at `path`. Raises ConfigError with `kind`, such as "tool", in its message."""
    module_name, _, class_name = path.partition(":")
    try:
        cls = getattr(import_module(module_name), class_name)
    except Exception as error:  # importing runs the user's own code
        raise ConfigError(
            msg(
                "Can't load the {kind} {path}: {error}: {problem}.",
                kind=kind,
                path=path,
                error=type(error).__name__,
                problem=error,
            ),
            hint="Use module:Class, with a module that Python can import.",
        ) from error
    if not isinstance(cls, type):
        raise ConfigError(
            msg("The {kind} {path} isn't a class.", kind=kind, path=path), hint="Use module:Class."
        )
    return cls


def construct(cls: type[Any], dependencies: Dependencies, *, name: str) -> Any:
    """Return an instance of `cls`.

    Positional parameters are injected by annotation; the others keep their defaults.
    Raises ConfigError with `name` in its message if a dependency isn't available.
    """
    if cls.__init__ is object.__init__:
        return cls()
    hints = _constructor_hints(cls, name)
    arguments = []
    for parameter in list(inspect.signature(cls.__init__).parameters.values())[1:]:
        if parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            break
        annotation = hints.get(parameter.name)
        if annotation not in dependencies:
            raise ConfigError(
                msg(
                    "The {subject} requires `{parameter}: {annotation}`, which kimi-tui doesn't provide.",
                    subject=name,
                    parameter=parameter.name,
                    annotation=annotation,
                ),
                hint="Annotate positional parameters with types that kimi-tui provides.",
            )
        arguments.append(dependencies[annotation])
    return cls(*arguments)


def _constructor_hints(cls: type[Any], name: str) -> dict[str, Any]:
    try:
        return get_type_hints(cls.__init__)
    except (NameError, TypeError) as error:
        raise ConfigError(
            msg("Can't read the annotations of the {subject}: {problem}.", subject=name, problem=error),
            hint="Import its constructor's parameter types outside of TYPE_CHECKING.",
        ) from error
