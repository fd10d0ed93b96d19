"""What the program remarks on how things went: a turn that ended early, a call tried again, a compaction."""

from kimi_tui.base.terminal import plain_line
from kimi_tui.language.saying import retell, say
from kimi_tui.tui.markdown.line import Spans
from kimi_tui.tui.transcript.blocks.block import seconds, tokens
from kimi_tui.tui.transcript.blocks.notice import NoticeBlock, Severity
from kimi_tui.wire.events import CompactionEnd, HookResolved, StepRetry, TurnEnd


def of_turn_end(end: TurnEnd, *, margin: Spans = ()) -> NoticeBlock | None:
    """Why a turn ended before it was finished; None when it was."""
    if end.failure is not None:
        severity: Severity = "warning" if end.outcome in ("max_steps", "limit") else "error"
        return NoticeBlock(severity, retell(end.failure.what), retell(end.failure.hint), margin=margin)
    match end.outcome:
        case "finished":
            return None
        case "cancelled":
            return NoticeBlock("warning", say("Interrupted."), margin=margin)
        case "rejected":
            return NoticeBlock("info", say("You said no, so the turn ended."), margin=margin)
        case "max_steps" | "limit":
            what = say("The turn stopped after {steps} steps.", steps=end.steps)
            return NoticeBlock("warning", what, say("Say “continue” to go on."), margin=margin)
        case "failed":
            return NoticeBlock(
                "error", say("The turn failed."), say("Say “continue” to try again."), margin=margin
            )


def of_retry(retry: StepRetry, *, margin: Spans = ()) -> NoticeBlock:
    """That the model is asked again."""
    cause = say("status {code}", code=retry.status_code) if retry.status_code else _cause(retry.error_type)
    if retry.error_type == "APIConnectionError":
        what = say(
            "The connection to the model's server failed; trying again in {wait}.", wait=seconds(retry.wait_s)
        )
    elif retry.wait_s >= 0.05:
        what = say(
            "The model's server failed ({cause}); trying again in {wait}.",
            cause=cause,
            wait=seconds(retry.wait_s),
        )
    else:
        what = say("The model's server failed ({cause}); trying again.", cause=cause)
    return NoticeBlock(
        "warning",
        what,
        say(
            "Attempt {next_attempt} of {max_attempts}.",
            next_attempt=retry.next_attempt,
            max_attempts=retry.max_attempts,
        ),
        margin=margin,
    )


def _cause(error_type: str) -> str:
    match error_type:
        case "APITimeoutError":
            return say("it fell silent")
        case "APIEmptyResponseError":
            return say("it answered with nothing")
        case _:
            return plain_line(error_type)


def of_hook(hook: HookResolved, *, margin: Spans = ()) -> NoticeBlock | None:
    """That a hook said no, and why; None where a call's result or the turn's end says so anyway."""
    match hook.event:
        case "PreToolUse" | "UserPromptSubmit" | "SubagentStart":
            return None
        case "PostToolUse" | "PostToolUseFailure":
            what = say("A hook objects to what {target} did.", target=plain_line(hook.target))
        case "Stop":
            what = say("A hook makes the agent go on.")
        case "PreCompact":
            what = say("A hook keeps the conversation as it is.")
        case _:
            what = say("A hook objects to {event}.", event=plain_line(hook.event))
    return NoticeBlock("warning", what, hook.reason, margin=margin)


def of_compaction(end: CompactionEnd) -> str:
    """What a compaction saved."""
    if end.tokens_before is None or end.tokens_after is None:
        return say("the compaction ended without a result")
    return say(
        "context compacted · {before} → {after} tokens",
        before=tokens(end.tokens_before),
        after=tokens(end.tokens_after),
    )
