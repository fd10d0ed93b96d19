"""Conversation from before this run: stored as it arrives and printed on request."""

from collections.abc import Sequence

from kimi_tui.i18n.translate import tr_n
from kimi_tui.linear.event_printer import EventPrinter, PrintedMessage
from kimi_tui.linear.output import LineOutput
from kimi_tui.wire.events import TurnBegin


class HistoryReplay:
    """The replay of a resumed conversation."""

    def __init__(self, output: LineOutput) -> None:
        self._output = output
        self._messages: list[PrintedMessage] = []

    def clear(self) -> None:
        """Remove all messages. A new replay follows."""
        self._messages = []

    def add(self, message: PrintedMessage) -> None:
        """Add a message."""
        self._messages.append(message)

    def print_last_turn(self) -> None:
        """Print the number of prompts and the last turn."""
        starts = [index for index, message in enumerate(self._messages) if isinstance(message, TurnBegin)]
        if starts:
            self._output.write_line(
                tr_n(
                    "Resumed a conversation with {count} prompt. Use /transcript to show all of it.",
                    "Resumed a conversation with {count} prompts. Use /transcript to show all of it.",
                    len(starts),
                )
            )
            self._print(self._messages[starts[-1] :])

    def print_all(self) -> None:
        """Print the whole conversation."""
        self._print(self._messages)

    def _print(self, messages: Sequence[PrintedMessage]) -> None:
        printer = EventPrinter(self._output, clock=lambda: 0.0, is_replay=True)
        for message in messages:
            printer.print_event(message)
        self._output.end_line()
