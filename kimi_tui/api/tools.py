"""Functions as tools: the model sees their signature and docstring."""

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints, overload

from pydantic import Field, create_model
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo

from kimi_tui.base.errors import UsageError
from kimi_tui.engine.build.host_tools import HostTool
from kimi_tui.tools.function_tool import HostFunction
from kimi_tui.tools.tool import Tool, ToolParams, build_json_schema

F = TypeVar("F", bound=Callable[..., object])

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""A function name that every provider accepts."""
_TOOL_ATTRIBUTE = "__kimi_tui_tool__"


@dataclass(frozen=True, slots=True)
class _ToolMetadata:
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
    """Set the name and description of a function for `KimiTui.create(tools=...)`.

    The defaults are the function's name and docstring. Calls require approval unless `reads` declares that
    the function changes nothing. The function itself isn't changed.
    """

    def decorate(target: F) -> F:
        setattr(target, _TOOL_ATTRIBUTE, _ToolMetadata(name, description, reads))
        return target

    return decorate if function is None else decorate(function)


def as_host_tool(candidate: Callable[..., object] | type[Tool[Any]]) -> HostTool:
    """Convert a tool passed to `KimiTui.create`. Raises UsageError if `candidate` can't be a tool."""
    if isinstance(candidate, type):
        if issubclass(candidate, Tool):
            return candidate
        raise _invalid_tool(candidate.__name__, "isn't a subclass of Tool", "Pass a method of an instance.")
    if not callable(candidate):
        raise _invalid_tool(repr(candidate), "isn't callable", "Pass a function.")
    return _to_host_function(candidate)


def _to_host_function(function: Callable[..., object]) -> HostFunction:
    metadata: _ToolMetadata = getattr(function, _TOOL_ATTRIBUTE, _ToolMetadata(None, None, reads=False))
    name = metadata.name or str(getattr(function, "__name__", ""))
    if _NAME.fullmatch(name) is None:
        hint = "Name it with @tool(name=…): 1 to 64 letters, digits, underscores and dashes."
        raise _invalid_tool(name or repr(function), "has no valid tool name", hint)
    description = metadata.description or inspect.getdoc(function)
    if not description:
        hint = "Add a docstring, or use @tool(description=…)."
        raise _invalid_tool(name, "has no description", hint)
    fields = _parameter_fields(function, name)
    try:
        params = create_model(f"{name}_params", __base__=ToolParams, **_field_definitions(fields))
        build_json_schema(params)
    except (PydanticUserError, TypeError) as error:
        reason = str(error).partition("\n")[0].rstrip(".")
        hint = "Use types that JSON supports: strings, numbers, lists, dataclasses, pydantic models."
        raise _invalid_tool(name, f"has parameters without a JSON schema: {reason}", hint) from error
    return HostFunction(
        name=name,
        description=description,
        params=params,
        arguments={f"field_{number}": argument for number, argument in enumerate(fields)},
        call=function,
        is_async=inspect.iscoroutinefunction(function),
        read_only=metadata.reads,
    )


def _parameter_fields(function: Callable[..., object], name: str) -> dict[str, tuple[Any, FieldInfo]]:
    """Return a field for each parameter. The text in `Annotated[str, "…"]` is the parameter's description."""
    try:
        hints = get_type_hints(function, include_extras=True)
    except (NameError, TypeError) as error:
        raise _invalid_tool(
            name, f"has annotations that can't be resolved: {error}", "Import the names in them."
        ) from error
    fields: dict[str, tuple[Any, FieldInfo]] = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise _invalid_tool(name, f"takes {parameter}", "Declare each parameter by name.")
        if parameter.name not in hints:
            raise _invalid_tool(name, f"has no type for `{parameter.name}`", "Annotate it with its type.")
        annotation = hints[parameter.name]
        field = Field(
            ... if parameter.default is parameter.empty else parameter.default,
            alias=parameter.name,
            description=_description(annotation),
        )
        fields[parameter.name] = (annotation, field)
    return fields


def _field_definitions(fields: Mapping[str, tuple[Any, FieldInfo]]) -> dict[str, Any]:
    """Return the fields under names that can't clash with a pydantic model's attributes."""
    return {f"field_{number}": field for number, field in enumerate(fields.values())}


def _description(annotation: Any) -> str | None:
    if get_origin(annotation) is not Annotated:
        return None
    return next((it for it in get_args(annotation)[1:] if isinstance(it, str)), None)


def _invalid_tool(name: str, problem: str, hint: str) -> UsageError:
    return UsageError(f"{name} can't be a tool: it {problem}.", hint=hint)
