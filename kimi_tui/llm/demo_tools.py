"""The tools that the demo model finds in a request, under the names that agents give them."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, assert_never

from kimi_tui.base.identity import new_id
from kimi_tui.base.message import FunctionCall, ToolCall
from kimi_tui.llm.demo_grammar import Act, Ask, Edit, ListFolder, Read, Run, Search, Think, Todo, Write
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
    """Calls of the tools that an agent has."""

    def __init__(self, tools: Sequence[ToolSchema]) -> None:
        names = {tool.name for tool in tools}
        self._names = {
            tool: next(alias for alias in aliases if alias in names)
            for tool, aliases in _ALIASES.items()
            if not names.isdisjoint(aliases)
        }

    def has(self, tool: str) -> bool:
        """Whether the agent has `tool`, under whatever name."""
        return tool in self._names

    def known_as(self, name: str) -> str:
        """Our name of the tool that the agent calls `name`."""
        return next((tool for tool, aliases in _ALIASES.items() if name in aliases), name)

    def calls(self, act: Act) -> tuple[ToolCall, ...]:
        """The calls that do `act`; none when the agent lacks the tool."""
        tool = self.tool_for(act)
        return tuple(call for arguments in _arguments(act, tool) for call in self.call(tool, arguments))

    def call(self, tool: str, arguments: Mapping[str, Any]) -> tuple[ToolCall, ...]:
        """The call of `tool`; none when the agent lacks it."""
        name = self._names.get(tool)
        if name is None:
            return ()
        return (ToolCall(new_id(), FunctionCall(name, json.dumps(arguments, ensure_ascii=False))),)

    def tool_for(self, act: Act) -> str:
        """Our name of the tool that does `act`."""
        match act:
            case Read():
                return "ReadFile"
            case Edit():
                return "EditFile"
            case Write():
                return "WriteFile"
            case Run():
                return "Bash"
            case Search():
                return "Grep"
            case ListFolder():
                return "Glob" if self.has("Glob") and not self.has("LS") else "LS"
            case Todo():
                return "SetTodoList"
            case Think():
                return "Think"
            case Ask():
                return "AskUserQuestion"
            case _:
                assert_never(act)


def _arguments(act: Act, tool: str) -> list[dict[str, Any]]:
    match act:
        case Read(paths=paths):
            return [{"path": path} for path in paths]
        case Edit(path=path, old=old, new=new):
            return [{"path": path, "edit": {"old": old, "new": new}}]
        case Write(path=path, text=text):
            return [{"path": path, "content": text}]
        case Run(command=command):
            return [{"command": command}]
        case Search(pattern=pattern, path=path):
            return [{"pattern": pattern, "output_mode": "content"} | ({"path": path} if path else {})]
        case ListFolder(path=path) if tool == "Glob":
            return [{"pattern": "*"} | ({"directory": path} if path != "." else {})]
        case ListFolder(path=path):
            return [{"path": path}]
        case Todo(items=items):
            return [{"todos": [{"title": title, "status": mark} for title, mark in items]}]
        case Think(thought=thought):
            return [{"thought": thought}]
        case Ask(question=question, options=options):
            return [{"questions": [_question(question, options)]}]
        case _:
            assert_never(act)


def _question(question: str, options: Sequence[str]) -> dict[str, Any]:
    """One question with the two to four options that the tool takes."""
    offered = (list(options) if len(options) > 1 else ["Yes", "No"])[:4]
    return {
        "question": question,
        "header": "Demo",
        "options": [{"label": option, "description": ""} for option in offered],
        "multi_select": False,
    }
