"""Document behind the conversation pane: all blocks in sections. Replayed history is parsed when first
viewed.
"""

from collections.abc import Sequence

from kimi_tui.base.message import ToolCall
from kimi_tui.config.startup_settings import ThinkingDisplay
from kimi_tui.frontend.message_batch import ConversationMessage, TranscriptMessage
from kimi_tui.tui.transcript.block_builder import BlockBuilder
from kimi_tui.tui.transcript.blocks.block import Block
from kimi_tui.tui.transcript.blocks.response import ResponseBlock
from kimi_tui.tui.transcript.blocks.reverted import RevertedBlock
from kimi_tui.tui.transcript.blocks.toolcall import ToolCallBlock
from kimi_tui.tui.transcript.blocks.user import UserBlock
from kimi_tui.tui.transcript.layout import START, Position, Section, TranscriptLayout
from kimi_tui.tui.transcript.open_calls import OpenCalls
from kimi_tui.tui.transcript.render_cache import RenderCache
from kimi_tui.wire.events import CheckpointCreated, ReplayBegin, ReplayEnd, Reverted, TurnBegin

_BOUNDARIES = frozenset({TurnBegin, ReplayEnd, Reverted})
MAX_UNDONE_BLOCKS = 500
"""Maximum total of undone blocks in markers. The marker of the latest revert keeps all of its blocks."""


class TranscriptDocument:
    """Receives messages in order. To open sessions quickly, a replay is only stored, one section per turn."""

    def __init__(
        self, render_cache: RenderCache, calls: OpenCalls, *, thinking: ThinkingDisplay = "preview"
    ) -> None:
        self.layout = TranscriptLayout(render_cache, self)
        self._calls = calls
        self._thinking = thinking
        self._builder = self._new_builder()
        self._replay_messages: list[ConversationMessage] | None = None
        self._markers: list[RevertedBlock] = []
        """Markers of all reverts, oldest first."""
        self._pending_revert: Reverted | None = None
        """Revert with a pending marker. The marker is added after the replay that follows the revert."""
        self.update_count = 0
        """Incremented with each visible change."""
        self._sections_before_replay: int | None = None
        """Number of sections before a replay that restarts a conversation, if its end was already shown."""
        self._is_history_unfolded = False
        self._replayed_section_count = 0
        """Number of sections at the end of the last replay."""

    @property
    def running_calls(self) -> list[ToolCallBlock]:
        """Tool calls whose elapsed time is shown."""
        return self._calls.running_calls

    def handle(self, message: TranscriptMessage) -> None:
        """Handle one message. Call `finish_batch` after the last one of a batch."""
        if self._replay_messages is not None:
            self._store_replay_message(message)
        elif isinstance(message, ReplayBegin):
            if message.anew:
                self._restart()
            self._replay_messages = []
        elif not isinstance(message, ReplayEnd):
            self._builder.handle(message)

    def store_replay(self, messages: Sequence[TranscriptMessage]) -> Sequence[TranscriptMessage]:
        """Store the messages of a replay. Return the other messages. Pass them to `handle`."""
        if self._replay_messages is None and not any(type(message) is ReplayBegin for message in messages):
            return messages
        for index, message in enumerate(messages):
            self.handle(message)
            if type(message) is ReplayEnd:
                return messages[index + 1 :]
        return ()

    def finish_batch(self) -> None:
        """Update the streaming block after a batch of messages."""
        self._builder.finish_batch()

    def clear(self) -> None:
        """Remove everything."""
        self.layout.clear()
        self._calls.clear()
        self._builder = self._new_builder()
        self._replay_messages = None
        self._markers.clear()

    def _new_builder(self) -> BlockBuilder:
        return BlockBuilder(self, calls=self._calls, thinking=self._thinking)

    def live_blocks(self) -> list[Block]:
        """Return the blocks added since the last replay."""
        live_sections = self.layout.sections[self._replayed_section_count :]
        return [block for section in live_sections for block in section.blocks]

    def block_of_call(self, call_id: str) -> ToolCallBlock | None:
        """Return the block of a tool call, searching from the end."""
        for index in range(len(self.layout.sections) - 1, -1, -1):
            stored = self.layout.sections[index].stored_messages
            if stored and not any(
                isinstance(message, ToolCall) and message.id == call_id for message in stored
            ):
                continue
            for block in reversed(self.layout.blocks_of(index)):
                if isinstance(block, ToolCallBlock) and block.call_id == call_id:
                    return block
        return None

    def last_response(self) -> ResponseBlock | None:
        """Return the latest response."""
        for index in range(len(self.layout.sections) - 1, -1, -1):
            for block in reversed(self.layout.blocks_of(index)):
                if isinstance(block, ResponseBlock):
                    return block
        return None

    def toggle_all(self) -> None:
        """Unfold all folded blocks, or fold all if none is folded. Also applies to history loaded later."""
        blocks = [block for section in self.layout.sections for block in section.blocks if block.is_foldable]
        unfold = any(block.is_folded for block in blocks)
        self._is_history_unfolded = unfold
        for block in blocks:
            if block.is_folded == unfold:
                block.toggle()
                self.layout.remeasure(block)

    # BlockSink

    def begin_turn(self) -> None:
        """Start a section for the turn."""
        self.layout.begin_section(is_turn=True)

    def append(self, block: Block) -> None:
        """Add `block` at the end."""
        self.layout.append(block)
        self.update_count += 1

    def update(self, block: Block) -> None:
        """Measure `block` again."""
        self.layout.remeasure(block)
        self.update_count += 1

    def remove(self, block: Block) -> None:
        """Remove `block`. It is among the last blocks."""
        self.layout.remove(block)

    def add_checkpoint(self, event: CheckpointCreated) -> None:
        """Record the position of a checkpoint."""
        if not self.layout.sections:
            self.layout.begin_section(is_turn=False)
        record_checkpoint(self.layout.sections[-1], event)

    def revert(self, event: Reverted) -> None:
        """Move all blocks after the checkpoint into a foldable marker."""
        if event.reason == "compaction":
            return
        self._pending_revert = event
        position = None
        if event.reason == "clear":
            position = self._start_of_conversation()
        elif event.scope not in ("files", "turn"):
            position = self.layout.position_of_checkpoint(event.to)
        if position is None:
            self._add_marker(RevertedBlock(event, ()))
        else:
            undone, checkpoints = self.layout.remove_from(position.section, position.block)
            self._add_marker(RevertedBlock(event, undone, checkpoints=checkpoints))

    def marker_of_checkpoint(self, checkpoint_id: int) -> RevertedBlock | None:
        """Return the marker with the blocks after a checkpoint that was undone."""
        return next((marker for marker in self._markers if checkpoint_id in marker.checkpoints), None)

    def _start_of_conversation(self) -> Position:
        """Return the position after the last clear."""
        for marker in reversed(self._markers):
            if marker.is_clear and (position := self.layout.position_of(marker)) is not None:
                return position._replace(block=position.block + 1)
        return START

    def _add_marker(self, marker: RevertedBlock) -> None:
        if self._markers:
            self._markers[-1].mark_superseded()
            self.layout.remeasure(self._markers[-1])
        self._markers = [old_marker for old_marker in self._markers if old_marker.section is not None]
        self._release_old_markers(MAX_UNDONE_BLOCKS - marker.block_count)
        self._markers.append(marker)
        self.layout.append(marker)
        self.update_count += 1

    def _release_old_markers(self, room: int) -> None:
        for marker in reversed(self._markers):
            room -= marker.block_count
            if room < 0 and marker.undone_blocks:
                marker.release_undone()
                self.layout.remeasure(marker)

    def _restart(self) -> None:
        pending_revert, self._pending_revert = self._pending_revert, None
        section_count = self._replayed_section_count
        self.clear()
        self._pending_revert = pending_revert
        self._sections_before_replay = section_count if pending_revert is None else None

    # history

    def load_section(self, section: Section, messages: Sequence[ConversationMessage]) -> None:
        """Build the blocks of a stored turn, unfolded if the rest of the history is."""
        build_section(section, messages, thinking=self._thinking)
        if self._is_history_unfolded:
            for block in section.blocks:
                if block.is_folded:
                    block.toggle()

    def _store_replay_message(self, message: TranscriptMessage) -> None:
        if type(message) in _BOUNDARIES:
            self._store_section()
        if isinstance(message, ReplayEnd):
            self._replay_messages = None
            if self._pending_revert is not None and not self._markers:
                self._add_marker(RevertedBlock(self._pending_revert, ()))
            self._pending_revert = None
            self._replayed_section_count = len(self.layout.sections)
            if self._sections_before_replay is not None:
                self.layout.prepended_sections += self._replayed_section_count - self._sections_before_replay
            self._sections_before_replay = None
        elif isinstance(message, Reverted):
            self.revert(message)
        elif self._replay_messages is not None and not isinstance(message, ReplayBegin):
            self._replay_messages.append(message)

    def _store_section(self) -> None:
        if self._replay_messages:
            self.layout.begin_section(
                is_turn=isinstance(self._replay_messages[0], TurnBegin),
                stored_messages=tuple(self._replay_messages),
            )
        self._replay_messages = []


