"""Factory of an agent's tools."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from kimi_tui.base.errors import ConfigError
from kimi_tui.base.message_text import msg
from kimi_tui.engine.build.injection import Dependencies, construct, load_class
from kimi_tui.tools.tool import Tool
from kimi_tui.tools.toolset import Toolset

BUILTIN_TOOLS: Mapping[str, str] = {
    "ReadFile": "kimi_tui.tools.file.read:ReadFile",
    "ReadMediaFile": "kimi_tui.tools.file.media:ReadMediaFile",
    "WriteFile": "kimi_tui.tools.file.write:WriteFile",
    "EditFile": "kimi_tui.tools.file.edit:EditFile",
    "Bash": "kimi_tui.tools.shell.bash:Bash",
    "Grep": "kimi_tui.tools.search.grep:Grep",
    "Glob": "kimi_tui.tools.search.glob:Glob",
    "LS": "kimi_tui.tools.search.ls:LS",
    "FetchURL": "kimi_tui.tools.web.fetch:FetchURL",
    "SearchWeb": "kimi_tui.tools.web.search:SearchWeb",
    "Think": "kimi_tui.tools.think:Think",
    "SetTodoList": "kimi_tui.tools.todo:SetTodoList",
    "AskUserQuestion": "kimi_tui.tools.ask_user_question:AskUserQuestion",
    "EnterPlanMode": "kimi_tui.tools.plan.enter_plan_mode:EnterPlanMode",
    "ExitPlanMode": "kimi_tui.tools.plan.exit_plan_mode:ExitPlanMode",
    "Task": "kimi_tui.tools.task:Task",
    "TaskList": "kimi_tui.tools.background.task_list:TaskList",
    "TaskOutput": "kimi_tui.tools.background.task_output:TaskOutput",
    "TaskStop": "kimi_tui.tools.background.task_stop:TaskStop",
    "SendDMail": "kimi_tui.tools.dmail:SendDMail",
}
"""Short name -> `module:Class`. A module is imported when an agent uses its tool."""

_REQUIRED_CAPABILITY: Mapping[str, str] = {"kimi_tui.tools.file.media:ReadMediaFile": "image_in"}
"""Capability that a model needs to use a tool."""


def is_available(reference: str, capabilities: Collection[str]) -> bool:
    """Return whether a model with `capabilities` can use the tool `reference`."""
    needed = _REQUIRED_CAPABILITY.get(BUILTIN_TOOLS.get(reference, reference))
    return needed is None or needed in capabilities


class ToolFactory:
    """Builds tools. `dependencies` are injected into their constructors."""

    def __init__(self, dependencies: Dependencies) -> None:
        self._dependencies = dependencies

    def build_toolset(self, tools: Iterable[tuple[str, str]]) -> Toolset:
        """Build a toolset from (name, reference) pairs. Raises ConfigError.

        A reference is a key of BUILTIN_TOOLS or `module:Class`.
        """
        return Toolset({name: self._load_tool(reference) for name, reference in tools})

    def _load_tool(self, reference: str) -> Tool[Any]:
        path = BUILTIN_TOOLS.get(reference, reference)
        cls = load_class(path, kind="tool")
        if not issubclass(cls, Tool):
            raise ConfigError(
                msg("{path} isn't a tool.", path=path), hint="Tools must extend kimi_tui.tools.tool.Tool."
            )
        return self.construct(cls, name=reference)

    def construct(self, cls: type[Tool[Any]], *, name: str) -> Tool[Any]:
        """Build a tool of class `cls`, called `name` in error messages. Raises ConfigError."""
        try:
            tool: Tool[Any] = construct(cls, self._dependencies, name=f"tool {name}")
            if name not in BUILTIN_TOOLS:
                _ = tool.schema  # read it here, so that a failure is reported with the tool's name
        except ConfigError:
            raise
        except Exception as error:  # a user's own tool may fail in any way
            raise ConfigError(
                msg(
                    "Can't load the tool {name}: {error}: {problem}.",
                    name=name,
                    error=type(error).__name__,
                    problem=error,
                ),
                hint="Fix it, or remove it from the agent's tools.",
            ) from error
        return tool
