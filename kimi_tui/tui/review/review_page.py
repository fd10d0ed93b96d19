"""Base of the review screen: shows the changed files and their hunks, comments and marks."""

from typing import assert_never

from textual import getters, on
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.widgets import Input, Static

from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.frontend.review_file import ReviewFile, to_review_file
from kimi_tui.frontend.text.why import why_text
from kimi_tui.i18n.translate import tr, tr_n, translate_message
from kimi_tui.tui.commands.command_host import CommandHost
from kimi_tui.tui.keys.keymap import KeyLabels
from kimi_tui.tui.review.revert_marks import RevertMarks
from kimi_tui.tui.review.review_file_list import CHANGE_LETTERS, ReviewedFileRow, ReviewFileList
from kimi_tui.tui.review.review_lines import ReviewContent
from kimi_tui.tui.review.review_view import ReviewView
from kimi_tui.tui.timeline.file_list import FileList
from kimi_tui.tui.timeline.query_dialog import QueryDialog, Reply, TimelineQueries
from kimi_tui.tui.timeline.revert_proposal import RevertPlanner
from kimi_tui.tui.timeline.row_renderer import checkpoint_title
from kimi_tui.tui.timeline.tree import TimelineTree
from kimi_tui.tui.widgets.key_hints import KeyHint, KeyHints
from kimi_tui.wire.attempts import AttemptChanges
from kimi_tui.wire.review import (
    ChangeReview,
    CommentList,
    ListComments,
    PlannedFileContent,
    ReadPlannedFile,
    ReviewChanges,
    ReviewComment,
)
from kimi_tui.wire.timeline import BranchContent, Comparison, PatchWritten, RevertPlan
from kimi_tui.wire.why import LineReason

_TWO_COLUMNS_FROM = 160
"""Minimum number of columns for a side-by-side diff by default."""
_LIST_BESIDE_FROM = 100
"""Minimum number of columns for the list of files to be next to the diff."""
_LOW_ROWS = 30


