"""Conversation pane."""

from collections.abc import Iterable, Sequence
from time import monotonic, perf_counter
from weakref import WeakSet

from textual.timer import Timer

from kimi_tui.config.startup_settings import ThinkingDisplay
from kimi_tui.frontend.message_batch import TranscriptMessage
from kimi_tui.tui.markdown import parser, syntax
from kimi_tui.tui.terminal.key_priority import key_priority_of
from kimi_tui.tui.transcript.block_view import BlockView
from kimi_tui.tui.transcript.blocks.block import Block
from kimi_tui.tui.transcript.document import TranscriptDocument
from kimi_tui.tui.transcript.export_ansi import render_ansi
from kimi_tui.tui.transcript.message_queue import BudgetedQueue
from kimi_tui.tui.transcript.open_calls import OpenCalls
from kimi_tui.tui.transcript.render_cache import RenderCache
from kimi_tui.tui.transcript.stopwatch import Clock
from kimi_tui.tui.transcript.style_cache import ROLES
from kimi_tui.wire.events import ReplayBegin, TurnBegin

_TICK_S = 1.0
"""Seconds between updates of the elapsed time of running calls."""
_WARM_UP_S = 1.0
"""Seconds after mounting until parsers and styles are loaded, after the first frame."""
_YIELD_S = 0.002
"""Seconds between two slices of a burst. Keys are handled in this pause."""
_LOAD_DIVISOR = 4
"""Limits drawing to 1/4 of the time during a burst."""


class Transcript(BlockView):
    """The whole conversation in one widget.

    Pass messages to `show` or `show_all`. The transcript follows the end until the user scrolls up.
    """

    def __init__(
        self,
        *,
        clock: Clock = monotonic,
        thinking: ThinkingDisplay = "preview",
        name: str | None = None,
        id: str | None = None,  # noqa: A002 - Textual's name for it
        classes: str | None = None,
    ) -> None:
        render_cache = RenderCache()
        self._document = TranscriptDocument(render_cache, OpenCalls(clock), thinking=thinking)
        super().__init__(self._document, render_cache, name=name, id=id, classes=classes)
        self._budgeted_queue = BudgetedQueue(self._document)
        self._slice_timer: Timer | None = None
        self._draw_due_at = 0.0
        """Time of the next drawing during a burst."""
        self._tick_timer: Timer | None = None
        self._is_warmed_up = False
        self._printed_blocks: WeakSet[Block] = WeakSet()
        """Blocks already printed to the terminal."""

    def on_mount(self) -> None:
        """Schedule the loading of parsers and styles."""
        self.set_timer(_WARM_UP_S, self._warm_up)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable `leave` while escape interrupts a turn."""
        return action != "leave" or not self.screen.check_action("interrupt", ())

    def action_leave(self) -> None:
        """Return to the prompt."""
        self.post_message(self.Left())

    # messages

    def show(self, message: TranscriptMessage) -> None:
        """Handle one event or request."""
        self.show_all((message,))

    def show_all(self, messages: Sequence[TranscriptMessage]) -> None:
        """Handle a batch of messages. Messages that exceed the time budget are handled in later iterations of
        the event loop.
        """
        self._budgeted_queue.put(messages if self._budgeted_queue else self._document.store_replay(messages))
        if not self._is_warmed_up and any(isinstance(message, TurnBegin) for message in messages):
            self._warm_up()
        if self.selected is not None and any(type(message) is ReplayBegin for message in messages):
            self.select_block(None)
        if self._slice_timer is None:
            self._process_when_idle()

    def flush(self) -> None:
        """Handle all queued messages and draw immediately."""
        while self._budgeted_queue:
            self._budgeted_queue.process()
        self._process_slice()
        self._draw()

    @property
    def is_busy(self) -> bool:
        """Whether messages are queued or not drawn yet."""
        return self._slice_timer is not None

    def take_new_lines(self) -> list[str]:
        """Return the blocks of this run that haven't been printed yet, as lines for a terminal."""
        new_blocks = [block for block in self._document.live_blocks() if block not in self._printed_blocks]
        self._printed_blocks.update(new_blocks)
        return self._render_blocks(new_blocks)

    def render_all(self) -> list[str]:
        """Return the whole conversation as lines for a terminal."""
        return self._render_blocks(self._document.layout.blocks())

    def _render_blocks(self, blocks: Iterable[Block]) -> list[str]:
        return list(render_ansi(blocks, self.app.size.width, self._ensure_style_cache(), self.app.console))

    def clear(self) -> None:
        """Remove everything."""
        self._budgeted_queue.clear()
        self._document.clear()
        self.render_cache.clear()
        self._text_search.search("")
        self.select_block(None)
        self._process_slice()
        self.scroll_to_end()

    def _process_when_idle(self) -> None:
        """Process a slice once no key is pending."""
        if key_priority_of(self.app).is_key_pending:
            self._slice_timer = self.set_timer(_YIELD_S, self._process_when_idle)
        else:
            self._process_slice()

    def _process_slice(self) -> None:
        """Handle queued messages within the time budget and draw. The rest follows after a pause."""
        if self._slice_timer is not None:
            self._slice_timer.stop()
            self._slice_timer = None
        self._budgeted_queue.process()
        self._document.finish_batch()
        if self._tick_timer is None and self._document.running_calls:
            self._tick_timer = self.set_timer(_TICK_S, self._tick)
        is_complete = not self._budgeted_queue
        started_at = perf_counter()
        if key_priority_of(self.app).is_key_pending:
            is_complete = False
        elif is_complete or started_at >= self._draw_due_at:
            self._draw()
            self._draw_due_at = started_at + (perf_counter() - started_at) * _LOAD_DIVISOR
        if not is_complete:
            self._slice_timer = self.set_timer(_YIELD_S, self._process_when_idle)

    def _warm_up(self) -> None:
        if not self._is_warmed_up:
            self._is_warmed_up = True
            self._ensure_style_cache().preload(ROLES)
            self.run_worker(_load_parsers, thread=True, group="warm-up")

    def _tick(self) -> None:
        self._tick_timer = None
        running = self._document.running_calls
        for call in running:
            call.tick()
        if running:
            self._tick_timer = self.set_timer(_TICK_S, self._tick)
            if self._slice_timer is None:
                self._process_when_idle()


def _load_parsers() -> None:
    parser.warm_up()
    syntax.warm_up()
