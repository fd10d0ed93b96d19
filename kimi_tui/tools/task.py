"""Task: gives a piece of work to a sub-agent."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from pydantic import Field

from kimi_tui.base.terminal import plain_line
from kimi_tui.llm.provider import ToolSchema
from kimi_tui.tools.tool import RunningCall, Tool, ToolParams, failed
from kimi_tui.wire.events import ToolReturn

_MAX_TIMEOUT_S = 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """What a sub-agent is to do."""

    kind: str
    """Which sub-agent; empty when an earlier one goes on."""
    description: str
    prompt: str
    model: str | None
    resume: str | None
    """The id of the sub-agent that goes on."""
    in_background: bool
    timeout_s: int | None


class Delegation(Protocol):
    """The sub-agents that an agent may give work to."""

    @property
    def kinds(self) -> Mapping[str, str]:
        """What each is for, by name."""
        ...

    async def give(self, assignment: Assignment, call: RunningCall) -> ToolReturn:
        """Have it done; what goes wrong is the result. Raises CancelledError alone."""
        ...


class TaskParams(ToolParams):
    """What Task takes."""

    description: str = Field(description="What the task is, in three to five words, for the user.")
    prompt: str = Field(
        description="The whole task. The sub-agent sees nothing of this conversation: give it the goal, what "
        "is known, the paths, and what its report should hold."
    )
    subagent_type: str = Field("", description="Which sub-agent; not needed with `resume`.")
    model: str | None = Field(None, description="A configured model for it. Leave it out to use your own.")
    resume: str | None = Field(
        None, description="The id of an earlier sub-agent, which goes on with all that it knows."
    )
    run_in_background: bool = Field(
        False, description="Return at once; you are told when the sub-agent is done."
    )
    timeout: int | None = Field(
        None, ge=1, le=_MAX_TIMEOUT_S, description="Seconds after which it is stopped, an hour unless given."
    )


class Task(Tool[TaskParams]):
    """Has a sub-agent work on its own. Asks for nothing itself: what the sub-agent does asks."""

    name = "Task"
    Params = TaskParams

    def __init__(self, delegation: Delegation) -> None:
        self._delegation = delegation

    @property
    def schema(self) -> ToolSchema:
        """The tool, with the sub-agents that there are."""
        base = super().schema
        kinds = self._delegation.kinds
        listed = "\n".join(f"- {name}: {plain_line(purpose)}" for name, purpose in kinds.items())
        properties = {**base.parameters["properties"]}
        properties["subagent_type"] = {**properties["subagent_type"], "enum": [*kinds]}
        return ToolSchema(
            base.name,
            f"{base.description}\n\nThe sub-agents:\n\n{listed}",
            {**base.parameters, "properties": properties},
        )

    async def run(self, params: TaskParams, call: RunningCall) -> ToolReturn:
        """Give the work on."""
        if not params.prompt.strip():
            return failed("The prompt is empty. Say what the sub-agent is to do.", brief="no prompt")
        kind = params.subagent_type.strip()
        if params.resume is None and kind not in self._delegation.kinds:
            known = ", ".join(self._delegation.kinds) or "none"
            named = f"There is no sub-agent “{plain_line(kind)}”." if kind else "subagent_type is missing."
            return failed(f"{named} There are: {known}.", brief="no such sub-agent")
        return await self._delegation.give(
            Assignment(
                kind=kind,
                description=plain_line(params.description) or plain_line(params.prompt)[:60],
                prompt=params.prompt,
                model=params.model,
                resume=params.resume,
                in_background=params.run_in_background,
                timeout_s=params.timeout,
            ),
            call,
        )
