"""Notices about a turn: early ends, retries, hooks and compaction."""

from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.i18n.translate import tr, translate_message
from kimi_tui.tui.markdown.styled_line import Spans
from kimi_tui.tui.transcript.blocks.block import format_seconds, format_tokens
from kimi_tui.tui.transcript.blocks.notice import NoticeBlock, Severity
from kimi_tui.wire.events import CompactionEnd, HookResolved, StepRetry, TurnEnd


def turn_end_notice(end: TurnEnd, *, margin: Spans = ()) -> NoticeBlock | None:
    """Return the notice about a turn that ended early. None for a finished turn."""
    if end.failure is not None:
        severity: Severity = "warning" if end.outcome in ("max_steps", "limit") else "error"
        return NoticeBlock(
            severity, translate_message(end.failure.what), translate_message(end.failure.hint), margin=margin
        )
    match end.outcome:
        case "finished":
            return None
        case "cancelled":
            return NoticeBlock("warning", tr("Interrupted."), margin=margin)
        case "rejected":
            return NoticeBlock("info", tr("You rejected the request. The turn ended."), margin=margin)
        case "max_steps" | "limit":
            message = tr("The turn stopped after {steps} steps.", steps=end.steps)
            return NoticeBlock("warning", message, tr("Send “continue” to resume."), margin=margin)
        case "failed":
            return NoticeBlock(
                "error", tr("The turn failed."), tr("Send “continue” to retry."), margin=margin
            )


def retry_notice(retry: StepRetry, *, margin: Spans = ()) -> NoticeBlock:
    """Return the notice about a retried model request."""
    cause = (
        tr("status {code}", code=retry.status_code) if retry.status_code else _error_cause(retry.error_type)
    )
    if retry.error_type == "APIConnectionError":
        message = tr(
            "Can't connect to the model provider. Retrying in {wait}.",
            wait=format_seconds(retry.wait_s),
        )
    elif retry.wait_s >= 0.05:
        message = tr(
            "Model provider error ({cause}). Retrying in {wait}.",
            cause=cause,
            wait=format_seconds(retry.wait_s),
        )
    else:
        message = tr("Model provider error ({cause}). Retrying.", cause=cause)
    return NoticeBlock(
        "warning",
        message,
        tr(
            "Attempt {next_attempt} of {max_attempts}.",
            next_attempt=retry.next_attempt,
            max_attempts=retry.max_attempts,
        ),
        margin=margin,
    )


def _error_cause(error_type: str) -> str:
    match error_type:
        case "APITimeoutError":
            return tr("timed out")
        case "APIEmptyResponseError":
            return tr("empty response")
        case _:
            return sanitize_line(error_type)


def hook_notice(hook: HookResolved, *, margin: Spans = ()) -> NoticeBlock | None:
    """Return the notice about a blocking hook. None if the tool result or the turn's end reports the block.

    Hooks that didn't block have no notice.
    """
    if hook.action != "block":
        return None
    match hook.event:
        case "PreToolUse" | "UserPromptSubmit" | "SubagentStart":
            return None
        case "PostToolUse" | "PostToolUseFailure":
            message = tr("A hook rejected the result of {target}.", target=sanitize_line(hook.target))
        case "Stop":
            message = tr("A hook made the agent continue.")
        case "PreCompact":
            message = tr("A hook blocked the compaction.")
        case _:
            message = tr("A hook blocked {event}.", event=sanitize_line(hook.event))
    return NoticeBlock("warning", message, hook.reason, margin=margin)


def compaction_summary(end: CompactionEnd) -> str:
    """Return a message about the tokens saved by a compaction."""
    if end.tokens_before is None or end.tokens_after is None:
        return tr("Compaction didn't complete")
    return tr(
        "Conversation compacted · {before} → {after} tokens",
        before=format_tokens(end.tokens_before),
        after=format_tokens(end.tokens_after),
    )
