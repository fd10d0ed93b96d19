"""Tool calls of the demo model, with the names of the agent's tools."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, assert_never

from kimi_tui.base.ids import new_id
from kimi_tui.base.message import FunctionCall, ToolCall
from kimi_tui.llm.demo.grammar import (
    DemoAction,
    DemoAsk,
    DemoEdit,
    DemoListDirectory,
    DemoRead,
    DemoRun,
    DemoSearch,
    DemoThink,
    DemoTodo,
    DemoWrite,
)
from kimi_tui.llm.provider import ToolSchema

_ALIASES: Mapping[str, tuple[str, ...]] = {
    "ReadFile": ("ReadFile",),
    "WriteFile": ("WriteFile",),
    "EditFile": ("EditFile", "StrReplaceFile"),
    "Bash": ("Bash", "Shell", "CMD"),
    "Grep": ("Grep",),
    "Glob": ("Glob",),
    "LS": ("LS",),
    "Think": ("Think",),
    "SetTodoList": ("SetTodoList", "TodoList"),
    "AskUserQuestion": ("AskUserQuestion",),
}


class DemoTools:
    """Builds calls of the tools that the agent has."""

    def __init__(self, tools: Sequence[ToolSchema]) -> None:
        names = {tool.name for tool in tools}
        self._names = {
            tool: next(alias for alias in aliases if alias in names)
            for tool, aliases in _ALIASES.items()
            if not names.isdisjoint(aliases)
        }

    def has(self, tool: str) -> bool:
        """Return whether the agent has `tool`, under any of its names."""
        return tool in self._names

    def canonical_name(self, name: str) -> str:
        """Return the demo's name for the tool that the agent calls `name`."""
        return next((tool for tool, aliases in _ALIASES.items() if name in aliases), name)

    def calls(self, action: DemoAction) -> tuple[ToolCall, ...]:
        """Return the calls for `action`. Empty if the agent lacks the tool."""
        tool = self.tool_for(action)
        return tuple(
            call for arguments in _build_arguments(action, tool) for call in self.call(tool, arguments)
        )

    def call(self, tool: str, arguments: Mapping[str, Any]) -> tuple[ToolCall, ...]:
        """Return the call of `tool`. Empty if the agent lacks the tool."""
        name = self._names.get(tool)
        if name is None:
            return ()
        return (ToolCall(new_id(), FunctionCall(name, json.dumps(arguments, ensure_ascii=False))),)

    def tool_for(self, action: DemoAction) -> str:
        """Return the demo's name for the tool of `action`."""
        match action:
            case DemoRead():
                return "ReadFile"
            case DemoEdit():
                return "EditFile"
            case DemoWrite():
                return "WriteFile"
            case DemoRun():
                return "Bash"
            case DemoSearch():
                return "Grep"
            case DemoListDirectory():
                return "Glob" if self.has("Glob") and not self.has("LS") else "LS"
            case DemoTodo():
                return "SetTodoList"
            case DemoThink():
                return "Think"
            case DemoAsk():
                return "AskUserQuestion"
            case _:
                assert_never(action)


def _build_arguments(action: DemoAction, tool: str) -> list[dict[str, Any]]:
    match action:
        case DemoRead(paths=paths):
            return [{"path": path} for path in paths]
        case DemoEdit(path=path, old=old, new=new):
            return [{"path": path, "edit": {"old": old, "new": new}}]
        case DemoWrite(path=path, text=text):
            return [{"path": path, "content": text}]
        case DemoRun(command=command):
            return [{"command": command}]
        case DemoSearch(pattern=pattern, path=path):
            return [{"pattern": pattern, "output_mode": "content"} | ({"path": path} if path else {})]
        case DemoListDirectory(path=path) if tool == "Glob":
            return [{"pattern": "*"} | ({"directory": path} if path != "." else {})]
        case DemoListDirectory(path=path):
            return [{"path": path}]
        case DemoTodo(items=items):
            return [{"todos": [{"title": title, "status": mark} for title, mark in items]}]
        case DemoThink(thought=thought):
            return [{"thought": thought}]
        case DemoAsk(question=question, options=options):
            return [{"questions": [_build_question(question, options)]}]
        case _:
            assert_never(action)


def _build_question(question: str, options: Sequence[str]) -> dict[str, Any]:
    """Return a question with two to four options, as the tool requires."""
    labels = (list(options) if len(options) > 1 else ["Yes", "No"])[:4]
    return {
        "question": question,
        "header": "Demo",
        "options": [{"label": label, "description": ""} for label in labels],
        "multi_select": False,
    }