def record_checkpoint(section: Section, event: CheckpointCreated) -> None:
    """Record the number of blocks of `section` before a checkpoint. A prompt is after its checkpoint."""
    position = len(section.blocks)
    if event.kind == "user" and section.blocks and isinstance(section.blocks[-1], UserBlock):
        position -= 1
    section.checkpoints[event.id] = position


def build_section(
    section: Section, messages: Sequence[ConversationMessage], *, thinking: ThinkingDisplay = "preview"
) -> None:
    """Build the blocks of a stored turn."""
    builder = BlockBuilder(_SectionSink(section), calls=OpenCalls(None), thinking=thinking)
    for message in messages:
        builder.handle(message)
    builder.close()


class _SectionSink:
    """Collects the blocks of one section. The layout measures them later."""

    def __init__(self, section: Section) -> None:
        self._section = section

    def begin_turn(self) -> None:
        """Do nothing, because the section is the turn."""

    def append(self, block: Block) -> None:
        """Add `block` at the end."""
        self._section.blocks.append(block)

    def update(self, block: Block) -> None:
        """Do nothing, because the block isn't measured yet."""

    def remove(self, block: Block) -> None:
        """Remove `block`."""
        self._section.blocks.remove(block)

    def add_checkpoint(self, event: CheckpointCreated) -> None:
        """Record the position of a checkpoint."""
        record_checkpoint(self._section, event)

    def revert(self, event: Reverted) -> None:
        """Add a marker for a revert within a stored turn. Other reverts are handled by the document."""
        self._section.blocks.append(RevertedBlock(event, ()))
