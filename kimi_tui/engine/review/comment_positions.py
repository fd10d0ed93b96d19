"""Line numbers of comments: when the comments were written, and now."""

from kimi_tui.base.errors import UsageError
from kimi_tui.base.message_text import msg
from kimi_tui.engine.files.coverage import covered_path, display_path, unique_path
from kimi_tui.engine.review.stored_comment import MAX_COMMENT_TEXT, StoredComment
from kimi_tui.engine.timeline.shown_plans import ShownPlan
from kimi_tui.history.line_origins.line_mapping import map_lines
from kimi_tui.history.line_origins.line_tracer import LineTracer
from kimi_tui.history.snapshots.file_history import FileHistory
from kimi_tui.history.snapshots.hunk import split_lines
from kimi_tui.tools.path_scope import PathScope
from kimi_tui.wire.review import AddComment, ReviewComment

_MAX_CODE = 500


def locate_comment(
    history: FileHistory,
    command: AddComment,
    *,
    workspace: PathScope,
    number: int,
    review: ShownPlan | None = None,
) -> StoredComment:
    """Return a new comment with its line, in a state of `review` or in the current files. Blocks.

    Raises KimiTuiError if the line doesn't exist.
    """
    if review is not None:
        item = review.find(command.path)[1]
        path, state = item.path, review.plan.head
        if command.is_removed:
            path, state = item.renamed_to or path, review.plan.target
    else:
        path = covered_path(workspace, command.path)
        state = history.capture_paths(history.default_author(), [path]).manifest
    content = LineTracer(history.manifests, history.blobs).content(path, state)
    if content is None:
        raise UsageError(
            msg("{path} isn't a text file.", path=unique_path(path)), hint="Choose a file of this project."
        )
    lines = split_lines(content)
    if not 0 < command.line <= len(lines):
        raise UsageError(
            msg("{path} has {count} lines.", path=unique_path(path), count=len(lines)),
            hint="Choose one of them.",
        )
    return StoredComment(
        id=number,
        path=path,
        state=state,
        line=command.line - 1,
        code=lines[command.line - 1].decode("utf-8", "replace").strip("\r\n")[:_MAX_CODE],
        text=command.text[:MAX_COMMENT_TEXT],
        is_removed=command.is_removed,
    )


def follow_comments(
    history: FileHistory, comments: list[StoredComment], review: ShownPlan | None = None
) -> tuple[ReviewComment, ...]:
    """Return the comments with the paths and numbers of their lines. Blocks.

    The lines are those in the states of `review`, or in the current files.
    """
    if review is not None:
        head = review.plan.head
    else:
        history.capture_if_small(history.default_author())
        paths = {comment.path for comment in comments}
        head = history.capture_paths(history.default_author(), paths).manifest
    tracer = LineTracer(history.manifests, history.blobs)
    return tuple(_follow(tracer, comment, head, review) for comment in comments)


def _follow(tracer: LineTracer, comment: StoredComment, head: str, review: ShownPlan | None) -> ReviewComment:
    path = tracer.renamed_path(comment.path, comment.state, head)
    line = _find_line(tracer, comment, path, head)
    removed_line: int | None = None
    if review is not None and (line is None or comment.is_removed):
        earlier = next((it.renamed_to for it in review.plan.items if it.path == path), "") or path
        removed_line = _find_line(tracer, comment, earlier, review.plan.target)
    return ReviewComment(
        id=comment.id,
        path=unique_path(path) if review is not None else display_path(path),
        line=line,
        removed_line=removed_line,
        is_removed=comment.is_removed,
        code=comment.code,
        text=comment.text,
    )


def _find_line(tracer: LineTracer, comment: StoredComment, path: str, state: str) -> int | None:
    """Return the line number of a comment in `state`, from 1; None if the line no longer exists."""
    old, new = tracer.content(comment.path, comment.state), tracer.content(path, state)
    if old is None or new is None:
        return None
    matches = map_lines(split_lines(old), split_lines(new), is_by_user=False)
    return next((at for at, match in enumerate(matches, 1) if match.line == comment.line), None)
