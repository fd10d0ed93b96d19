"""Review screen: the changed files and their hunks, with comments, marks and reverts."""

from textual import on
from textual.widgets import Input

from kimi_tui.frontend.review_file import ReviewFile
from kimi_tui.i18n.translate import tr
from kimi_tui.tui.keys.keymap import bindings
from kimi_tui.tui.keys.tables import CHANGE_REVIEW_KEYS
from kimi_tui.tui.review.review_page import ReviewPage
from kimi_tui.tui.review.review_view import ReviewView
from kimi_tui.tui.timeline.file_list import FileList
from kimi_tui.tui.timeline.revert_proposal import propose_hunks
from kimi_tui.tui.widgets.key_hints import KeyHint
from kimi_tui.wire.review import (
    AddComment,
    EditComment,
    MarkViewed,
    RemoveComment,
    SendComments,
)
from kimi_tui.wire.why import ExplainLine


class ReviewScreen(ReviewPage):
    """The review screen: actions on the displayed changes."""

    BINDINGS = bindings(CHANGE_REVIEW_KEYS)

    # hints

    def hints(self) -> list[KeyHint]:
        """Return the key hints for the line at the cursor."""
        first = self.key_labels.first_key
        close = KeyHint(first("changereview.close"), tr("close"), "close")
        if self.query_one("#review-comment", Input).display:
            return [
                KeyHint("enter", tr("save"), "save_comment", "bold"),
                KeyHint(first("changereview.close"), tr("cancel"), "close"),
            ]
        file = self.file
        if file is None:
            return [close]
        has_comment = (place := self.view.place) is not None and place.comment is not None
        hints: list[KeyHint] = []
        if not self.is_read_only:
            viewed = tr("not viewed") if file.path in self._viewed else tr("viewed")
            hints.append(self._hint("viewed", viewed))
            hints.append(self._hint("comment", tr("edit comment") if has_comment else tr("comment")))
            if has_comment:
                hints.append(self._hint("delete", tr("delete comment")))
        if self.can_revert:
            hints.append(self._hint("mark", tr("mark to revert")))
            if self._marks.count():
                hints.append(self._hint("revert", tr("revert marked"), "bold"))
        if self._comments and not self.is_read_only:
            hints.append(self._hint("send", tr("send comments"), "bold"))
        two_keys = f"{first('changereview.previous_file')} {first('changereview.next_file')}"
        return [
            *hints,
            close,
            KeyHint(two_keys, tr("file"), "move_file(1)"),
            KeyHint(first("changereview.next_hunk"), tr("next hunk"), "view('move_hunk', 1)"),
            self._hint("why", tr("why")),
            self._hint("layout", tr("one column") if self.shows_side_by_side else tr("side by side")),
            *([self._hint("mark_all", tr("mark all hunks"))] if self.can_revert else []),
            self._hint("copy", tr("copy diff")),
        ]

    def _hint(self, name: str, label: str, style: str = "") -> KeyHint:
        binding_id = f"changereview.{name}"
        action = next(key.action for key in CHANGE_REVIEW_KEYS if key.id == binding_id)
        return KeyHint(self.key_labels.first_key(binding_id), label, action, style)

    # moving

    async def action_view(self, name: str, *arguments: int) -> None:
        """Run an action of the diff, for the key hints."""
        await self.app.run_action(f"{name}({', '.join(map(str, arguments))})", self.view)

    def action_move_file(self, files: int) -> None:
        """Show another file."""
        self.files.move(files)

    def action_layout(self) -> None:
        """Show the old and the new lines side by side, or in one column."""
        self._is_side_by_side = not self.shows_side_by_side
        self.refresh_file()

    # viewed files

    def action_mark_viewed(self) -> None:
        """Mark the file as viewed and show the next one that isn't, or remove its mark."""
        file = self.file
        if file is None or not self._can_change():
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
        if not self._can_change():
            self.files.selected_paths = set(self._viewed)
            self.files.refresh()
            return
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
        self.show_summary()
        self.show_hints()

    # comments

    @on(ReviewView.LineOpened)
    def _handle_line_opened(self, event: ReviewView.LineOpened) -> None:
        event.stop()
        self.action_comment()

    def action_comment(self) -> None:
        """Let the user comment on the line at the cursor, or edit its comment."""
        file, place = self.file, self.view.place
        if file is None or place is None or not self._can_change():
            return
        self._edited = place.comment
        if place.comment is None and place.line is None and place.removed_line is None:
            return
        field = self.query_one("#review-comment", Input)
        field.value = place.comment.text if place.comment is not None else ""
        field.placeholder = (
            tr("comment on line {number} of {path}", number=place.line, path=file.path)
            if place.line is not None
            else tr("comment on removed line {number} of {path}", number=place.removed_line, path=file.path)
        )
        field.cursor_position = len(field.value)
        field.display = True
        field.focus()
        self.show_hints()

    async def action_save_comment(self) -> None:
        """Save the comment; runs when its hint is clicked."""
        await self.query_one("#review-comment", Input).action_submit()

    @on(Input.Submitted)
    def _handle_comment_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        text, file, place, review = event.value.strip(), self.file, self.view.place, self._review
        self._close_field()
        if not text or file is None or place is None or review is None:
            return
        if self._edited is not None:
            self._queries.ask(EditComment(self._edited.id, text, review.id))
        elif place.line is not None:
            self._queries.ask(AddComment(file.path, place.line, text, review.id))
        elif place.removed_line is not None:
            self._queries.ask(AddComment(file.path, place.removed_line, text, review.id, is_removed=True))

    def _close_field(self) -> None:
        self.query_one("#review-comment", Input).display = False
        self.view.focus()
        self.show_hints()

    def action_delete_comment(self) -> None:
        """Delete the comment at the cursor."""
        place = self.view.place
        if place is None or place.comment is None or self._review is None:
            return
        if self._can_change():
            self._queries.ask(RemoveComment(place.comment.id, self._review.id))

    def action_send(self) -> None:
        """Send all comments to the agent as one prompt, and close the review."""
        if not self._can_change():
            return
        if not self._comments:
            self._host.notify(tr("No comments to send."))
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
        file, place = self.file, self.view.place
        if file is None or place is None or not self._can_revert(file):
            return
        if place.hunk is not None or not file.hunks:
            self._marks.toggle(file, place.hunk.id if place.hunk is not None else "")
            self.refresh_file()

    def action_toggle_all_hunks(self) -> None:
        """Mark all hunks of the file to be reverted, or keep them."""
        file = self.file
        if file is not None and self._can_revert(file):
            self._marks.toggle_all(file)
            self.refresh_file()

    def action_revert(self) -> None:
        """Show the plan that reverts the marked hunks; without marks, the hunk at the cursor."""
        file, review = self.file, self._review
        if file is None or review is None or not self._can_revert(file):
            return
        if not self._marks.count():
            self.action_toggle_hunk()
        decisions = self._marks.decisions(self._files.values())
        node = self._timeline.find_by_id(review.before)
        if decisions and node is not None:
            self._planner.open_plan(propose_hunks(node, decisions))

    def _can_revert(self, file: ReviewFile) -> bool:
        """Return whether hunks of a file can be reverted. Notify the user of the reason if they can't."""
        if not self._can_change():
            return False
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

    def _can_change(self) -> bool:
        """Return whether the session can be changed. Notify the user if it is read-only."""
        if self.is_read_only:
            self._host.notify(tr("This session is read-only. Use /write to continue it."), severity="warning")
        return not self.is_read_only

    # other actions

    def action_explain(self) -> None:
        """Show who wrote the line at the cursor."""
        file, place = self.file, self.view.place
        if file is None or place is None:
            return
        if self._after is not None or place.line is None:
            self._host.notify(tr("Only lines of the current files can be explained."))
            return
        self._queries.ask(ExplainLine(file.path, place.line))

    def action_copy(self) -> None:
        """Copy the diff of the file."""
        if self.file is not None:
            self._host.copy(self.view.text_for_copy())

    def action_close(self) -> None:
        """Close the field for comments, or the screen. Marked hunks aren't reverted."""
        if self.query_one("#review-comment", Input).display:
            self._close_field()
        else:
            self.dismiss(None)
