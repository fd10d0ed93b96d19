"""What hooks decide: read from an exit status and its output, and put together."""

import json
from collections.abc import Sequence
from typing import Any

from kimi_tui.base.value import value

LONGEST_TEXT = 10_000
"""Characters of a reason or of context that are kept."""
_BLOCKING_STATUS = 2
_NO = ("deny", "block")


@value
class HookOutcome:
    """What one hook, or all hooks of an event together, decided."""

    blocked: bool = False
    reason: str = ""
    """Why it is blocked, in the hook's words."""
    context: tuple[str, ...] = ()
    """What the model should know besides."""


def read_outcome(status: int, output: str, errors: str, *, plain_text: bool) -> HookOutcome | None:
    """The decision of a hook that ended with `status`; None when it failed, which decides nothing.

    0 allows; JSON on stdout may say otherwise. 2 blocks, and stderr says why. With `plain_text` stdout that
    is no JSON is context.
    """
    if status == _BLOCKING_STATUS:
        return HookOutcome(blocked=True, reason=_shortened(errors) or "The hook gave no reason.")
    if status != 0:
        return None
    decision = _json_object(output)
    if decision is not None:
        return _outcome_in(decision)
    text = _shortened(output)
    return HookOutcome(context=(text,) if text and plain_text else ())


def together(outcomes: Sequence[HookOutcome]) -> HookOutcome:
    """One no is a no; reasons and context add up, in the order of the hooks."""
    reasons = dict.fromkeys(outcome.reason for outcome in outcomes if outcome.blocked)
    return HookOutcome(
        blocked=any(outcome.blocked for outcome in outcomes),
        reason="\n".join(reasons),
        context=tuple(text for outcome in outcomes for text in outcome.context),
    )


def _outcome_in(decision: dict[str, Any]) -> HookOutcome:
    """What a JSON object says, in kimi-cli's words or in the shorter ones that other agents take."""
    specific = decision.get("hookSpecificOutput")
    specific = specific if isinstance(specific, dict) else {}
    blocked = specific.get("permissionDecision") in _NO or decision.get("decision") in _NO
    reason = specific.get("permissionDecisionReason") or decision.get("reason") or ""
    context = specific.get("additionalContext")
    return HookOutcome(
        blocked=blocked,
        reason=(_shortened(str(reason)) or "The hook gave no reason.") if blocked else "",
        context=(_shortened(context),) if isinstance(context, str) and context.strip() else (),
    )


def _json_object(text: str) -> dict[str, Any] | None:
    if not text.lstrip().startswith("{"):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _shortened(text: str) -> str:
    text = text.strip()
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]} [cut here]"
