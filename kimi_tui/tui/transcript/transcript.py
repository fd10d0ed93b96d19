"""The conversation pane."""

from collections.abc import Iterable, Sequence
from time import monotonic
from weakref import WeakSet

from textual.timer import Timer

from kimi_tui.tui.keys_first import keys_of
from kimi_tui.tui.markdown import parser, syntax
from kimi_tui.tui.transcript.blocks.block import Block, Clock
from kimi_tui.tui.transcript.blockview import BlockView
from kimi_tui.tui.transcript.chronicle import Chronicle
from kimi_tui.tui.transcript.inbox import Inbox
from kimi_tui.tui.transcript.palette import ROLES
from kimi_tui.tui.transcript.piece import Gallery
from kimi_tui.tui.transcript.printout import printout
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.events import ReplayBegin, TurnBegin

_TICK_S = 1.0
"""How often a running call shows its time."""
_WARM_UP_S = 1.0
"""After it was mounted, when the first frame is long out: an answer needn't wait for what draws it."""
_REST_S = 0.002
"""Between two slices of a burst; keys are handled there."""


class Transcript(BlockView):
    """The whole conversation in one widget.

    Give it messages with `show` or `show_all`; it follows the end until the user scrolls up.
    """

    def __init__(
        self,
        *,
        clock: Clock = monotonic,
        name: str | None = None,
        id: str | None = None,  # noqa: A002 - Textual's name for it
        classes: str | None = None,
    ) -> None:
        gallery = Gallery()
        self._chronicle = Chronicle(gallery, clock)
        super().__init__(self._chronicle, gallery, name=name, id=id, classes=classes)
        self._inbox = Inbox(self._chronicle.show)
        self._work_timer: Timer | None = None
        self._tick_timer: Timer | None = None
        self._is_warm = False
        self._taken: WeakSet[Block] = WeakSet()
        """Blocks that have been printed."""

    def on_mount(self) -> None:
        """Get ready for answers as soon as there is time."""
        self.set_timer(_WARM_UP_S, self._warm_up)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """What runs is interrupted first; then escape leaves."""
        return action != "leave" or not self.screen.check_action("interrupt", ())

    def action_leave(self) -> None:
        """Go back to the prompt."""
        self.post_message(self.Left())

    # messages

    def show(self, message: Outgoing) -> None:
        """Take in one event or request."""
        self.show_all((message,))

    def show_all(self, messages: Sequence[Outgoing]) -> None:
        """Take in a batch. What takes too long for one turn of the event loop goes on in the next ones."""
        self._inbox.put(messages if self._inbox else self._chronicle.store(messages))
        if not self._is_warm and any(isinstance(message, TurnBegin) for message in messages):
            self._warm_up()
        if self.selected is not None and any(type(message) is ReplayBegin for message in messages):
            self.select_block(None)
        if self._work_timer is None:
            self._work()

    def flush(self) -> None:
        """Take in and draw at once whatever still waits."""
        while self._inbox:
            self._inbox.work()
        self._work()
        self._pacer.draw_now()

    @property
    def busy(self) -> bool:
        """Whether something still waits to be taken in or drawn."""
        return bool(self._inbox) or self._pacer.pending

    def take_new(self) -> list[str]:
        """What was said in this run and not taken yet, as lines for a terminal."""
        new = [block for block in self._chronicle.live_blocks() if block not in self._taken]
        self._taken.update(new)
        return self._printed(new)

    def print_all(self) -> list[str]:
        """All of the conversation, as lines for a terminal."""
        return self._printed(self._chronicle.flow.blocks())

    def _printed(self, blocks: Iterable[Block]) -> list[str]:
        return list(printout(blocks, self.app.size.width, self._colours(), self.app.console))

    def clear(self) -> None:
        """Remove everything."""
        self._inbox.clear()
        self._chronicle.clear()
        self.gallery.clear()
        self._finder.search("")
        self.select_block(None)
        self._work()
        self.follow()

    def _work(self) -> None:
        if self._work_timer is not None:
            self._work_timer.stop()
            self._work_timer = None
        if self._inbox and keys_of(self.app).has_waiting:
            self._work_timer = self.set_timer(_REST_S, self._work)
            return
        self._inbox.work()
        self._chronicle.settle()
        if self._inbox:
            self._work_timer = self.set_timer(_REST_S, self._work)
        if self._tick_timer is None and self._chronicle.running:
            self._tick_timer = self.set_timer(_TICK_S, self._tick)
        self._pacer.request()

    def _warm_up(self) -> None:
        if not self._is_warm:
            self._is_warm = True
            self._colours().read(ROLES)
            self.run_worker(_load, thread=True, group="warm-up")

    def _tick(self) -> None:
        self._tick_timer = None
        running = self._chronicle.running
        for call in running:
            call.tick()
        if running:
            self._tick_timer = self.set_timer(_TICK_S, self._tick)
            self._pacer.request()


def _load() -> None:
    parser.warm_up()
    syntax.warm_up()
