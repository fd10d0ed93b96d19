"""Checkpointer of an agent's conversation, with the file states."""

from collections.abc import Sequence

from kimi_tui.base.content_parts import ContentPart, text_of
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.history.context import Context
from kimi_tui.soul.file_states import FileStates
from kimi_tui.tools.dmail import DMailbox
from kimi_tui.wire.event_sender import EventSender
from kimi_tui.wire.events import CheckpointCreated, CheckpointKind

MAX_LABEL_LENGTH = 80


class Checkpointer:
    """Creates the checkpoints of one conversation. With `visible_to_model`, the model sees their numbers."""

    def __init__(
        self,
        *,
        context: Context,
        dmailbox: DMailbox,
        sender: EventSender,
        file_states: FileStates | None,
        visible_to_model: bool,
    ) -> None:
        self._context = context
        dmailbox.set_checkpoint_source(lambda: {checkpoint.id for checkpoint in context.checkpoints})
        self._sender = sender
        self._file_states = file_states
        self._visible_to_model = visible_to_model

    async def create(self, kind: CheckpointKind, label: str) -> int:
        """Create a checkpoint and return its id.

        Raises: JournalWriteError.
        """
        files = None
        if self._file_states is not None:
            files = self._file_states.at_checkpoint(fresh=kind == "user")
        checkpoint = await self._context.checkpoint(
            self._visible_to_model,
            kind=kind,
            label=label,
            files=files.state if files is not None else None,
            changes=files.changes if files is not None else None,
        )
        if self._file_states is not None and files is not None and files.is_pending:
            self._file_states.request_state(checkpoint.id)
        self._sender.send(
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


def checkpoint_label(content: str | Sequence[ContentPart]) -> str:
    """Return the label of a checkpoint before a message with this content."""
    return sanitize_line(text_of(content))[:MAX_LABEL_LENGTH] or "(no text)"
