"""What the program remarks on how things went: a turn that ended early, a call tried again, a compaction."""

from kimi_tui.base.terminal import plain_line
from kimi_tui.tui.markdown.line import Spans
from kimi_tui.tui.transcript.blocks.block import seconds, tokens
from kimi_tui.tui.transcript.blocks.notice import NoticeBlock, Severity
from kimi_tui.wire.events import CompactionEnd, HookResolved, StepRetry, TurnEnd


def of_turn_end(end: TurnEnd, *, margin: Spans = ()) -> NoticeBlock | None:
    """Why a turn ended before it was finished; None when it was."""
    if end.failure is not None:
        severity: Severity = "warning" if end.outcome in ("max_steps", "limit") else "error"
        return NoticeBlock(severity, end.failure.what, end.failure.hint, margin=margin)
    match end.outcome:
        case "finished":
            return None
        case "cancelled":
            return NoticeBlock("warning", "Interrupted.", margin=margin)
        case "rejected":
            return NoticeBlock("info", "You said no, so the turn ended.", margin=margin)
        case "max_steps" | "limit":
            what = f"The turn stopped after {end.steps} steps."
            return NoticeBlock("warning", what, "Say “continue” to go on.", margin=margin)
        case "failed":
            return NoticeBlock("error", "The turn failed.", "Say “continue” to try again.", margin=margin)


def of_retry(retry: StepRetry, *, margin: Spans = ()) -> NoticeBlock:
    """That the model is asked again."""
    cause = f"status {retry.status_code}" if retry.status_code else plain_line(retry.error_type)
    wait = f" in {seconds(retry.wait_s)}" if retry.wait_s >= 0.05 else ""
    what = f"The model's server failed ({cause}); trying again{wait}."
    return NoticeBlock(
        "warning", what, f"Attempt {retry.next_attempt} of {retry.max_attempts}.", margin=margin
    )


def of_hook(hook: HookResolved, *, margin: Spans = ()) -> NoticeBlock | None:
    """That a hook said no, and why; None where a call's result or the turn's end says so anyway."""
    match hook.event:
        case "PreToolUse" | "UserPromptSubmit" | "SubagentStart":
            return None
        case "PostToolUse" | "PostToolUseFailure":
            what = f"A hook objects to what {plain_line(hook.target)} did."
        case "Stop":
            what = "A hook makes the agent go on."
        case "PreCompact":
            what = "A hook keeps the conversation as it is."
        case _:
            what = f"A hook objects to {plain_line(hook.event)}."
    return NoticeBlock("warning", what, hook.reason, margin=margin)


def of_compaction(end: CompactionEnd) -> str:
    """What a compaction saved."""
    if end.tokens_before is None or end.tokens_after is None:
        return "the compaction ended without a result"
    return f"context compacted · {tokens(end.tokens_before)} → {tokens(end.tokens_after)} tokens"
