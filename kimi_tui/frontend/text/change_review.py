"""Text of a review: the changed files, and the hunks of a file."""

from kimi_tui.base.terminal_text import sanitize, sanitize_line
from kimi_tui.frontend.review_file import ReviewedChange, ReviewedHunk, ReviewFile, to_review_file
from kimi_tui.frontend.text_diff import DiffRow, diff_rows
from kimi_tui.i18n.translate import tr, tr_lazy, translate_message
from kimi_tui.wire.review import ChangeReview, PlannedFileContent

CHANGE_LABELS: dict[ReviewedChange, str] = {
    "added": tr_lazy("added"),
    "removed": tr_lazy("removed"),
    "renamed": tr_lazy("renamed"),
    "changed": tr_lazy("changed"),
    "uncovered": tr_lazy("not covered"),
}


def review_text(review: ChangeReview) -> tuple[str, str]:
    """Return the headline, and a numbered line for each file."""
    after = tr("now") if review.after is None else tr("checkpoint {number}", number=review.after)
    headline = tr("Review from checkpoint {before} to {after}:", before=review.before, after=after)
    files = [to_review_file(file) for file in review.files]
    lines = [
        _file_line(number, file, is_viewed=file.path in review.viewed) for number, file in enumerate(files, 1)
    ]
    if review.note:
        lines.append(translate_message(review.note))
    if not files:
        return headline, "\n".join(lines) or tr("No changes.")
    lines.append(f"/review --file N  {tr('show the hunks of file N')}")
    if not review.is_read_only:
        lines.append(tr("/comment FILE:LINE TEXT  comment on a line"))
    return headline, "\n".join(lines)


def planned_file_text(content: PlannedFileContent) -> tuple[str, str]:
    """Return the headline of a file, and its numbered hunks with their lines."""
    file = to_review_file(content.file)
    lines: list[str] = []
    if not file.hunks:
        lines.append(translate_message(file.no_diff) or tr("The change can't be shown by lines."))
    for number, hunk in enumerate(file.hunks, 1):
        lines += _hunk_lines(f"{content.number}.{number}", hunk)
    if content.can_revert and file.can_be_reverted:
        name = f"{content.number}.1" if file.hunks else content.number
        lines.append(f"/review --revert {name}  {tr('revert it; /undo restores it')}")
    return _file_line(content.number, file), "\n".join(lines)


def _file_line(number: int, file: ReviewFile, *, is_viewed: bool = False) -> str:
    parts = [
        f"{number}. {sanitize_line(file.names)}: {tr(CHANGE_LABELS[file.change])}",
        f"+{file.added} −{file.removed}",
        *([tr("viewed")] if is_viewed else []),
        *([sanitize_line(translate_message(file.note))] if file.note else []),
    ]
    return ", ".join(parts)


def _hunk_lines(name: str, hunk: ReviewedHunk) -> list[str]:
    old, new = (
        text.removesuffix("\n").split("\n") if text else []
        for text in (hunk.diff.old_text, hunk.diff.new_text)
    )
    rows = list(diff_rows(old, new, hunk.diff.old_start, hunk.diff.new_start))
    first = next((row.number for row in rows if row.sign in "+−"), hunk.diff.new_start)
    counts = f"+{hunk.added} −{hunk.removed}"
    heading = tr("Hunk {name}, line {line}, {counts}:", name=name, line=first, counts=counts)
    if hunk.is_yours:
        heading = f"{heading} {tr('contains your own edits')}"
    return [heading, *(_row_line(row) for row in rows)]


def _row_line(row: DiffRow) -> str:
    sign = "-" if row.sign == "−" else row.sign
    text = sanitize(row.text).replace("\n", " ").rstrip()  # with its indentation
    return f"{sign} {row.number} {text}" if row.number else sign
