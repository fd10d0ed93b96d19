"""Checkpoints as an agent makes them: of its conversation, with the files' state, and told to front ends."""

from collections.abc import Sequence

from kimi_tui.base.content import ContentPart, text_of
from kimi_tui.base.terminal import plain_line
from kimi_tui.history.context import Context
from kimi_tui.soul.file_states import FileStates
from kimi_tui.soul.send import Send
from kimi_tui.tools.dmail import DMailbox
from kimi_tui.wire.events import CheckpointCreated, CheckpointKind

LABEL_LENGTH = 80


class Checkpoints:
    """Makes the checkpoints of one conversation; with `shown`, its model sees their numbers."""

    def __init__(
        self,
        *,
        context: Context,
        dmailbox: DMailbox,
        send: Send,
        file_states: FileStates | None,
        shown: bool,
    ) -> None:
        self._context = context
        dmailbox.set_checkpoints(lambda: {known.id for known in context.checkpoints})
        self._send = send
        self._file_states = file_states
        self._shown = shown

    async def make(self, kind: CheckpointKind, label: str) -> int:
        """Make one and return its id. Raises JournalWriteError."""
        files = None
        if self._file_states is not None:
            files = self._file_states.at_checkpoint(afresh=kind == "user")
        checkpoint = await self._context.checkpoint(
            self._shown,
            kind=kind,
            label=label,
            files=files.state if files is not None else None,
            changes=files.changes if files is not None else None,
        )
        if self._file_states is not None and files is not None and files.is_due:
            self._file_states.find_out(checkpoint.id)
        self._send(
            CheckpointCreated(
                checkpoint.id,
                checkpoint.uid,
                kind=kind,
                label=label,
                parent=checkpoint.parent,
                files=checkpoint.changes,
                time=checkpoint.time,
                tokens=checkpoint.tokens,
            )
        )
        return checkpoint.id


def label_of(content: str | Sequence[ContentPart]) -> str:
    """What a checkpoint is called that stands before these words."""
    return plain_line(text_of(content))[:LABEL_LENGTH] or "(no text)"
