"""The tools of one agent, by the names that its model knows them by."""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from kimi_tui.base.message import ToolCall
from kimi_tui.llm.provider import ToolSchema
from kimi_tui.tools.tool import Tool


class BadCall(Exception):
    """A call that can't run: its text tells the model what to do instead."""


class Toolset:
    """An agent's tools. A tool may stand under another name than its own."""

    def __init__(self, tools: Mapping[str, Tool[Any]]) -> None:
        self._all = self._own = dict(tools)
        self._lent: dict[str, Mapping[str, Tool[Any]]] = {}
        self._tools = self._own
        self._own_schemas = self._schemas = _schemas(self._own)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the agent's own tools."""
        return tuple(self._own)

    def leave_out(self, kinds: Collection[str]) -> None:
        """Have none of the agent's own tools that are called so by themselves, in place of those before."""
        self._own = {name: tool for name, tool in self._all.items() if tool.name not in kinds}
        self._own_schemas = _schemas(self._own)
        self._put_together()

    def lend(self, tools: Mapping[str, Tool[Any]], *, lender: str = "client") -> None:
        """Have these as well, in place of those that `lender` lent before.

        A name of the agent's own tools stays theirs, and one that another lent stays that tool's.
        """
        self._lent[lender] = dict(tools)
        self._put_together()

    def _put_together(self) -> None:
        self._tools = dict(self._own)
        for lent in self._lent.values():
            self._tools |= {name: it for name, it in lent.items() if name not in self._tools}
        lent_tools = {name: it for name, it in self._tools.items() if name not in self._own}
        self._schemas = (*self._own_schemas, *_schemas(lent_tools))

    @property
    def schemas(self) -> tuple[ToolSchema, ...]:
        """The tools as a model sees them, always in the same order."""
        return self._schemas

    def has(self, kind: type[Tool[Any]]) -> bool:
        """Whether a tool of `kind` is among them, under whatever name."""
        return any(isinstance(tool, kind) for tool in self._tools.values())

    def name_of(self, kind: type[Tool[Any]]) -> str | None:
        """The name that the model knows a tool of `kind` by; None when there is none."""
        return next((name for name, tool in self._tools.items() if isinstance(tool, kind)), None)

    def changes_things(self, name: str) -> bool:
        """Whether a call of `name` may change anything; False for an unknown tool, which does nothing."""
        tool = self._tools.get(name)
        return tool is not None and tool.changes_things

    def find(self, call: ToolCall) -> tuple[Tool[Any], BaseModel]:
        """The tool that `call` names and its parameters, validated. Raises BadCall."""
        name = call.function.name
        tool = self._tools.get(name)
        if tool is None:
            raise BadCall(_unknown_tool(name, self._tools))
        try:
            return tool, tool.Params.model_validate(_arguments(call.function.arguments))
        except ValidationError as error:
            raise BadCall(
                f"The arguments of {name} don't fit: {_problems(error)}. Correct them and call again."
            ) from error


def _schemas(tools: Mapping[str, Tool[Any]]) -> tuple[ToolSchema, ...]:
    return tuple(replace(tool.schema, name=name) for name, tool in tools.items())


def _unknown_tool(name: str, known: Iterable[str]) -> str:
    names = sorted(known)
    near = get_close_matches(name, names, n=1)
    meant = f" Did you mean {near[0]}?" if near else ""
    return f"There is no tool “{name}”.{meant} The tools are: {', '.join(names) or 'none'}."


def _arguments(text: str | None) -> dict[str, Any]:
    if not text or not text.strip():
        return {}
    try:
        value = json.loads(text, strict=False)
        if isinstance(value, str):  # some servers encode the arguments twice
            value = json.loads(value, strict=False)
    except (ValueError, RecursionError) as error:
        raise BadCall(f"The arguments are not JSON ({error}). Send one JSON object.") from error
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise BadCall("The arguments are JSON but no object. Send one JSON object.")
    return value


def _problems(error: ValidationError) -> str:
    return "; ".join(map(_problem, error.errors(include_url=False, include_input=False)[:5]))


def _problem(problem: ErrorDetails) -> str:
    where = ".".join(str(part) for part in problem["loc"])
    what = problem["msg"].removeprefix("Value error, ")
    return f"{where}: {what}" if where else what
