"""Open tool calls of the turn and its sub-agents."""

from collections.abc import Callable

from kimi_tui.base.message import ToolCall, ToolCallPart
from kimi_tui.tui.markdown.styled_line import Spans
from kimi_tui.tui.transcript.block_sink import BlockSink
from kimi_tui.tui.transcript.blocks.toolcall import ToolCallBlock
from kimi_tui.tui.transcript.stopwatch import Clock, Stopwatch
from kimi_tui.wire.events import ToolReturn
from kimi_tui.wire.requests import ApprovalRequest, QuestionRequest


class OpenCalls:
    """Finds the block of a tool call by the id of the call or of its open request."""

    def __init__(self, clock: Clock | None) -> None:
        """`clock` is None for history, where durations are unknown."""
        self._clock = clock
        self._calls: dict[str, tuple[ToolCallBlock, BlockSink]] = {}
        self._requests: dict[str, str] = {}
        self._last: ToolCallBlock | None = None

    def start_stopwatch(self) -> Stopwatch:
        """Return a stopwatch for a new block."""
        return Stopwatch(self._clock)

    @property
    def running_calls(self) -> list[ToolCallBlock]:
        """Calls whose elapsed time is shown."""
        return [block for block, _ in self._calls.values() if block.status == "running"]

    def find_call(self, call_id: str) -> tuple[ToolCallBlock, BlockSink] | None:
        """Return the block of an open call and its sink."""
        return self._calls.get(call_id)

    def open_call(self, call: ToolCall, sink: BlockSink, margin: Spans) -> ToolCallBlock:
        """Return the block of a new call."""
        name, arguments = call.function.name, call.function.arguments
        block = ToolCallBlock(call.id, name, arguments, self.start_stopwatch(), margin=margin)
        self._calls[call.id] = (block, sink)
        self._last = block
        return block

    def feed_arguments(self, part: ToolCallPart) -> None:
        """Add a fragment of arguments to its call. A fragment without an id belongs to the last call."""
        entry = self._calls.get(part.tool_call_id or "")
        block = entry[0] if entry is not None else self._last
        if block is not None and part.arguments_part and (entry := self._calls.get(block.call_id)):
            block.feed_arguments(part.arguments_part)
            entry[1].update(block)

    def feed_output(self, call_id: str, text: str) -> None:
        """Add output to a running call."""
        self._update_block(call_id, lambda block: block.feed_output(text))

    def finish(self, call_id: str, result: ToolReturn) -> None:
        """Finish a call."""
        self._update_block(call_id, lambda block: block.finish(result))
        self._calls.pop(call_id, None)

    def begin_request(self, request: ApprovalRequest | QuestionRequest) -> None:
        """Mark a call as waiting for the user."""
        self._requests[request.id] = request.tool_call_id
        is_question = isinstance(request, QuestionRequest)
        self._update_block(request.tool_call_id, lambda block: block.wait(is_question=is_question))

    def end_request(self, request_id: str, *, edited_command: str | None = None) -> None:
        """Mark a call as running after its request was answered or closed. The user may have edited its
        command.
        """
        call_id = self._requests.pop(request_id, "")
        self._update_block(call_id, ToolCallBlock.begin)
        if edited_command is not None:
            self._update_block(call_id, lambda block: block.replace_command(edited_command))

    def start_written_calls(self) -> None:
        """Start the calls with streaming arguments, because the model's message is complete."""
        for block, sink in self._calls.values():
            if block.status == "writing":
                block.begin()
                sink.update(block)

    def discard(self, block: ToolCallBlock) -> None:
        """Remove a call of a failed attempt."""
        self._calls.pop(block.call_id, None)

    def cancel(self, sink: BlockSink | None = None) -> None:
        """Cancel open calls at the end of a turn: all calls, or the calls in a sub-agent's `sink`."""
        for call_id, (block, block_sink) in list(self._calls.items()):
            if sink is None or block_sink is sink:
                block.cancel()
                block_sink.update(block)
                del self._calls[call_id]

    def clear(self) -> None:
        """Forget all calls."""
        self._calls.clear()
        self._requests.clear()
        self._last = None

    def _update_block(self, call_id: str, update: Callable[[ToolCallBlock], None]) -> None:
        self.start_written_calls()
        if entry := self._calls.get(call_id):
            block, sink = entry
            update(block)
            sink.update(block)
