"""Blocks for the commands of the user's own shell."""

import json

from kimi_tui.i18n.translate import tr
from kimi_tui.tui.markdown.styled_line import Spans
from kimi_tui.tui.transcript.blocks.block import Block
from kimi_tui.tui.transcript.blocks.toolcall import ToolCallBlock
from kimi_tui.tui.transcript.stopwatch import Stopwatch
from kimi_tui.wire.display_blocks import BriefBlock
from kimi_tui.wire.events import ToolReturn
from kimi_tui.wire.user_shell import ShellCommandBegin, ShellCommandEnd

SHELL_SIGN = "$"


class ShellBlocks:
    """Blocks of running shell commands. They are independent of turns."""

    def __init__(self) -> None:
        self._open_blocks: dict[str, ToolCallBlock] = {}
        self._terminal_command_ids: set[str] = set()
        """Ids of commands that use the terminal."""

    def begin(self, event: ShellCommandBegin, stopwatch: Stopwatch, margin: Spans) -> ToolCallBlock:
        """Return the block of a command that has just started."""
        arguments = json.dumps({"command": event.command})
        block = ToolCallBlock(event.id, SHELL_SIGN, arguments, stopwatch, margin=margin)
        self._open_blocks[event.id] = block
        if event.on_terminal:
            self._terminal_command_ids.add(event.id)
        return block

    def append_output(self, command_id: str, text: str) -> Block | None:
        """Add output to a command and return its block. None if no shell command has this id."""
        block = self._open_blocks.get(command_id)
        if block is not None:
            block.feed_output(text)
        return block

    def end(self, event: ShellCommandEnd) -> Block | None:
        """Finish a command and return its block."""
        block = self._open_blocks.pop(event.id, None)
        if block is not None:
            fallback = tr("in the terminal") if event.id in self._terminal_command_ids else tr("no output")
            brief = BriefBlock(_exit_text(event) or ("" if event.output else fallback))
            failed = event.status != 0 or event.stopped
            block.finish(ToolReturn(failed, event.output, display=(brief,)))
        self._terminal_command_ids.discard(event.id)
        return block


def _exit_text(event: ShellCommandEnd) -> str:
    if event.stopped:
        return tr("stopped")
    if event.status:
        if event.status < 0:
            return tr("signal {number}", number=-event.status)
        return tr("exit code {number}", number=event.status)
    return ""
