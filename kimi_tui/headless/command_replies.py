"""Text of the engine's replies to a command that was sent as a prompt."""

from kimi_tui.frontend.text.agents import agents_text
from kimi_tui.frontend.text.attempts import attempt_result_text, attempts_text
from kimi_tui.frontend.text.bisect import result_text
from kimi_tui.frontend.text.change_review import planned_file_text, review_text
from kimi_tui.frontend.text.context_usage import context_usage_text
from kimi_tui.frontend.text.review import comments_text
from kimi_tui.frontend.text.timeline import comparison_text, fork_text, patch_text, plan_text, revert_text
from kimi_tui.frontend.text.usage import usage_text
from kimi_tui.frontend.text.why import why_text
from kimi_tui.i18n.translate import translate_message
from kimi_tui.wire.agent_list import AgentList
from kimi_tui.wire.attempts import AttemptChanges, AttemptList
from kimi_tui.wire.bisect import BisectResult
from kimi_tui.wire.context_usage import WindowFilling
from kimi_tui.wire.events import Event, Notification
from kimi_tui.wire.review import ChangeReview, CommentList, PlannedFileContent
from kimi_tui.wire.timeline import Comparison, PatchWritten, Reverted, RevertPlan, SessionForked
from kimi_tui.wire.usage import UsageReport
from kimi_tui.wire.why import LineReason


def render_reply(event: Event) -> str:
    """Return the text of `event` as a reply to a command, or an empty string if it isn't one."""
    match event:
        case Notification(severity="info", title=title, body=body):
            parts = translate_message(title), translate_message(body)
        case RevertPlan():
            parts = plan_text(event)
        case Comparison():
            parts = comparison_text(event)
        case PatchWritten():
            parts = patch_text(event)
        case BisectResult():
            parts = result_text(event)
        case LineReason():
            parts = why_text(event)
        case AttemptList(is_requested=True):
            parts = attempts_text(event)
        case AttemptChanges():
            parts = attempt_result_text(event)
        case CommentList():
            parts = comments_text(event)
        case ChangeReview():
            parts = review_text(event)
        case PlannedFileContent():
            parts = planned_file_text(event)
        case SessionForked():
            parts = fork_text(event)
        case AgentList():
            parts = agents_text(event)
        case WindowFilling():
            parts = context_usage_text(event)
        case UsageReport():
            parts = usage_text(event)
        case Reverted(reason=reason) if reason != "clear":
            parts = revert_text(event)
        case _:
            return ""
    return "\n".join(filter(None, parts))
