"""The user's hooks before and after a tool call."""

from dataclasses import replace
from typing import Any

from kimi_tui.agentspec.tool_names import other_names
from kimi_tui.base.content_parts import text_of
from kimi_tui.base.message import ToolCall
from kimi_tui.hooks.decision import HookDecision
from kimi_tui.hooks.dispatcher import HookDispatcher
from kimi_tui.hooks.events import PostToolUse, PostToolUseFailure, PreToolUse
from kimi_tui.tools.tool import failure
from kimi_tui.tools.toolset import ResolvedCall
from kimi_tui.wire.events import ToolReturn

MAX_OUTPUT_CHARS = 100_000
"""Maximum number of characters of a tool's output that hooks get."""


class HookedCall:
    """Runs the hooks of one tool call.

    A hook before the call can block it. The model reads what hooks say after the call.
    """

    def __init__(self, hooks: HookDispatcher, call: ToolCall) -> None:
        self._hooks = hooks
        self._call = call
        self._event_fields: dict[str, Any] | None = None
        """Fields that the call's events share; None until the call has begun."""

    async def run_before(self, resolved: ResolvedCall) -> ToolReturn | None:
        """Run the hooks before the call. Return a result that replaces the tool's; None if it may run."""
        name = resolved.name
        own_name = getattr(resolved.tool, "name", name)
        fields: dict[str, Any] = {
            "tool_name": name,
            "tool_input": resolved.params.model_dump(mode="json", by_alias=True, exclude_unset=True),
            "tool_call_id": self._call.id,
            "tool_aliases": (own_name, *other_names(own_name)),
        }
        outcome = await self._hooks.fire(PreToolUse(**fields))
        if outcome.blocked:
            return failure(
                f"One of the user's hooks blocked the call: {outcome.reason}",
                brief="blocked by a hook",
            )
        self._event_fields = fields
        self._context = outcome.context
        return None

    async def run_after(self, result: ToolReturn) -> ToolReturn:
        """Run the hooks after the call and return `result` with their messages.

        No hooks run for a call that never began or was rejected.
        """
        if self._event_fields is None or (result.extras or {}).get("rejected"):
            return result
        output = text_of(result.output)[:MAX_OUTPUT_CHARS]
        if result.is_error:
            error = "\n".join(filter(None, (result.message, output)))
            outcome = await self._hooks.fire(PostToolUseFailure(**self._event_fields, error=error))
        else:
            outcome = await self._hooks.fire(
                PostToolUse(**self._event_fields, tool_output=output or result.message)
            )
        return _add_hook_messages(
            result, HookDecision(outcome.blocked, outcome.reason, (*self._context, *outcome.context))
        )


def _add_hook_messages(result: ToolReturn, outcome: HookDecision) -> ToolReturn:
    messages = list(outcome.context)
    if outcome.blocked:
        messages.append(f"One of the user's hooks objects: {outcome.reason}")
    if not messages:
        return result
    return replace(result, message="\n".join(filter(None, (result.message, *messages))))
