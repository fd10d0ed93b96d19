"""A tool call with the user's hooks before and after it."""

from dataclasses import replace
from typing import Any

from pydantic import BaseModel

from kimi_tui.agentspec.tool_names import other_names
from kimi_tui.base.content import text_of
from kimi_tui.base.message import ToolCall
from kimi_tui.hooks.events import PostToolUse, PostToolUseFailure, PreToolUse
from kimi_tui.hooks.hooks import Firing
from kimi_tui.hooks.outcome import HookOutcome
from kimi_tui.tools.tool import Tool, failed
from kimi_tui.wire.events import ToolReturn

LONGEST_OUTPUT = 100_000
"""Characters of a tool's output that hooks are told."""


class HookedCall:
    """One call. A hook's no before it keeps the tool from running; what they say after it the model reads."""

    def __init__(self, hooks: Firing, call: ToolCall) -> None:
        self._hooks = hooks
        self._call = call
        self._told: dict[str, Any] | None = None
        """What each event of the call tells; None while it has not begun."""

    async def before(self, tool: Tool[Any], params: BaseModel) -> ToolReturn | None:
        """The result that stands in place of the tool's; None when it may run."""
        name = self._call.function.name
        own = getattr(tool, "name", name)
        told: dict[str, Any] = {
            "tool_name": name,
            "tool_input": params.model_dump(mode="json", by_alias=True, exclude_unset=True),
            "tool_call_id": self._call.id,
            "known_as": (own, *other_names(own)),
        }
        outcome = await self._hooks.fire(PreToolUse(**told))
        if outcome.blocked:
            return failed(
                f"A hook of the user's kept the call from running: {outcome.reason}",
                brief="blocked by a hook",
            )
        self._told = told
        self._context = outcome.context
        return None

    async def after(self, result: ToolReturn) -> ToolReturn:
        """`result`, with what the hooks say of it; as it is for a call that never began or was rejected."""
        if self._told is None or (result.extras or {}).get("rejected"):
            return result
        output = text_of(result.output)[:LONGEST_OUTPUT]
        if result.is_error:
            error = "\n".join(filter(None, (result.message, output)))
            outcome = await self._hooks.fire(PostToolUseFailure(**self._told, error=error))
        else:
            outcome = await self._hooks.fire(PostToolUse(**self._told, tool_output=output or result.message))
        return _with_remarks(
            result, HookOutcome(outcome.blocked, outcome.reason, (*self._context, *outcome.context))
        )


def _with_remarks(result: ToolReturn, outcome: HookOutcome) -> ToolReturn:
    remarks = list(outcome.context)
    if outcome.blocked:
        remarks.append(f"A hook of the user's objects: {outcome.reason}")
    if not remarks:
        return result
    return replace(result, message="\n".join(filter(None, (result.message, *remarks))))
