"""Notices of print mode on stderr, for every output format."""

from kimi_tui.base.output_stream import OutputStream
from kimi_tui.base.terminal_text import sanitize, sanitize_line
from kimi_tui.i18n.translate import join_sentences, tr, translate_message
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.events import CompactionBegin, CompactionEnd, Notification, StepRetry, TurnFailure
from kimi_tui.wire.permissions import PermissionList
from kimi_tui.wire.requests import ApprovalRequest


class StderrNotices:
    """Writes lines for people to read. Programs don't need them."""

    def __init__(self, err: OutputStream) -> None:
        self._err = err

    async def write_line(self, line: str) -> None:
        """Write a line."""
        await self._err.write(f"{sanitize_line(translate_message(line))}\n")

    async def report_event(self, event: Outgoing) -> None:
        """Write a line about `event` if it is relevant in every format."""
        match event:
            case StepRetry():
                await self.write_line(_retry_text(event))
            case CompactionBegin():
                await self.write_line(tr("Compacting the conversation."))
            case CompactionEnd(tokens_before=int(before), tokens_after=int(after)):
                await self.write_line(
                    tr(
                        "Conversation compacted from {before:,} to {after:,} tokens.",
                        before=before,
                        after=after,
                    )
                )
            case CompactionEnd():
                await self.write_line(tr("Compaction didn't complete."))
            case Notification(type="asks_first", title=title, body=body):
                await self.write_line(join_sentences(f"{translate_message(title)}.", translate_message(body)))
            case Notification(title=title, body=body, severity=severity) if severity != "info":
                prefix = tr("Warning:") if severity == "warning" else tr("Error:")
                await self.write_line(
                    join_sentences(
                        prefix, _title_prefix(body, translate_message(title)), translate_message(body)
                    )
                )
            case PermissionList(rules=rules, is_question=True):
                await self.write_line(
                    tr(
                        "{count} permissions of an earlier run of this session aren't in effect."
                        " Allow what you need with --allow RULE.",
                        count=len(rules),
                    )
                )
            case ApprovalRequest(sender=tool, action=action, description=description):
                await self.write_line(
                    tr(
                        "Denied: {tool} asked to {act} ({description}), but no one can approve it here."
                        " Allow it with --yolo or a rule in permissions.allow.",
                        tool=tool,
                        act=translate_message(action),
                        description=description,
                    )
                )

    async def report_failure(self, error: TurnFailure) -> None:
        """Write why the run ended and what to do."""
        text = join_sentences(translate_message(error.what), translate_message(error.hint))
        await self._err.write(f"{sanitize(text).strip()}\n")


def _title_prefix(body: str, title: str) -> str:
    """Return `title` in the form that precedes `body` on the same line."""
    return tr("{title}:", title=title) if body and title[-1:].isalnum() else title


def _retry_text(retry: StepRetry) -> str:
    reason = f"HTTP {retry.status_code}" if retry.status_code else retry.error_type
    return tr(
        "The model request failed ({reason}). Retrying in {wait:.1f} s, attempt {attempt} of {attempts}.",
        reason=reason,
        wait=retry.wait_s,
        attempt=retry.next_attempt,
        attempts=retry.max_attempts,
    )
