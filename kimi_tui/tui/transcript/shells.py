"""The commands of the user's own shell, as the conversation shows them."""

import json

from kimi_tui.language.saying import say
from kimi_tui.tui.markdown.line import Spans
from kimi_tui.tui.transcript.blocks.block import Block, Clock
from kimi_tui.tui.transcript.blocks.toolcall import ToolCallBlock
from kimi_tui.wire.display import BriefBlock
from kimi_tui.wire.events import ToolReturn
from kimi_tui.wire.shell import ShellCommandBegin, ShellCommandEnd

SHELL_SIGN = "$"


class UserShells:
    """The blocks of commands that run. A turn's end is none of theirs."""

    def __init__(self, clock: Clock | None) -> None:
        self._clock = clock
        self._open: dict[str, ToolCallBlock] = {}
        self._unseen: set[str] = set()
        """Those that have the terminal."""

    def begin(self, event: ShellCommandBegin, margin: Spans) -> ToolCallBlock:
        """The block of a command that has just begun."""
        arguments = json.dumps({"command": event.command})
        block = ToolCallBlock(event.id, SHELL_SIGN, arguments, self._clock, margin=margin)
        self._open[event.id] = block
        if event.on_terminal:
            self._unseen.add(event.id)
        return block

    def output(self, command_id: str, text: str) -> Block | None:
        """A command has printed something: its block; None when it is no command of the user's."""
        block = self._open.get(command_id)
        if block is not None:
            block.feed_output(text)
        return block

    def end(self, event: ShellCommandEnd) -> Block | None:
        """A command has ended: its block."""
        block = self._open.pop(event.id, None)
        if block is not None:
            quiet = say("in the terminal") if event.id in self._unseen else say("no output")
            brief = BriefBlock(_ending(event) or ("" if event.output else quiet))
            failed = event.status != 0 or event.stopped
            block.finish(ToolReturn(failed, event.output, display=(brief,)))
        self._unseen.discard(event.id)
        return block


def _ending(event: ShellCommandEnd) -> str:
    if event.stopped:
        return say("stopped")
    if event.status:
        if event.status < 0:
            return say("signal {number}", number=-event.status)
        return say("exit code {number}", number=event.status)
    return ""
