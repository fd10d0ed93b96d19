"""The repetition guard: a model that does the same again and again is told so, then stopped."""

import json
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress

from kimi_tui.base.message import ToolCall
from kimi_tui.base.terminal import plain_line
from kimi_tui.soul.limits import LimitReached, RepetitionLimits
from kimi_tui.tools.results import result_content
from kimi_tui.wire.events import ToolReturn

_LONGEST_ARGUMENTS = 120


class Repetition:
    """Watches the steps of one turn.

    A step brings nothing new when each of its calls was made before in the turn, with the same arguments, and
    had the same result. What counts is how often the same step comes since the last that brought something
    new. So neither waiting for output that changes counts, nor running the same tests between different
    edits, nor reading again what was read long ago; going round in a circle does.
    """

    def __init__(self, limits: RepetitionLimits = RepetitionLimits()) -> None:
        self._limits = limits
        self._seen: set[int] = set()
        self._stale: Counter[frozenset[int]] = Counter()
        """The steps since the last that brought something new."""
        self._times = 1
        """How often in a row the same was done."""
        self._what = ""

    def begin(self) -> None:
        """A turn begins, or the model has forgotten what it saw: it may look again."""
        self._seen.clear()
        self._stale.clear()
        self._times = 1

    def look_at(self, results: Sequence[tuple[ToolCall, ToolReturn]]) -> str:
        """Take a step in; what the model should be told of it, mostly nothing."""
        keys = frozenset(hash((_call_key(call), result_content(result))) for call, result in results)
        if keys <= self._seen:
            self._stale[keys] += 1
        else:
            self._seen |= keys
            self._stale.clear()
        self._times = 1 + self._stale[keys]
        self._what = ", ".join(dict.fromkeys(_described(call) for call, _ in results))
        if not self._limits.told_after or self._times < self._limits.told_after:
            return ""
        return (
            f"You have done the same {self._times} times now, with the same result: {self._what}. It will "
            "not change by itself. Do something else: look at the cause, try another way, or wait in a "
            "single call. If you can't get on, end your turn and say what is in the way."
        )

    def check(self) -> None:
        """Raises LimitReached when the same was done too often."""
        if self._limits.stopped_after and self._times >= self._limits.stopped_after:
            raise LimitReached(
                f"The model did the same {self._times} times with the same result: {self._what}.",
                hint="Say what it should do instead; repetition_stop_after under [loop_control] says how "
                "often it may.",
            )


def _call_key(call: ToolCall) -> str:
    """Name and arguments, however the arguments are written."""
    text = call.function.arguments or ""
    with suppress(ValueError, RecursionError):  # what is no JSON is compared as it is written
        text = json.dumps(json.loads(text), sort_keys=True)
    return f"{call.function.name} {text}"


def _described(call: ToolCall) -> str:
    arguments = plain_line(call.function.arguments or "")
    if len(arguments) > _LONGEST_ARGUMENTS:
        arguments = f"{arguments[:_LONGEST_ARGUMENTS]}…"
    return f"{call.function.name} {arguments}".rstrip()
