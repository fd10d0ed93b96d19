"""Permission requests with an edited proposal."""

import re
from collections.abc import Sequence
from dataclasses import replace

from kimi_tui.wire.display_blocks import DiffBlock, DisplayBlock, ShellBlock
from kimi_tui.wire.requests import ApprovalRequest

_LINE = re.compile(r"[^\n]*\n?")


def apply_edit(request: ApprovalRequest, edited_text: str) -> ApprovalRequest:
    """Return `request` as if the agent had proposed `edited_text`, and update its preview."""
    if request.proposal is None:
        return request
    shells = [block for block in request.display if isinstance(block, ShellBlock)]
    hunks = [block for block in request.display if isinstance(block, DiffBlock)]
    display: tuple[DisplayBlock, ...] = ()
    if shells:
        display = (replace(shells[0], command=edited_text.rstrip("\n"), danger=""),)
    elif hunks:
        display = (DiffBlock(hunks[0].path, _text_before(request.proposal.text, hunks), edited_text),)
    return replace(
        request,
        display=display,
        danger=None,
        rule=None,
        reason=None,
        effects=None,
        proposal=replace(request.proposal, text=edited_text),
    )


def _text_before(proposed: str, hunks: Sequence[DiffBlock]) -> str:
    """Return the current text of the file: the proposal with its hunks reverted.

    If a hunk is only a summary of the change, return the proposal itself.
    """
    if any(hunk.is_summary for hunk in hunks):
        return proposed
    lines = _lines(proposed)
    for hunk in reversed(hunks):
        start = hunk.new_start - 1
        lines[start : start + len(_lines(hunk.new_text))] = _lines(hunk.old_text)
    return "".join(lines)


def _lines(text: str) -> list[str]:
    return [line for line in _LINE.findall(text) if line]
