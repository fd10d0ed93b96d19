"""What print mode says on stderr, in whatever format stdout is."""

from kimi_tui.base.output import Output
from kimi_tui.base.terminal import plain, plain_line
from kimi_tui.language.saying import joined, retell, say
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.events import CompactionBegin, CompactionEnd, Notification, StepRetry, TurnFailure
from kimi_tui.wire.requests import ApprovalRequest


class Remarks:
    """Lines for whoever watches; nothing that a program has to read."""

    def __init__(self, err: Output) -> None:
        self._err = err

    async def say(self, line: str) -> None:
        """One line."""
        await self._err.write(f"{plain_line(retell(line))}\n")

    async def on(self, event: Outgoing) -> None:
        """What is worth a line in every format."""
        match event:
            case StepRetry():
                await self.say(_retry(event))
            case CompactionBegin():
                await self.say(say("Compacting the context."))
            case CompactionEnd(tokens_before=int(before), tokens_after=int(after)):
                await self.say(
                    say(
                        "The context is compacted: {before:,} to {after:,} tokens.",
                        before=before,
                        after=after,
                    )
                )
            case CompactionEnd():
                await self.say(say("The context stays as it was."))
            case Notification(title=title, body=body, severity=severity) if severity != "info":
                head = say("Warning:") if severity == "warning" else say("Error:")
                await self.say(joined(head, _before(body, retell(title)), retell(body)))
            case ApprovalRequest(sender=tool, action=action, description=description):
                await self.say(
                    say(
                        "Denied: {tool} asked to {act} ({description}), and nobody can approve it here."
                        " Allow it with --yolo or a rule under permissions.allow.",
                        tool=tool,
                        act=retell(action),
                        description=description,
                    )
                )

    async def failure(self, error: TurnFailure) -> None:
        """Why the run ended: what happened, and what to do."""
        await self._err.write(f"{plain(joined(retell(error.what), retell(error.hint))).strip()}\n")


def _before(body: str, title: str) -> str:
    """A title that is no sentence of its own, fit to stand before `body` on its line."""
    return say("{title}:", title=title) if body and title[-1:].isalnum() else title


def _retry(retry: StepRetry) -> str:
    reason = f"HTTP {retry.status_code}" if retry.status_code else retry.error_type
    return say(
        "The model's answer failed ({reason}). Trying again in {wait:.1f} s,"
        " attempt {attempt} of {attempts}.",
        reason=reason,
        wait=retry.wait_s,
        attempt=retry.next_attempt,
        attempts=retry.max_attempts,
    )
