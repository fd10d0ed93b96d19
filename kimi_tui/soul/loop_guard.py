"""Loop guard: warns and then stops a model that repeats itself."""

import json
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress

from kimi_tui.base.errors import LimitReached
from kimi_tui.base.message import ToolCall
from kimi_tui.base.message_text import msg
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.soul.limits import LoopLimits
from kimi_tui.tools.result_messages import result_content
from kimi_tui.wire.events import ToolReturn

_MAX_ARGUMENTS = 120


class LoopGuard:
    """Detects repetition in the steps of one turn.

    A step is a repetition if each of its calls already occurred in the turn, with the same arguments and the
    same result. The guard counts how often each repeated step occurs since the last new step. Polling
    changing output, running the same tests between different edits and rereading old files don't count.
    """

    def __init__(self, limits: LoopLimits = LoopLimits()) -> None:
        self._limits = limits
        self._seen: set[int] = set()
        self._repeated_steps: Counter[frozenset[int]] = Counter()
        """Number of occurrences of each repeated step since the last new step."""
        self._count = 1
        """Occurrences of the latest step, including the first."""
        self._description = ""

    def reset(self) -> None:
        """Start over. Called when a turn begins, or a compaction has removed results.

        After a compaction, the model may need to repeat calls.
        """
        self._seen.clear()
        self._repeated_steps.clear()
        self._count = 1

    def record_step(self, results: Sequence[tuple[ToolCall, ToolReturn]]) -> str:
        """Record a step. Return a warning for the model, or an empty string."""
        keys = frozenset(hash((_call_key(call), result_content(result))) for call, result in results)
        if keys <= self._seen:
            self._repeated_steps[keys] += 1
        else:
            self._seen |= keys
            self._repeated_steps.clear()
        self._count = 1 + self._repeated_steps[keys]
        self._description = ", ".join(dict.fromkeys(_describe_call(call) for call, _ in results))
        if not self._limits.warn_after or self._count < self._limits.warn_after:
            return ""
        return (
            f"You have repeated the same step {self._count} times with the same result: {self._description}. "
            "Repeating it again won't help. Do something else: look for the cause, try another way, or wait "
            "in a single call. If you are stuck, end your turn and say what blocks you."
        )

    def check(self) -> None:
        """Raise LimitReached if a step was repeated too often."""
        if self._limits.stop_after and self._count >= self._limits.stop_after:
            raise LimitReached(
                msg(
                    "The model repeated the same step {count} times with the same result: {result}.",
                    count=self._count,
                    result=self._description,
                ),
                hint="Tell it what to do instead. repetition_stop_after under [loop_control] sets the limit.",
            )


def _call_key(call: ToolCall) -> str:
    """Return a key that doesn't depend on the formatting of the arguments."""
    text = call.function.arguments or ""
    with suppress(ValueError, RecursionError):  # compare invalid JSON as text
        text = json.dumps(json.loads(text), sort_keys=True)
    return f"{call.function.name} {text}"


def _describe_call(call: ToolCall) -> str:
    arguments = sanitize_line(call.function.arguments or "")
    if len(arguments) > _MAX_ARGUMENTS:
        arguments = f"{arguments[:_MAX_ARGUMENTS]}…"
    return f"{call.function.name} {arguments}".rstrip()
