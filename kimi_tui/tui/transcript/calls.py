"""The tool calls that are open, of the turn and of its sub-agents."""

from collections.abc import Callable

from kimi_tui.base.message import ToolCall, ToolCallPart
from kimi_tui.tui.markdown.line import Spans
from kimi_tui.tui.transcript.blocks.block import Clock
from kimi_tui.tui.transcript.blocks.toolcall import ToolCallBlock
from kimi_tui.tui.transcript.page import Page
from kimi_tui.wire.events import ToolReturn
from kimi_tui.wire.requests import ApprovalRequest, QuestionRequest


class OpenCalls:
    """Finds the block of a call by its id, and that of a request by the request's."""

    def __init__(self, clock: Clock | None) -> None:
        self.clock = clock
        """None while history is read: nobody knows how long things took."""
        self._calls: dict[str, tuple[ToolCallBlock, Page]] = {}
        self._requests: dict[str, str] = {}
        self._last: ToolCallBlock | None = None

    @property
    def running(self) -> list[ToolCallBlock]:
        """Calls whose time passes."""
        return [block for block, _ in self._calls.values() if block.status == "running"]

    def place_of(self, call_id: str) -> tuple[ToolCallBlock, Page] | None:
        """The block of an open call, and where it stands."""
        return self._calls.get(call_id)

    def open(self, call: ToolCall, page: Page, margin: Spans) -> ToolCallBlock:
        """The block of a call that has just begun."""
        name, arguments = call.function.name, call.function.arguments
        block = ToolCallBlock(call.id, name, arguments, self.clock, margin=margin)
        self._calls[call.id] = (block, page)
        self._last = block
        return block

    def feed_arguments(self, part: ToolCallPart) -> None:
        """A fragment of arguments has come: of the call it names, else of the last one."""
        named = self._calls.get(part.tool_call_id or "")
        block = named[0] if named is not None else self._last
        if block is not None and part.arguments_part and (known := self._calls.get(block.call_id)):
            block.feed_arguments(part.arguments_part)
            known[1].changed(block)

    def feed_output(self, call_id: str, text: str) -> None:
        """A running call has written something."""
        self._act(call_id, lambda block: block.feed_output(text))

    def finish(self, call_id: str, result: ToolReturn) -> None:
        """A call has ended."""
        self._act(call_id, lambda block: block.finish(result))
        self._calls.pop(call_id, None)

    def ask(self, request: ApprovalRequest | QuestionRequest) -> None:
        """A call waits for the user."""
        self._requests[request.id] = request.tool_call_id
        self._act(request.tool_call_id, ToolCallBlock.wait)

    def answered(self, request_id: str) -> None:
        """A call waits no more."""
        self._act(self._requests.pop(request_id, ""), ToolCallBlock.begin)

    def begin_written(self) -> None:
        """The model's message is complete: what it asked for runs."""
        for block, page in self._calls.values():
            if block.status == "writing":
                block.begin()
                page.changed(block)

    def forget(self, block: ToolCallBlock) -> None:
        """A call never happened."""
        self._calls.pop(block.call_id, None)

    def cancel(self, page: Page | None = None) -> None:
        """A turn is over: its open calls get no result any more. That of a sub-agent has those on `page`."""
        for call_id, (block, stands_on) in list(self._calls.items()):
            if page is None or stands_on is page:
                block.cancel()
                stands_on.changed(block)
                del self._calls[call_id]

    def _act(self, call_id: str, act: Callable[[ToolCallBlock], None]) -> None:
        self.begin_written()
        if known := self._calls.get(call_id):
            block, page = known
            act(block)
            page.changed(block)
