"""The tools of one agent, by the names its model knows them by."""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from kimi_tui.base.frozen import frozen
from kimi_tui.base.message import ToolCall
from kimi_tui.llm.provider import ToolSchema
from kimi_tui.tools.tool import Tool


class InvalidToolCall(Exception):
    """Raised for a call that can't run. The message tells the model what to do instead."""


@frozen
class ResolvedCall:
    """A call that can run: a tool by the name the model knows it by, and its validated parameters."""

    name: str
    tool: Tool[Any]
    params: BaseModel


class Toolset:
    """The tools of an agent. A tool may be registered under a name other than its own."""

    def __init__(self, tools: Mapping[str, Tool[Any]]) -> None:
        self._all_agent_tools = self._agent_tools = dict(tools)
        self._registered: dict[str, Mapping[str, Tool[Any]]] = {}
        self._deferred: dict[str, Mapping[str, Tool[Any]]] = {}
        self._tools = self._agent_tools
        self._agent_schemas = self._schemas = _build_schemas(self._agent_tools)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the agent's own tools."""
        return tuple(self._agent_tools)

    def exclude(self, tool_names: Collection[str]) -> None:
        """Remove the agent's own tools named in `tool_names`; those excluded before are available again."""
        self._agent_tools = {
            name: tool for name, tool in self._all_agent_tools.items() if tool.name not in tool_names
        }
        self._agent_schemas = _build_schemas(self._agent_tools)
        self._rebuild()

    def register(
        self,
        tools: Mapping[str, Tool[Any]],
        *,
        owner: str = "client",
        deferred: Mapping[str, Tool[Any]] | None = None,
    ) -> None:
        """Add `tools`, replacing those that `owner` registered before.

        Tools in `deferred` can be called, but the model doesn't get their schemas. If a name is taken by one
        of the agent's own tools or by another owner, that tool stays.
        """
        self._registered[owner] = dict(tools)
        self._deferred[owner] = dict(deferred or {})
        self._rebuild()

    def _rebuild(self) -> None:
        self._tools = dict(self._agent_tools)
        for tools in self._registered.values():
            self._tools |= {name: it for name, it in tools.items() if name not in self._tools}
        added_tools = {name: it for name, it in self._tools.items() if name not in self._agent_tools}
        self._schemas = (*self._agent_schemas, *_build_schemas(added_tools))

    @property
    def schemas(self) -> tuple[ToolSchema, ...]:
        """Schemas for the model, always in the same order."""
        return self._schemas

    def has_type(self, tool_type: type[Tool[Any]]) -> bool:
        """Return whether a tool of `tool_type` is available, under whatever name."""
        return any(isinstance(tool, tool_type) for tool in self._tools.values())

    def name_of(self, tool_type: type[Tool[Any]]) -> str | None:
        """Return the name the model knows a tool of `tool_type` by; None if it isn't available."""
        return next((name for name, tool in self._tools.items() if isinstance(tool, tool_type)), None)

    def has_side_effects(self, call: ToolCall) -> bool:
        """Return whether `call` may change anything. False for invalid calls, which do nothing."""
        tool = self._find_tool(call.function.name)
        if tool is not None and tool.forwards_calls:
            try:
                return self.resolve_call(call).tool.has_side_effects
            except InvalidToolCall:
                return False
        return tool is not None and tool.has_side_effects

    def resolve_call(self, call: ToolCall) -> ResolvedCall:
        """Return the tool that `call` names or is forwarded to. Raises InvalidToolCall."""
        name = call.function.name
        if self._find_tool(name) is None:
            raise InvalidToolCall(_unknown_tool_message(name, self._tools))
        resolved = self._resolve(name, _parse_arguments(call.function.arguments))
        forwarded = resolved.tool.forwarded_call(resolved.params)
        if forwarded is None or self._find_tool(forwarded.name) is None:
            return resolved
        return self._resolve(forwarded.name, forwarded.arguments)

    def _find_tool(self, name: str) -> Tool[Any] | None:
        if name in self._tools:
            return self._tools[name]
        return next((tools[name] for tools in self._deferred.values() if name in tools), None)

    def _resolve(self, name: str, arguments: dict[str, Any]) -> ResolvedCall:
        tool = self._find_tool(name)
        assert tool is not None
        try:
            return ResolvedCall(name, tool, tool.Params.model_validate(arguments))
        except ValidationError as error:
            raise InvalidToolCall(
                f"Invalid arguments for {name}: {_format_errors(error)}. Correct them and call again."
            ) from error


def _build_schemas(tools: Mapping[str, Tool[Any]]) -> tuple[ToolSchema, ...]:
    return tuple(replace(tool.schema, name=name) for name, tool in tools.items())


def _unknown_tool_message(name: str, known: Iterable[str]) -> str:
    names = sorted(known)
    similar = get_close_matches(name, names, n=1)
    suggestion = f" Did you mean {similar[0]}?" if similar else ""
    return f"There is no tool “{name}”.{suggestion} Available tools: {', '.join(names) or 'none'}."


def _parse_arguments(text: str | None) -> dict[str, Any]:
    if not text or not text.strip():
        return {}
    try:
        value = json.loads(text, strict=False)
        if isinstance(value, str):  # some servers encode the arguments twice
            value = json.loads(value, strict=False)
    except (ValueError, RecursionError) as error:
        raise InvalidToolCall(f"The arguments aren't valid JSON ({error}). Send one JSON object.") from error
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InvalidToolCall("The arguments are valid JSON but not an object. Send one JSON object.")
    return value


def _format_errors(error: ValidationError) -> str:
    return "; ".join(map(_format_error, error.errors(include_url=False, include_input=False)[:5]))


def _format_error(error: ErrorDetails) -> str:
    location = ".".join(str(part) for part in error["loc"])
    problem = error["msg"].removeprefix("Value error, ")
    return f"{location}: {problem}" if location else problem
