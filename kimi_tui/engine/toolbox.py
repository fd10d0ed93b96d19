"""Building an agent's tools: from the names in its spec, with collaborators matched by annotation."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from kimi_tui.base.errors import ConfigError
from kimi_tui.engine.injection import Collaborators, load_class, made
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
    "AskUserQuestion": "kimi_tui.tools.questions.ask:AskUserQuestion",
    "EnterPlanMode": "kimi_tui.tools.plan.enter:EnterPlanMode",
    "ExitPlanMode": "kimi_tui.tools.plan.leave:ExitPlanMode",
    "Task": "kimi_tui.tools.task:Task",
    "TaskList": "kimi_tui.tools.background.task_list:TaskList",
    "TaskOutput": "kimi_tui.tools.background.task_output:TaskOutput",
    "TaskStop": "kimi_tui.tools.background.task_stop:TaskStop",
    "SendDMail": "kimi_tui.tools.dmail:SendDMail",
}
"""Short name -> `module:Class`; each is imported when an agent uses it."""

_NEEDS: Mapping[str, str] = {"kimi_tui.tools.file.media:ReadMediaFile": "image_in"}
"""What a model must be able to do for a tool to be of use."""


def suits(reference: str, capabilities: Collection[str]) -> bool:
    """Whether a model with `capabilities` can use the tool that `reference` names."""
    needed = _NEEDS.get(BUILTIN_TOOLS.get(reference, reference))
    return needed is None or needed in capabilities


class Toolbox:
    """Builds tools. `collaborators` maps a type, as constructors annotate it, to the object they get."""

    def __init__(self, collaborators: Collaborators) -> None:
        self._collaborators = collaborators

    def toolset(self, tools: Iterable[tuple[str, str]]) -> Toolset:
        """A toolset of `(name the model knows, short name or module:Class)` pairs. Raises ConfigError."""
        return Toolset({name: self._build(reference) for name, reference in tools})

    def _build(self, reference: str) -> Tool[Any]:
        path = BUILTIN_TOOLS.get(reference, reference)
        cls = load_class(path, what="tool")
        if not issubclass(cls, Tool):
            raise ConfigError(f"{path} is no tool.", hint="A tool extends kimi_tui.tools.tool.Tool.")
        return self.made(cls, name=reference)

    def made(self, cls: type[Tool[Any]], *, name: str) -> Tool[Any]:
        """A tool of class `cls`, called `name` in messages. Raises ConfigError."""
        try:
            tool: Tool[Any] = made(cls, self._collaborators, name=f"tool {name}")
            if name not in BUILTIN_TOOLS:
                _ = tool.schema  # it is read later, outside of the reach of this message
        except ConfigError:
            raise
        except Exception as error:  # a user's own tool may fail in any way
            raise ConfigError(
                f"The tool {name} can't be used: {type(error).__name__}: {error}.",
                hint="Mend it, or take it out of the agent's tools.",
            ) from error
        return tool
