"""Review screen: the changed files and their hunks, with comments, marks and reverts."""

from typing import assert_never

from textual import getters, on
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.widgets import Input, Static

from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.frontend.reviewed_file import ReviewedFile, reviewed_file
from kimi_tui.frontend.text.why import why_text
from kimi_tui.i18n.translate import tr, tr_n, translate_message
from kimi_tui.tui.commands.command_host import CommandHost
from kimi_tui.tui.keys.keymap import KeyLabels, bindings
from kimi_tui.tui.keys.tables import CHANGE_REVIEW_KEYS
from kimi_tui.tui.review.revert_marks import RevertMarks
from kimi_tui.tui.review.review_file_list import CHANGE_LETTERS, ReviewedFileRow, ReviewFileList
from kimi_tui.tui.review.review_lines import ReviewContent
from kimi_tui.tui.review.review_view import ReviewView
from kimi_tui.tui.timeline.file_list import FileList
from kimi_tui.tui.timeline.query_dialog import QueryDialog, Reply, TimelineQueries
from kimi_tui.tui.timeline.revert_proposal import RevertPlanner, propose_hunks
from kimi_tui.tui.timeline.row_renderer import checkpoint_title
from kimi_tui.tui.timeline.tree import TimelineTree
from kimi_tui.tui.widgets.key_hints import KeyHint, KeyHints
from kimi_tui.wire.review import (
    AddComment,
    ChangeReview,
    CommentList,
    EditComment,
    ListComments,
    MarkViewed,
    PlannedFileContent,
    ReadPlannedFile,
    RemoveComment,
    ReviewChanges,
    ReviewComment,
    SendComments,
)
from kimi_tui.wire.timeline import BranchContent, Comparison, PatchWritten, RevertPlan
from kimi_tui.wire.why import ExplainLine, LineReason

_TWO_COLUMNS_FROM = 160
"""Minimum number of columns for a side-by-side diff by default."""
_LIST_BESIDE_FROM = 100
"""Minimum number of columns for the list of files to be next to the diff."""
_LOW_ROWS = 30


