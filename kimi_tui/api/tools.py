"""Functions as tools: what a model is told of one is read from its signature and its documentation."""

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints, overload

from pydantic import Field, create_model
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo

from kimi_tui.base.errors import UsageError
from kimi_tui.engine.own_tools import OwnTool
from kimi_tui.tools.function_tool import OwnFunction
from kimi_tui.tools.tool import Tool, ToolParams, json_schema

F = TypeVar("F", bound=Callable[..., object])

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""What every provider takes as the name of a function."""
_MARK = "__kimi_tui_tool__"


@dataclass(frozen=True, slots=True)
class _Marked:
    name: str | None
    description: str | None
    reads: bool


@overload
def tool(function: F, /) -> F: ...
@overload
def tool(
    *, name: str | None = None, description: str | None = None, reads: bool = False
) -> Callable[[F], F]: ...
def tool(
    function: F | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    reads: bool = False,
) -> F | Callable[[F], F]:
    """Say how a model shall know a function that is given to `KimiTui.create(tools=...)`.

    Without it, or without arguments, that is its name and its docstring. A call has to be approved, unless
    the function `reads` only: it changes nothing. The function itself stays as it is.
    """

    def marked(of: F) -> F:
        setattr(of, _MARK, _Marked(name, description, reads))
        return of

    return marked if function is None else marked(function)


def own_tool(given: Callable[..., object] | type[Tool[Any]]) -> OwnTool:
    """What `KimiTui.create` was given as a tool. Raises UsageError, which says what is missing of it."""
    if isinstance(given, type):
        if issubclass(given, Tool):
            return given
        raise _unfit(given.__name__, "is a class, and no Tool", "Give a method of one of its objects.")
    if not callable(given):
        raise _unfit(repr(given), "can't be called", "Give a function.")
    return _function(given)


def _function(function: Callable[..., object]) -> OwnFunction:
    marked: _Marked = getattr(function, _MARK, _Marked(None, None, reads=False))
    name = marked.name or str(getattr(function, "__name__", ""))
    if _NAME.fullmatch(name) is None:
        hint = "Name it with @tool(name=…): 1 to 64 letters, digits, underscores and dashes."
        raise _unfit(name or repr(function), "has no name that a model can call it by", hint)
    description = marked.description or inspect.getdoc(function)
    if not description:
        hint = "Give it a docstring, or @tool(description=…)."
        raise _unfit(name, "says nothing of what it does", hint)
    fields = _fields(function, name)
    try:
        params = create_model(f"{name}_params", __base__=ToolParams, **_definitions(fields))
        json_schema(params)
    except (PydanticUserError, TypeError) as error:
        reason = str(error).partition("\n")[0].rstrip(".")
        hint = "Use types that JSON can hold: strings, numbers, lists, dataclasses, pydantic models."
        raise _unfit(name, f"has parameters that no schema can tell: {reason}", hint) from error
    return OwnFunction(
        name=name,
        description=description,
        params=params,
        arguments={f"field_{number}": argument for number, argument in enumerate(fields)},
        call=function,
        is_async=inspect.iscoroutinefunction(function),
        reads=marked.reads,
    )


def _fields(function: Callable[..., object], name: str) -> dict[str, tuple[Any, FieldInfo]]:
    """A field for each parameter: `Annotated[str, "what it is"]` describes it."""
    try:
        hints = get_type_hints(function, include_extras=True)
    except (NameError, TypeError) as error:
        raise _unfit(
            name, f"has annotations that can't be read: {error}", "Import what they name."
        ) from error
    fields: dict[str, tuple[Any, FieldInfo]] = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise _unfit(name, f"takes {parameter}", "Give each of its parameters a name of its own.")
        if parameter.name not in hints:
            raise _unfit(name, f"doesn't say what `{parameter.name}` is", "Annotate it with its type.")
        annotation = hints[parameter.name]
        field = Field(
            ... if parameter.default is parameter.empty else parameter.default,
            alias=parameter.name,
            description=_description(annotation),
        )
        fields[parameter.name] = (annotation, field)
    return fields


def _definitions(fields: Mapping[str, tuple[Any, FieldInfo]]) -> dict[str, Any]:
    """The fields under names that no attribute of a model has."""
    return {f"field_{number}": field for number, field in enumerate(fields.values())}


def _description(annotation: Any) -> str | None:
    if get_origin(annotation) is not Annotated:
        return None
    return next((each for each in get_args(annotation)[1:] if isinstance(each, str)), None)


def _unfit(name: str, what: str, hint: str) -> UsageError:
    return UsageError(f"{name} can't be a tool: it {what}.", hint=hint)
