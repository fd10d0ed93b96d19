"""What an approval is about, in a line each: the question, who asks, the subject, the danger, the rule."""

from kimi_tui.base.terminal import plain_line
from kimi_tui.language.saying import retell, say
from kimi_tui.wire.display import DiffBlock, ShellBlock
from kimi_tui.wire.requests import ApprovalRequest


def question_of(request: ApprovalRequest, *, is_edited: bool = False) -> str:
    """What is asked, in a sentence."""
    act = retell(request.action)
    if act == request.action:
        for noun in ("command", "file"):
            act = act.replace(f" {noun}", f" a {noun}", 1)
    if is_edited:
        return say("Allow {sender} to {act}, as you changed it?", sender=request.sender, act=act)
    return say("Allow {sender} to {act}?", sender=request.sender, act=act)


def source_of(request: ApprovalRequest) -> str:
    """Who asks; of a sub-agent also what for, since several may be at work."""
    kind, task = request.subagent_type, request.source_description
    if kind and task:
        return say("sub-agent {kind}: {task}", kind=kind, task=task)
    if kind or task:
        return say("sub-agent {kind}", kind=kind) if kind else str(task)
    if request.source_kind == "background_task":
        return say("background task {id}", id=request.source_id or "").strip()
    return say("main agent")


def subject_of(request: ApprovalRequest) -> str:
    """What it is about, on one line: the file, the command, or else the description."""
    for block in request.display:
        match block:
            case DiffBlock(path=path):
                return plain_line(path)
            case ShellBlock(command=command):
                return plain_line(command)
            case _:
                continue
    return plain_line(request.description)


def danger_of(request: ApprovalRequest) -> str:
    """Why this is dangerous, in one line; empty when it is not."""
    marks = [block.danger for block in request.display if isinstance(block, ShellBlock) and block.danger]
    return plain_line(retell(request.danger or (marks[0] if marks else "")))


def rule_of(request: ApprovalRequest, *, again: str = "") -> str:
    """What a grant beyond this once covers; empty when there is none to give. `again` is its key, if that is
    still to be pressed a second time.
    """
    if request.rule is None:
        return ""
    rule = plain_line(request.rule)
    if again:
        return say(
            "{key} again, or enter, always allows this: it writes the rule {rule}", key=again, rule=rule
        )
    return say("always writes the rule {rule}", rule=rule)