class ReviewScreen(QueryDialog[None]):
    """Shows the changes between two checkpoints, or a checkpoint and now."""

    BINDINGS = bindings(CHANGE_REVIEW_KEYS)
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
        """Without `before`, review what hasn't been reviewed; without `after`, up to now."""
        super().__init__(title=tr("Review"), queries=queries, key_labels=key_labels)
        self._before, self._after = before, after
        self._tree = tree
        self._planner = planner
        self._host = host
        self._review: ChangeReview | None = None
        self._files: dict[str, ReviewedFile] = {}
        """The files by path, with hunks where they are known."""
        self._requested: set[str] = set()
        """The files whose hunks were requested."""
        self._viewed: set[str] = set()
        self._comments: tuple[ReviewComment, ...] = ()
        self._marks = RevertMarks()
        self._is_side_by_side: bool | None = None
        """The layout that the user has chosen; None for the one that suits the width."""
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
        self._show_hints()

    # replies

    def show_reply(self, reply: Reply) -> None:
        """Show what the engine has sent."""
        match reply:
            case ChangeReview():
                self._show_review(reply)
            case PlannedFileContent():
                self._show_file_content(reply)
            case CommentList():
                self._show_comments(reply)
            case LineReason():
                self._host.dialogs.show_text(*why_text(reply))
            case RevertPlan() | Comparison() | PatchWritten() | BranchContent():
                pass
            case _:
                assert_never(reply)

    def show_problem(self, text: str) -> None:
        """Show why a query failed."""
        self._show_summary_text(Content.styled(sanitize_line(translate_message(text)), "$warning"))

    def handle_turn_change(self) -> None:
        """Compare again after a turn, whose end may have changed files."""
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
        path = self._path
        self._review = review
        files = [reviewed_file(file) for file in review.files]
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
            self._show_hints()
            return
        self.files.display = self.view.display = True
        self.files.show([self._row(file) for file in files], set(self._viewed))
        unviewed = (file.path for file in files if file.path not in self._viewed)
        self.files.highlight_path(path if path in self._files else next(unviewed, files[0].path))
        self._queries.ask(ListComments(review.id))
        self._refresh()

    def _show_file_content(self, content: PlannedFileContent) -> None:
        if self._review is None or content.plan != self._review.id:
            return
        file = reviewed_file(content.file)
        self._files[file.path] = file
        self._marks.keep_known(file)
        self._refresh()

    def _show_comments(self, comments: CommentList) -> None:
        if self._review is not None and comments.plan == self._review.id:
            self._comments = comments.comments
            for file in self._files.values():
                if any(it.path == file.path for it in self._comments):
                    self._replace_row(file)
            self._refresh()

    # what is shown

    @property
    def _path(self) -> str | None:
        return self.files.highlighted_path

    @property
    def _file(self) -> ReviewedFile | None:
        path = self._path
        return self._files.get(path) if path is not None else None

    def _title(self) -> str:
        review = self._review
        if review is None:
            return tr("Review")
        ends = [
            checkpoint_title(node) if (node := self._tree.find_by_id(number)) is not None else str(number)
            for number in (review.before, review.after)
            if number is not None
        ]
        end = ends[1] if len(ends) > 1 else tr("now")
        return sanitize_line(tr("Review: {before} → {end}", before=ends[0], end=end))

    def _row(self, file: ReviewedFile) -> ReviewedFileRow:
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

    def _replace_row(self, file: ReviewedFile) -> None:
        self.files.replace_row(self._row(file), is_selected=file.path in self.files.selected_paths)

    def _refresh(self) -> None:
        """Show the current file, and request its hunks and those of the next file if they are missing."""
        file = self._file
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
                is_side_by_side=self._shows_side_by_side,
                can_revert=self._after is None,
            )
        )
        self._show_summary()
        self._show_hints()

    def _wanted_paths(self, path: str) -> list[str]:
        paths = list(self._files)
        at = paths.index(path)
        return paths[at : at + 2]

    @property
    def _shows_side_by_side(self) -> bool:
        if self._is_side_by_side is not None:
            return self._is_side_by_side
        return self.app.size.width >= _TWO_COLUMNS_FROM

    def _show_summary(self) -> None:
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

    def _show_hints(self) -> None:
        self.query_one(KeyHints).show(self._hints())

    def _hints(self) -> list[KeyHint]:
        first = self.key_labels.first_key
        close = KeyHint(first("changereview.close"), tr("close"), "close")
        if self.query_one("#review-comment", Input).display:
            return [
                KeyHint("enter", tr("save"), "save_comment", "bold"),
                KeyHint(first("changereview.close"), tr("cancel"), "close"),
            ]
        file = self._file
        if file is None:
            return [close]
        has_comment = (place := self.view.place) is not None and place.comment is not None
        hints = [
            self._hint("viewed", tr("not viewed") if file.path in self._viewed else tr("viewed")),
            self._hint("comment", tr("edit comment") if has_comment else tr("comment")),
            *([self._hint("delete", tr("delete comment"))] if has_comment else []),
        ]
        if self._after is None:
            hints.append(self._hint("mark", tr("mark to revert")))
            if self._marks.count():
                hints.append(self._hint("revert", tr("revert marked"), "bold"))
        if self._comments:
            hints.append(self._hint("send", tr("send comments"), "bold"))
        two_keys = f"{first('changereview.previous_file')} {first('changereview.next_file')}"
        return [
            *hints,
            close,
            KeyHint(two_keys, tr("file"), "move_file(1)"),
            self._hint("next_hunk", tr("next hunk")),
            self._hint("why", tr("why")),
            self._hint("layout", tr("one column") if self._shows_side_by_side else tr("side by side")),
            self._hint("mark_all", tr("mark all hunks")),
            self._hint("copy", tr("copy diff")),
        ]

    def _hint(self, name: str, label: str, style: str = "") -> KeyHint:
        binding_id = f"changereview.{name}"
        action = next(key.action for key in CHANGE_REVIEW_KEYS if key.id == binding_id)
        return KeyHint(self.key_labels.first_key(binding_id), label, action, style)

    # moving

    @on(FileList.Highlighted)
    def _handle_file_highlighted(self, event: FileList.Highlighted) -> None:
        event.stop()
        self._refresh()

    @on(ReviewView.PlaceChanged)
    def _handle_place_changed(self, event: ReviewView.PlaceChanged) -> None:
        event.stop()
        self._show_hints()

    def on_resize(self) -> None:
        """Put the list next to the diff on a wide terminal."""
        self.set_class(self.app.size.width >= _LIST_BESIDE_FROM, "-beside")
        self.set_class(self.app.size.height < _LOW_ROWS, "-low")
        self._refresh()

    def action_move(self, lines: int) -> None:
        """Move the cursor by lines."""
        self.view.move(lines)

    def action_page(self, pages: int) -> None:
        """Move the cursor by pages."""
        self.view.page(pages)

    def action_edge(self, direction: int) -> None:
        """Move the cursor to the start or the end of the file."""
        self.view.edge(direction)

    def action_move_hunk(self, hunks: int) -> None:
        """Move the cursor to another hunk."""
        self.view.move_hunk(hunks)

    def action_move_file(self, files: int) -> None:
        """Show another file."""
        self.files.move(files)

    def action_layout(self) -> None:
        """Show the old and the new lines side by side, or in one column."""
        self._is_side_by_side = not self._shows_side_by_side
        self._refresh()

    # viewed files

    def action_mark_viewed(self) -> None:
        """Mark the file as viewed and show the next one that isn't, or remove its mark."""
        file = self._file
        if file is None:
            return
        is_viewed = file.path not in self._viewed
        self._set_viewed({file.path}, is_viewed=is_viewed)
        paths = list(self._files)
        at = paths.index(file.path)
        following = (path for path in (*paths[at:], *paths[:at]) if path not in self._viewed)
        if is_viewed and (path := next(following, None)) is not None:
            self.files.highlight_path(path)

    @on(FileList.SelectionChanged)
    def _handle_selection_changed(self, event: FileList.SelectionChanged) -> None:
        """Mark the files whose check boxes were clicked."""
        event.stop()
        chosen = self.files.selected_paths
        self._set_viewed(chosen - self._viewed, is_viewed=True)
        self._set_viewed(self._viewed - chosen, is_viewed=False)

    def _set_viewed(self, paths: set[str], *, is_viewed: bool) -> None:
        if not paths or self._review is None:
            return
        self._host.command(MarkViewed(self._review.id, tuple(sorted(paths)), is_viewed))
        self._viewed = self._viewed | paths if is_viewed else self._viewed - paths
        self.files.selected_paths = set(self._viewed)
        self.files.refresh()
        self._show_summary()
        self._show_hints()

    # comments

    @on(ReviewView.LineOpened)
    def _handle_line_opened(self, event: ReviewView.LineOpened) -> None:
        event.stop()
        self.action_comment()

    def action_comment(self) -> None:
        """Let the user comment on the line at the cursor, or edit its comment."""
        file, place = self._file, self.view.place
        if file is None or place is None:
            return
        self._edited = place.comment
        if place.comment is None and place.line is None:
            self._host.notify(tr("Choose a line of the new version: removed lines can't have comments."))
            return
        field = self.query_one("#review-comment", Input)
        field.value = place.comment.text if place.comment is not None else ""
        field.placeholder = tr("comment on line {number} of {path}", number=place.line, path=file.path)
        field.cursor_position = len(field.value)
        field.display = True
        field.focus()
        self._show_hints()

    async def action_save_comment(self) -> None:
        """Save the comment; runs when its hint is clicked."""
        await self.query_one("#review-comment", Input).action_submit()

    @on(Input.Submitted)
    def _handle_comment_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        text, file, place, review = event.value.strip(), self._file, self.view.place, self._review
        self._close_field()
        if not text or file is None or place is None or review is None:
            return
        if self._edited is not None:
            self._queries.ask(EditComment(self._edited.id, text, review.id))
        elif place.line is not None:
            self._queries.ask(AddComment(file.path, place.line, text, review.id))

    def _close_field(self) -> None:
        self.query_one("#review-comment", Input).display = False
        self.view.focus()
        self._show_hints()

    def action_delete_comment(self) -> None:
        """Delete the comment at the cursor."""
        place = self.view.place
        if place is not None and place.comment is not None and self._review is not None:
            self._queries.ask(RemoveComment(place.comment.id, self._review.id))

    def action_send(self) -> None:
        """Send all comments to the agent as one prompt, and close the review."""
        if not self._comments:
            self._host.notify(tr("There are no comments to send."))
            return
        self._host.command(SendComments())
        self.dismiss(None)

    # reverts

    @on(ReviewView.HunkToggled)
    def _handle_hunk_toggled(self, event: ReviewView.HunkToggled) -> None:
        event.stop()
        self.action_toggle_hunk()

    def action_toggle_hunk(self) -> None:
        """Mark the hunk at the cursor to be reverted, or keep it."""
        file, place = self._file, self.view.place
        if file is None or place is None or not self._can_revert(file):
            return
        if place.hunk is not None or not file.hunks:
            self._marks.toggle(file, place.hunk.id if place.hunk is not None else "")
            self._refresh()

    def action_toggle_all_hunks(self) -> None:
        """Mark all hunks of the file to be reverted, or keep them."""
        file = self._file
        if file is not None and self._can_revert(file):
            self._marks.toggle_all(file)
            self._refresh()

    def action_revert(self) -> None:
        """Show the plan that reverts the marked hunks; without marks, the hunk at the cursor."""
        file, review = self._file, self._review
        if file is None or review is None or not self._can_revert(file):
            return
        if not self._marks.count():
            self.action_toggle_hunk()
        decisions = self._marks.decisions(self._files.values())
        node = self._tree.find_by_id(review.before)
        if decisions and node is not None:
            self._planner.open_plan(propose_hunks(node, decisions))

    def _can_revert(self, file: ReviewedFile) -> bool:
        """Return whether hunks of a file can be reverted; if not, say why."""
        if self._after is not None:
            self._host.notify(
                tr(
                    "This review ends at checkpoint {number}. Only what differs from the current files can be"
                    " reverted: use /review {before}.",
                    number=self._after,
                    before=self._review.before if self._review is not None else "",
                )
            )
        elif not file.can_be_reverted:
            self._host.notify(tr("Its earlier content is unknown, so the file can't be reverted."))
        return self._after is None and file.can_be_reverted and not file.is_on_request

    # other actions

    def action_explain(self) -> None:
        """Show who wrote the line at the cursor."""
        file, place = self._file, self.view.place
        if file is None or place is None:
            return
        if self._after is not None or place.line is None:
            self._host.notify(tr("Only lines of the current files can be explained."))
            return
        self._queries.ask(ExplainLine(file.path, place.line))

    def action_copy(self) -> None:
        """Copy the diff of the file."""
        if self._file is not None:
            self._host.copy(self.view.text_for_copy())

    def action_close(self) -> None:
        """Close the field for comments, or the screen. Marked hunks aren't reverted."""
        if self.query_one("#review-comment", Input).display:
            self._close_field()
        else:
            self.dismiss(None)
