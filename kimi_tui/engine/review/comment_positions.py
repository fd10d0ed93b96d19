"""Lines of comments: where they were when a comment was written, and where they are now."""

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
    """Return the comment with the line that it is about, in the later state of `review` or the current files.

    Blocks. Raises KimiTuiError without such a line.
    """
    if review is not None:
        path, state = review.find(command.path)[1].path, review.plan.head
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
    )


def follow_comments(
    history: FileHistory, comments: list[StoredComment], review: ShownPlan | None = None
) -> tuple[ReviewComment, ...]:
    """Return the comments with the paths and numbers of their lines, in the later state of `review` or the
    current files. Blocks.
    """
    if review is not None:
        head = review.plan.head
    else:
        history.capture_if_small(history.default_author())
        paths = {comment.path for comment in comments}
        head = history.capture_paths(history.default_author(), paths).manifest
    tracer = LineTracer(history.manifests, history.blobs)
    return tuple(_follow(tracer, comment, head, is_review=review is not None) for comment in comments)


def _follow(tracer: LineTracer, comment: StoredComment, head: str, *, is_review: bool) -> ReviewComment:
    path = tracer.renamed_path(comment.path, comment.state, head)
    old, new = tracer.content(comment.path, comment.state), tracer.content(path, head)
    line: int | None = None
    if old is not None and new is not None:
        matches = map_lines(split_lines(old), split_lines(new), is_by_user=False)
        line = next((at for at, match in enumerate(matches) if match.line == comment.line), None)
    return ReviewComment(
        id=comment.id,
        path=unique_path(path) if is_review else display_path(path),
        line=line + 1 if line is not None else None,
        code=comment.code,
        text=comment.text,
    )
