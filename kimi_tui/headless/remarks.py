"""What print mode says on stderr, in whatever format stdout is."""

from kimi_tui.base.output import Output
from kimi_tui.base.terminal import plain, plain_line
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.events import CompactionBegin, CompactionEnd, Notification, StepRetry, TurnFailure
from kimi_tui.wire.requests import ApprovalRequest


class Remarks:
    """Lines for whoever watches; nothing that a program has to read."""

    def __init__(self, err: Output) -> None:
        self._err = err

    async def say(self, line: str) -> None:
        """One line."""
        await self._err.write(f"{plain_line(line)}\n")

    async def on(self, event: Outgoing) -> None:
        """What is worth a line in every format."""
        match event:
            case StepRetry():
                await self.say(_retry(event))
            case CompactionBegin():
                await self.say("Compacting the context.")
            case CompactionEnd(tokens_before=int(before), tokens_after=int(after)):
                await self.say(f"The context is compacted: {before:,} to {after:,} tokens.")
            case CompactionEnd():
                await self.say("The context stays as it was.")
            case Notification(title=title, body=body, severity=severity) if severity != "info":
                await self.say(f"{severity.capitalize()}: {title} {body}")
            case ApprovalRequest(sender=tool, action=action, description=description):
                await self.say(
                    f"Denied: {tool} asked to {action} ({description}), and nobody can approve it here."
                    " Allow it with --yolo or a rule under permissions.allow."
                )

    async def failure(self, error: TurnFailure) -> None:
        """Why the run ended: what happened, and what to do."""
        await self._err.write(f"{plain(f'{error.what} {error.hint}').strip()}\n")


def _retry(retry: StepRetry) -> str:
    reason = f"HTTP {retry.status_code}" if retry.status_code else retry.error_type
    return (
        f"The model's answer failed ({reason}). Trying again in {retry.wait_s:.1f} s,"
        f" attempt {retry.next_attempt} of {retry.max_attempts}."
    )
