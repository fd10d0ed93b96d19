"""Decisions of hooks: parsed from exit status and output, and combined."""

import json
from collections.abc import Sequence
from typing import Any

from kimi_tui.base.frozen import frozen

MAX_TEXT_CHARS = 10_000
"""Maximum characters of a reason or of context."""
_BLOCKING_STATUS = 2
_BLOCKING_DECISIONS = ("deny", "block")


@frozen
class HookDecision:
    """Decision of one hook, or of all hooks of an event combined."""

    blocked: bool = False
    reason: str = ""
    """Why the event is blocked, as the hook put it."""
    context: tuple[str, ...] = ()
    """Additional context for the model."""


def parse_decision(status: int, output: str, errors: str, *, plain_text: bool) -> HookDecision | None:
    """Return the decision of a hook that exited with `status`; None if it failed, which decides nothing.

    Status 0 allows, unless JSON on stdout says otherwise. Status 2 blocks, with the reason on stderr. If
    `plain_text` is set, stdout that isn't JSON is context.
    """
    if status == _BLOCKING_STATUS:
        return HookDecision(blocked=True, reason=_shorten(errors) or "The hook gave no reason.")
    if status != 0:
        return None
    decision = _parse_json_object(output)
    if decision is not None:
        return _decision_from_json(decision)
    text = _shorten(output)
    return HookDecision(context=(text,) if text and plain_text else ())


def combine_decisions(decisions: Sequence[HookDecision]) -> HookDecision:
    """Combine decisions in the order of the hooks: any of them can block; reasons and context are joined."""
    reasons = dict.fromkeys(decision.reason for decision in decisions if decision.blocked)
    return HookDecision(
        blocked=any(decision.blocked for decision in decisions),
        reason="\n".join(reasons),
        context=tuple(text for decision in decisions for text in decision.context),
    )


def _decision_from_json(decision: dict[str, Any]) -> HookDecision:
    """Return the decision in a JSON object, in kimi-cli's format or the shorter one of other agents."""
    specific = decision.get("hookSpecificOutput")
    specific = specific if isinstance(specific, dict) else {}
    blocked = (
        specific.get("permissionDecision") in _BLOCKING_DECISIONS
        or decision.get("decision") in _BLOCKING_DECISIONS
    )
    reason = specific.get("permissionDecisionReason") or decision.get("reason") or ""
    context = specific.get("additionalContext")
    return HookDecision(
        blocked=blocked,
        reason=(_shorten(str(reason)) or "The hook gave no reason.") if blocked else "",
        context=(_shorten(context),) if isinstance(context, str) and context.strip() else (),
    )


def _parse_json_object(text: str) -> dict[str, Any] | None:
    if not text.lstrip().startswith("{"):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _shorten(text: str) -> str:
    text = text.strip()
    return text if len(text) <= MAX_TEXT_CHARS else f"{text[:MAX_TEXT_CHARS]} [truncated]"