class ReviewPage(QueryDialog[None]):
    """Shows the changes between two checkpoints, or a checkpoint and now."""

    AUTO_FOCUS = "ReviewView"

    files = getters.query_one(ReviewFileList)
    view = getters.query_one(ReviewView)

    def __init__(
        self,
        before: int | None,
        after: int | None,
        *,
        tree: TimelineTree,
        planner: RevertPlanner,
        host: CommandHost,
        queries: TimelineQueries,
        key_labels: KeyLabels,
    ) -> None:
        """Without `before`, start at the last review. Without `after`, end at the current state."""
        super().__init__(title=tr("Review"), queries=queries, key_labels=key_labels)
        self._before, self._after = before, after
        self._timeline = tree
        self._planner = planner
        self._host = host
        self._review: ChangeReview | None = None
        self._files: dict[str, ReviewFile] = {}
        """The files by path. Their hunks may arrive later."""
        self._requested: set[str] = set()
        """Paths of the files with requested hunks."""
        self._viewed: set[str] = set()
        self._comments: tuple[ReviewComment, ...] = ()
        self._marks = RevertMarks()
        self._is_side_by_side: bool | None = None
        """The layout chosen by the user. None: depends on the width."""
        self._edited: ReviewComment | None = None
        """The comment that the user is editing."""

    def compose(self) -> ComposeResult:
        """Yield the title, the summary, the files and the diff, the field for comments, and the hints."""
        yield Static(self._dialog_title, classes="dialog-title", id="review-title", markup=False)
        yield Static(tr("Comparing files …"), id="review-summary", markup=False)
        with Container(id="review-body"):
            yield ReviewFileList()
            yield ReviewView()
        field = Input(id="review-comment", select_on_focus=False)
        field.cursor_blink = False
        field.display = False
        yield field
        yield KeyHints(max_lines=2)

    def on_mount(self) -> None:
        """Request the files."""
        self._queries.ask(ReviewChanges(self._before, self._after))
        self.show_hints()

    # replies

    def show_reply(self, reply: Reply) -> None:
        """Show a reply of the engine."""
        match reply:
            case ChangeReview():
                self._show_review(reply)
            case PlannedFileContent():
                self._show_file_content(reply)
            case CommentList():
                self._show_comments(reply)
            case LineReason():
                self._host.dialogs.show_text(*why_text(reply))
            case RevertPlan() | Comparison() | PatchWritten() | BranchContent() | AttemptChanges():
                pass
            case _:
                assert_never(reply)

    def show_problem(self, text: str) -> None:
        """Show why a query failed."""
        self._show_summary_text(Content.styled(sanitize_line(translate_message(text)), "$warning"))

    def handle_turn_change(self) -> None:
        """Compare again, because the turn may have changed files."""
        if self._host.state.turn is None:
            self._reload()

    def handle_revert(self) -> None:
        """Compare again after a revert."""
        self._marks.clear()
        self._reload()

    def _reload(self) -> None:
        if self._review is not None and self._after is None:
            self._queries.ask(ReviewChanges(self._review.before, self._after))

    def _show_review(self, review: ChangeReview) -> None:
        path = self.path
        self._review = review
        files = [to_review_file(file) for file in review.files]
        self._files = {file.path: file for file in files}
        self._requested = set()
        self._viewed = set(review.viewed)
        self._marks.keep_paths(self._files)
        self.query_one("#review-title", Static).update(self._title())
        if not files:
            note = translate_message(review.note)
            self.files.display = self.view.display = False
            text = sanitize_line(note) or tr("No files differ.")
            self._show_summary_text(Content.styled(text, "$warning" if note else "$text-muted"))
            self.show_hints()
            return
        self.files.display = self.view.display = True
        self.files.show([self._row(file) for file in files], set(self._viewed))
        unviewed = (file.path for file in files if file.path not in self._viewed)
        self.files.highlight_path(path if path in self._files else next(unviewed, files[0].path))
        self._queries.ask(ListComments(review.id))
        self.refresh_file()

    def _show_file_content(self, content: PlannedFileContent) -> None:
        if self._review is None or content.plan != self._review.id:
            return
        file = to_review_file(content.file)
        self._files[file.path] = file
        self._marks.keep_known(file)
        self.refresh_file()

    def _show_comments(self, comments: CommentList) -> None:
        if self._review is not None and comments.plan == self._review.id:
            self._comments = comments.comments
            for file in self._files.values():
                if any(it.path == file.path for it in self._comments):
                    self._replace_row(file)
            self.refresh_file()

    # the shown file

    @property
    def path(self) -> str | None:
        """The path of the displayed file. None before the files arrive."""
        return self.files.highlighted_path

    @property
    def file(self) -> ReviewFile | None:
        """The shown file."""
        path = self.path
        return self._files.get(path) if path is not None else None

    @property
    def is_loading(self) -> bool:
        """Whether the files, or the hunks of the shown file, haven't arrived yet."""
        return self._review is None or ((file := self.file) is not None and file.is_on_request)

    @property
    def is_read_only(self) -> bool:
        """Whether comments, marks and reverts are unavailable."""
        return self._review is not None and self._review.is_read_only

    @property
    def can_revert(self) -> bool:
        """Whether hunks can be reverted."""
        return self._after is None and not self.is_read_only

    def _title(self) -> str:
        review = self._review
        if review is None:
            return tr("Review")
        ends = [
            checkpoint_title(node) if (node := self._timeline.find_by_id(number)) is not None else str(number)
            for number in (review.before, review.after)
            if number is not None
        ]
        end = ends[1] if len(ends) > 1 else tr("now")
        return sanitize_line(tr("Review: {before} → {end}", before=ends[0], end=end))

    def _row(self, file: ReviewFile) -> ReviewedFileRow:
        letter, style = CHANGE_LETTERS[file.change]
        return ReviewedFileRow(
            path=file.path,
            label=letter,
            style=style,
            added=file.added,
            removed=file.removed,
            is_selectable=True,
            comments=sum(it.path == file.path for it in self._comments),
            marked=self._marks.count(file.path),
        )

    def _replace_row(self, file: ReviewFile) -> None:
        self.files.replace_row(self._row(file), is_selected=file.path in self.files.selected_paths)

    def refresh_file(self) -> None:
        """Show the current file. Request missing hunks of this file and of the next file."""
        file = self.file
        if file is None or self._review is None:
            return
        for path in self._wanted_paths(file.path):
            if self._files[path].is_on_request and path not in self._requested:
                self._requested.add(path)
                self._queries.ask(ReadPlannedFile(self._review.id, path))
        self._replace_row(file)
        self.view.show_content(
            ReviewContent(
                file=file,
                comments=tuple(it for it in self._comments if it.path == file.path),
                marked=self._marks.of(file.path),
                is_side_by_side=self.shows_side_by_side,
                can_revert=self.can_revert,
            )
        )
        self.show_summary()
        self.show_hints()

    def _wanted_paths(self, path: str) -> list[str]:
        paths = list(self._files)
        at = paths.index(path)
        return paths[at : at + 2]

    @property
    def shows_side_by_side(self) -> bool:
        """Whether diffs have two columns."""
        if self._is_side_by_side is not None:
            return self._is_side_by_side
        return self.app.size.width >= _TWO_COLUMNS_FROM

    def show_summary(self) -> None:
        """Show the numbers of files, comments and marks."""
        files = list(self._files.values())
        parts = [
            Content.assemble(
                (tr_n("{count} file", "{count} files", len(files)) + " ", ""),
                (f"+{sum(file.added for file in files)} ", "$success"),
                (f"−{sum(file.removed for file in files)}", "$error"),
            ),
            Content.styled(
                tr("{count} of {total} viewed", count=len(self._viewed), total=len(files)), "$text-muted"
            ),
        ]
        if self._comments:
            text = tr_n("{count} comment", "{count} comments", len(self._comments))
            parts.append(Content.styled(text, "$secondary"))
        if marked := self._marks.count():
            text = tr_n("{count} hunk to revert", "{count} hunks to revert", marked)
            parts.append(Content.styled(text, "bold $warning"))
        if self._review is not None and self._review.note:
            parts.append(Content.styled(sanitize_line(translate_message(self._review.note)), "$warning"))
        self._show_summary_text(Content(" · ").join(parts))

    def _show_summary_text(self, text: Content) -> None:
        self.query_one("#review-summary", Static).update(text)

    def hints(self) -> list[KeyHint]:
        """Return the key hints."""
        raise NotImplementedError

    def show_hints(self) -> None:
        """Update the key hints."""
        self.query_one(KeyHints).show(self.hints())

    @on(FileList.Highlighted)
    def _handle_file_highlighted(self, event: FileList.Highlighted) -> None:
        event.stop()
        self.refresh_file()

    @on(ReviewView.PlaceChanged)
    def _handle_place_changed(self, event: ReviewView.PlaceChanged) -> None:
        event.stop()
        self.show_hints()

    def on_resize(self) -> None:
        """Put the list next to the diff on a wide terminal."""
        self.set_class(self.app.size.width >= _LIST_BESIDE_FROM, "-beside")
        self.set_class(self.app.size.height < _LOW_ROWS, "-low")
        self.refresh_file()
