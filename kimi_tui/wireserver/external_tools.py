"""The tools that a client brings: which of them the model can be told of."""

from collections.abc import Collection, Sequence

from kimi_tui.base.value import value
from kimi_tui.wire.commands import ToolDefinition
from kimi_tui.wireserver.params import ExternalTool


@value
class RejectedTool:
    """A tool that is left out, and why."""

    name: str
    reason: str


def sorted_out(
    tools: Sequence[ExternalTool], *, taken: Collection[str]
) -> tuple[tuple[ToolDefinition, ...], tuple[RejectedTool, ...]]:
    """The tools that are accepted and those that are rejected. `taken` are names of the agent's own tools."""
    accepted: dict[str, ToolDefinition] = {}
    rejected: list[RejectedTool] = []
    for tool in tools:
        problem = tool.problem
        if not problem and tool.name in taken:
            problem = "A built-in tool has this name."
        if not problem and tool.name in accepted:
            problem = "Another of your tools has this name."
        if problem:
            rejected.append(RejectedTool(tool.name, problem))
        else:
            schema = {"type": "object", "properties": {}, **tool.parameters}
            accepted[tool.name] = ToolDefinition(tool.name, tool.description, schema)
    return tuple(accepted.values()), tuple(rejected)
