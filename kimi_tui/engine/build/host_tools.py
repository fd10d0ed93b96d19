"""Tools provided by the program that opens the session."""

from collections.abc import Callable, Sequence
from typing import Any, cast

from kimi_tui.base.errors import ConfigError
from kimi_tui.base.message_text import msg
from kimi_tui.engine.build.injection import Dependencies
from kimi_tui.engine.build.tool_factory import ToolFactory
from kimi_tui.soul.runtime_settings import RuntimeSettings
from kimi_tui.tools.approval import Approval
from kimi_tui.tools.function_tool import HostFunction, build_function_tool
from kimi_tui.tools.shell.captured_output import OutputFolder
from kimi_tui.tools.tool import Tool
from kimi_tui.tools.toolset import Toolset

HostTool = HostFunction | type[Tool[Any]]
"""A function, or a class whose constructor parameters are injected."""
_PROVIDER = "program"


class HostTools:
    """Registers the host's tools with the agent and its sub-agents, each with its own approvals."""

    def __init__(self, tools: Sequence[HostTool], dependencies: Dependencies) -> None:
        self._tools = tools
        self._dependencies = dependencies

    def register_tools(
        self,
        toolset: Toolset,
        *,
        approval: Approval,
        model: RuntimeSettings,
        excluded: Sequence[str] = (),
    ) -> Callable[[], None]:
        """Register the tools with `toolset`. Raises ConfigError if two tools have the same name.

        `model` and `excluded` only concern MCP tools and are ignored. The returned function does nothing,
        because host tools stay registered.
        """
        tools = [self._build(tool, approval) for tool in self._tools]
        by_name: dict[str, Tool[Any]] = {}
        for tool in tools:
            name = tool.schema.name
            if name in by_name or name in toolset.names:
                raise ConfigError(msg("Two tools are named {name}.", name=name), hint="Rename your tool.")
            by_name[name] = tool
        toolset.register(by_name, owner=_PROVIDER)
        return lambda: None

    def _build(self, tool: HostTool, approval: Approval) -> Tool[Any]:
        if isinstance(tool, HostFunction):
            folder = cast("OutputFolder", self._dependencies[OutputFolder])
            return build_function_tool(tool, approval=approval, output_folder=folder)
        return ToolFactory({**self._dependencies, Approval: approval}).construct(tool, name=tool.__name__)
