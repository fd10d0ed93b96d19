"""Building an agent's tools: from the names in its spec, with collaborators matched by annotation."""

import inspect
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any, get_type_hints

from kimi_tui.base.errors import ConfigError
from kimi_tui.tools.tool import Tool
from kimi_tui.tools.toolset import Toolset

BUILTIN_TOOLS: Mapping[str, str] = {
    "ReadFile": "kimi_tui.tools.file.read:ReadFile",
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
    "SendDMail": "kimi_tui.tools.dmail:SendDMail",
}
"""Short name -> `module:Class`; each is imported when an agent uses it."""


class Toolbox:
    """Builds tools. `collaborators` maps a type, as constructors annotate it, to the object they get."""

    def __init__(self, collaborators: Mapping[Any, object]) -> None:
        self._collaborators = collaborators

    def toolset(self, tools: Iterable[tuple[str, str]]) -> Toolset:
        """A toolset of `(name the model knows, short name or module:Class)` pairs. Raises ConfigError."""
        return Toolset({name: self._build(reference) for name, reference in tools})

    def _build(self, reference: str) -> Tool[Any]:
        cls = _tool_class(BUILTIN_TOOLS.get(reference, reference))
        hints = get_type_hints(cls.__init__)
        arguments = []
        for parameter in list(inspect.signature(cls.__init__).parameters.values())[1:]:
            if parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                break
            wanted = hints.get(parameter.name)
            if wanted not in self._collaborators:
                raise ConfigError(
                    f"The tool {reference} asks for `{parameter.name}: {wanted}`, which there is not.",
                    hint="Annotate its positional parameters with types that kimi-tui provides.",
                )
            arguments.append(self._collaborators[wanted])
        return cls(*arguments)


def _tool_class(path: str) -> type[Tool[Any]]:
    module_name, _, class_name = path.partition(":")
    try:
        cls = getattr(import_module(module_name), class_name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigError(
            f"The tool {path} can't be loaded: {error}.", hint="Name it as module:Class."
        ) from error
    if not (isinstance(cls, type) and issubclass(cls, Tool)):
        raise ConfigError(f"{path} is no tool.", hint="A tool extends kimi_tui.tools.tool.Tool.")
    return cls
