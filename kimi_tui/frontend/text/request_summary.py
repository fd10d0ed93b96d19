"""One-line summaries of a permission request: question, source, subject, danger and rule."""

from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.i18n.translate import tr, translate_message
from kimi_tui.wire.display_blocks import DiffBlock, ShellBlock
from kimi_tui.wire.requests import ApprovalRequest


def question_of(request: ApprovalRequest, *, is_edited: bool = False) -> str:
    """Return the question that the request asks."""
    action = translate_message(request.action)
    if action == request.action:
        for noun in ("command", "file"):
            action = action.replace(f" {noun}", f" a {noun}", 1)
    if request.effects is not None and not is_edited:
        return (
            tr("Allow the changes of this command?")
            if request.effects.files
            else tr("Show the model the result of this command?")
        )
    if is_edited:
        return tr("Allow {sender} to {act} with your edits?", sender=request.sender, act=action)
    return tr("Allow {sender} to {act}?", sender=request.sender, act=action)


def source_of(request: ApprovalRequest) -> str:
    """Return the name of the requester: the main agent, a sub-agent with its task, or a background task."""
    kind, task = request.subagent_type, request.source_description
    if kind and task:
        return tr("sub-agent {kind}: {task}", kind=kind, task=task)
    if kind or task:
        return tr("sub-agent {kind}", kind=kind) if kind else str(task)
    if request.source_kind == "background_task":
        return tr("background task {id}", id=request.source_id or "").strip()
    return tr("main agent")


def subject_of(request: ApprovalRequest) -> str:
    """Return the file or the command, or the description if there is neither, on one line."""
    for block in request.display:
        match block:
            case DiffBlock(path=path):
                return sanitize_line(path)
            case ShellBlock(command=command):
                return sanitize_line(command)
            case _:
                continue
    return sanitize_line(request.description)


def danger_of(request: ApprovalRequest) -> str:
    """Return why the request is dangerous, on one line. Empty for a request that isn't dangerous."""
    dangers = [block.danger for block in request.display if isinstance(block, ShellBlock) and block.danger]
    return sanitize_line(translate_message(request.danger or (dangers[0] if dangers else "")))


def reason_of(request: ApprovalRequest) -> str:
    """Return why a command needs approval before it runs, or an empty string."""
    if not request.reason:
        return ""
    return tr("Not run yet: {why}", why=sanitize_line(translate_message(request.reason)))


def rule_of(request: ApprovalRequest) -> str:
    """Return the rule that "Always allow" adds. Empty if the request doesn't offer "Always allow"."""
    if request.rule is None:
        return ""
    return tr("“Always allow” adds the rule {rule}", rule=sanitize_line(request.rule))
