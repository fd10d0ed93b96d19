"""Text of the comments on changed lines."""

from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.i18n.translate import tr, tr_n
from kimi_tui.wire.review import CommentList, ReviewComment


def comments_text(comments: CommentList) -> tuple[str, str]:
    """Return the headline, and lines with the comments and the commands for comments."""
    items = comments.comments
    if not items:
        return tr("No comments. Write one with /comment FILE:LINE TEXT."), ""
    lines = [line for comment in items for line in _comment_lines(comment)]
    lines.append(f"/comment --send  {tr('send them to the agent as one prompt')}")
    return tr_n("{count} comment:", "{count} comments:", len(items)), "\n".join(lines)


def _comment_lines(comment: ReviewComment) -> list[str]:
    path = sanitize_line(comment.path)
    if comment.line is not None:
        place = f"{path}:{comment.line}"
    elif comment.is_removed:
        place = tr("{path}, removed line", path=path)
    else:
        place = tr("{path}, changed since", path=path)
    return [
        f"{comment.id}. {place}  {sanitize_line(comment.code).strip()}",
        f"   {sanitize_line(comment.text)}",
    ]
