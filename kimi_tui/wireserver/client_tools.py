"""Validation of the tools that a client provides."""

from collections.abc import Collection, Sequence

from kimi_tui.base.frozen import frozen
from kimi_tui.wire.commands import ToolDefinition
from kimi_tui.wireserver.params import ExternalTool


@frozen
class RejectedTool:
    """A tool that isn't offered to the model, and the reason."""

    name: str
    reason: str


def split_usable(
    tools: Sequence[ExternalTool], *, reserved_names: Collection[str]
) -> tuple[tuple[ToolDefinition, ...], tuple[RejectedTool, ...]]:
    """Return the accepted and the rejected tools. `reserved_names` are the names of the agent's own tools."""
    accepted: dict[str, ToolDefinition] = {}
    rejected: list[RejectedTool] = []
    for tool in tools:
        problem = tool.problem
        if not problem and tool.name in reserved_names:
            problem = "A built-in tool already has this name."
        if not problem and tool.name in accepted:
            problem = "Another client tool already has this name."
        if problem:
            rejected.append(RejectedTool(tool.name, problem))
        else:
            schema = {"type": "object", "properties": {}, **tool.parameters}
            accepted[tool.name] = ToolDefinition(tool.name, tool.description, schema)
    return tuple(accepted.values()), tuple(rejected)
