"""What a request looks like once the user has changed its proposal."""

import re
from collections.abc import Sequence
from dataclasses import replace

from kimi_tui.wire.display import DiffBlock, DisplayBlock, ShellBlock
from kimi_tui.wire.requests import ApprovalRequest

_LINE = re.compile(r"[^\n]*\n?")


def with_edit(request: ApprovalRequest, edited: str) -> ApprovalRequest:
    """`request` as if the agent had proposed `edited`; what it shows is what would be done."""
    if request.proposal is None:
        return request
    shells = [block for block in request.display if isinstance(block, ShellBlock)]
    hunks = [block for block in request.display if isinstance(block, DiffBlock)]
    shown: tuple[DisplayBlock, ...] = ()
    if shells:
        shown = (replace(shells[0], command=edited.rstrip("\n"), danger=""),)
    elif hunks:
        shown = (DiffBlock(hunks[0].path, _before(request.proposal.text, hunks), edited),)
    return replace(
        request, display=shown, danger=None, rule=None, proposal=replace(request.proposal, text=edited)
    )


def _before(proposed: str, hunks: Sequence[DiffBlock]) -> str:
    """What the file holds now: the proposal with its hunks taken back.

    Where a hunk only describes the change, the user's version is compared with the proposal.
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
