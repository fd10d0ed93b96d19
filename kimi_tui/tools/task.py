"""Task: delegates work to a sub-agent."""

from collections.abc import Mapping
from typing import Protocol

from pydantic import Field

from kimi_tui.base.frozen import frozen
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.llm.provider import ToolSchema
from kimi_tui.tools.tool import CallContext, Tool, ToolParams, failure
from kimi_tui.wire.events import ToolReturn

_MAX_TIMEOUT_S = 86_400


@frozen(kw_only=True)
class TaskAssignment:
    """Work for a sub-agent."""

    agent_type: str
    """Name of the sub-agent; empty to resume an earlier one."""
    description: str
    prompt: str
    model: str | None
    resume: str | None
    """Id of the sub-agent to resume."""
    in_background: bool
    timeout_s: int | None


class SubagentRunner(Protocol):
    """Runs the sub-agents that an agent may delegate work to."""

    @property
    def agent_types(self) -> Mapping[str, str]:
        """Purpose of each sub-agent, by name."""
        ...

    async def delegate(self, assignment: TaskAssignment, call: CallContext) -> ToolReturn:
        """Have a sub-agent do the work and return its result, which also reports errors.

        Raises CancelledError only.
        """
        ...


class TaskParams(ToolParams):
    """Parameters of Task."""

    description: str = Field(description="The task in three to five words, for the user.")
    prompt: str = Field(
        description="The full task. The sub-agent sees nothing of this conversation: include the goal, the "
        "known facts, the paths, and what the report must contain."
    )
    subagent_type: str = Field("", description="Name of the sub-agent. Not needed with `resume`.")
    model: str | None = Field(None, description="A configured model for the sub-agent. Default: your own.")
    resume: str | None = Field(
        None, description="The id of an earlier sub-agent, to continue with everything it knows."
    )
    run_in_background: bool = Field(
        False, description="Return immediately. You are notified when the sub-agent is done."
    )
    timeout: int | None = Field(
        None, ge=1, le=_MAX_TIMEOUT_S, description="Timeout in seconds. Default: one hour."
    )


class Task(Tool[TaskParams]):
    """Delegates work to a sub-agent. Needs no approval; the sub-agent's own calls do."""

    name = "Task"
    Params = TaskParams

    def __init__(self, subagents: SubagentRunner) -> None:
        self._subagents = subagents

    @property
    def schema(self) -> ToolSchema:
        """Schema that lists the available sub-agents."""
        base = super().schema
        agent_types = self._subagents.agent_types
        listing = "\n".join(f"- {name}: {sanitize_line(purpose)}" for name, purpose in agent_types.items())
        properties = {**base.parameters["properties"]}
        properties["subagent_type"] = {**properties["subagent_type"], "enum": [*agent_types]}
        return ToolSchema(
            base.name,
            f"{base.description}\n\nAvailable sub-agents:\n\n{listing}",
            {**base.parameters, "properties": properties},
        )

    async def run(self, params: TaskParams, call: CallContext) -> ToolReturn:
        """Delegate the task and return its result."""
        if not params.prompt.strip():
            return failure("The prompt is empty. Describe the task.", brief="no prompt")
        name = params.subagent_type.strip()
        if params.resume is None and name not in self._subagents.agent_types:
            known = ", ".join(self._subagents.agent_types) or "none"
            problem = (
                f"There is no sub-agent “{sanitize_line(name)}”." if name else "subagent_type is missing."
            )
            return failure(f"{problem} Available sub-agents: {known}.", brief="no such sub-agent")
        return await self._subagents.delegate(
            TaskAssignment(
                agent_type=name,
                description=sanitize_line(params.description) or sanitize_line(params.prompt)[:60],
                prompt=params.prompt,
                model=params.model,
                resume=params.resume,
                in_background=params.run_in_background,
                timeout_s=params.timeout,
            ),
            call,
        )
