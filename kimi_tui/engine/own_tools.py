"""The tools that the program which opened the session brought along."""

from collections.abc import Callable, Sequence
from typing import Any, cast

from kimi_tui.base.errors import ConfigError
from kimi_tui.engine.injection import Collaborators
from kimi_tui.engine.toolbox import Toolbox
from kimi_tui.tools.approval import Approval
from kimi_tui.tools.function_tool import OwnFunction, function_tool
from kimi_tui.tools.shell.output import OutputFolder
from kimi_tui.tools.tool import Tool
from kimi_tui.tools.toolset import Toolset

OwnTool = OwnFunction | type[Tool[Any]]
"""A function, or a class that is made with the collaborators that its constructor asks for."""
_LENDER = "program"


class OwnTools:
    """Lends them to the agent and its sub-agents, each with its own approvals."""

    def __init__(self, tools: Sequence[OwnTool], collaborators: Collaborators) -> None:
        self._tools = tools
        self._collaborators = collaborators

    def lend_to(
        self, toolset: Toolset, *, approval: Approval, excluded: Sequence[str] = ()
    ) -> Callable[[], None]:
        """Lend them to `toolset`; what is `excluded` are servers' tools. The answer does nothing: they stay.

        Raises ConfigError for a name that a tool of the agent has, or two of them.
        """
        tools = [self._made(tool, approval) for tool in self._tools]
        lent: dict[str, Tool[Any]] = {}
        for tool in tools:
            name = tool.schema.name
            if name in lent or name in toolset.names:
                raise ConfigError(f"There are two tools named {name}.", hint="Give yours another name.")
            lent[name] = tool
        toolset.lend(lent, lender=_LENDER)
        return lambda: None

    def _made(self, tool: OwnTool, approval: Approval) -> Tool[Any]:
        if isinstance(tool, OwnFunction):
            folder = cast("OutputFolder", self._collaborators[OutputFolder])
            return function_tool(tool, approval=approval, folder=folder)
        return Toolbox({**self._collaborators, Approval: approval}).made(tool, name=tool.__name__)
