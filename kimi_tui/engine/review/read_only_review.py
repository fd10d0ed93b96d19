"""Reviews of the stored states of a session that is open read-only."""

import asyncio

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.engine.review.change_reviewer import first_unreviewed
from kimi_tui.engine.review.review_queries import plan_between
from kimi_tui.engine.review.stored_comment import read_comments
from kimi_tui.engine.review.viewed_files import read_viewed_files, viewed_items
from kimi_tui.engine.timeline.compare import resolve_states
from kimi_tui.engine.timeline.read_only import LAST_SEEN_NOTE, ReadOnlyTimeline
from kimi_tui.engine.timeline.revert_messages import build_reviewed_files, display_item_path
from kimi_tui.history.session import Session
from kimi_tui.wire.event_sender import EventSender
from kimi_tui.wire.review import ChangeReview, CommentList, ReviewChanges
from kimi_tui.wire.timeline import Comparison


class ReadOnlyReview:
    """Shows reviews with their comments. Its methods raise KimiTuiError."""

    def __init__(self, timeline: ReadOnlyTimeline, *, session: Session, sender: EventSender) -> None:
        self._timeline = timeline
        self._session = session
        self._sender = sender

    async def review(self, command: ReviewChanges) -> None:
        """Send the files that differ, by default up to the last file snapshot."""
        self._sender.send(await asyncio.to_thread(self._review, command))

    async def send_comments(self, plan: str) -> None:
        """Send the comments with their lines in the review `plan`."""
        self._sender.send(await asyncio.to_thread(self._read_comments, plan))

    def _review(self, command: ReviewChanges) -> ChangeReview:
        tree = self._timeline.read_tree()
        viewed = read_viewed_files(self._session)
        before = command.before if command.before is not None else first_unreviewed(tree, viewed)
        states = resolve_states(tree, before, command.after)
        if isinstance(states, Comparison):
            return ChangeReview(before=before, after=command.after, note=states.note, is_read_only=True)
        history = self._timeline.open_history(tree)
        old, new = states[0], states[1] if len(states) > 1 else history.newest or states[0]
        try:
            plan = plan_between(history, old, new)
            return ChangeReview(
                id=self._timeline.shown_plans.add(plan, before=before, is_now=False),
                before=before,
                after=command.after,
                files=build_reviewed_files(history, plan),
                viewed=tuple(display_item_path(item) for item in viewed_items(viewed, plan.items)),
                note=LAST_SEEN_NOTE if command.after is None else "",
                is_read_only=True,
            )
        except KimiTuiError as error:
            return ChangeReview(before=before, after=command.after, note=str(error), is_read_only=True)

    def _read_comments(self, plan: str) -> CommentList:
        shown = self._timeline.shown_plans.find(plan)
        comments = read_comments(self._session)
        if not comments:
            return CommentList((), plan)
        from kimi_tui.engine.review.comment_positions import follow_comments

        history = self._timeline.open_history(self._timeline.read_tree())
        return CommentList(follow_comments(history, comments, shown), plan)
