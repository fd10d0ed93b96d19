"""Comments on lines of files. They follow their lines, and are sent to the agent as one prompt."""

import asyncio
from dataclasses import replace

from kimi_tui.base.errors import UsageError
from kimi_tui.base.message_text import msg
from kimi_tui.engine.files.session_files import SessionFiles
from kimi_tui.engine.review.stored_comment import (
    MAX_COMMENT_TEXT,
    StoredComment,
    read_comments,
    write_comments,
)
from kimi_tui.engine.timeline.shown_plans import ShownPlan, ShownPlans
from kimi_tui.history.session import Session
from kimi_tui.tools.path_scope import PathScope
from kimi_tui.wire.event_sender import EventSender
from kimi_tui.wire.review import AddComment, CommentList, EditComment, RemoveComment, ReviewComment


class ReviewService:
    """Keeps the comments of a session in `review.json`. Its methods raise KimiTuiError."""

    def __init__(
        self,
        *,
        session: Session,
        files: SessionFiles,
        workspace: PathScope,
        shown_plans: ShownPlans,
        sender: EventSender,
    ) -> None:
        self._session = session
        self._files = files
        self._workspace = workspace
        self._shown_plans = shown_plans
        self._sender = sender

    async def add(self, command: AddComment) -> None:
        """Add a comment, and send the list."""
        if not self._files.is_enabled:
            raise UsageError(
                "No file snapshots.",
                hint="Set `files = true` under [checkpoints] in the config.",
            )
        from kimi_tui.engine.review.comment_positions import locate_comment

        comments = await asyncio.to_thread(self._read)
        number = max((comment.id for comment in comments), default=0) + 1
        new = await self._files.worker.use(
            locate_comment,
            command,
            workspace=self._workspace,
            number=number,
            review=self._shown_plans.find(command.plan) if command.plan or command.is_removed else None,
        )
        await asyncio.to_thread(self._write, [*comments, new])
        await self.send_list(command.plan)

    async def edit(self, command: EditComment) -> None:
        """Replace the text of a comment, and send the list."""
        comments = await asyncio.to_thread(self._read)
        edited = [
            replace(it, text=command.text[:MAX_COMMENT_TEXT]) if it.id == command.id else it
            for it in comments
        ]
        if all(it.id != command.id for it in comments):
            raise _unknown_comment(command.id)
        await asyncio.to_thread(self._write, edited)
        await self.send_list(command.plan)

    async def remove(self, command: RemoveComment) -> None:
        """Remove a comment, and send the list."""
        comments = await asyncio.to_thread(self._read)
        rest = [comment for comment in comments if comment.id != command.id]
        if len(rest) == len(comments):
            raise _unknown_comment(command.id)
        await asyncio.to_thread(self._write, rest)
        await self.send_list(command.plan)

    async def send_list(self, plan: str = "") -> None:
        """Send the comments with their lines in the current files, or in the states of the review `plan`."""
        self._sender.send(CommentList(await self._follow_comments(self._find_review(plan)), plan))

    async def take_prompt(self) -> str:
        """Return the prompt with all comments, and remove them."""
        comments = await self._follow_comments()
        if not comments:
            raise UsageError("No comments to send.", hint="Write one with /comment FILE:LINE TEXT.")
        await asyncio.to_thread(self._write, [])
        return build_prompt(comments)

    def _find_review(self, plan: str) -> ShownPlan | None:
        return self._shown_plans.find(plan) if plan else None

    async def _follow_comments(self, review: ShownPlan | None = None) -> tuple[ReviewComment, ...]:
        comments = await asyncio.to_thread(self._read)
        if not comments:
            return ()
        from kimi_tui.engine.review.comment_positions import follow_comments

        return await self._files.worker.use(follow_comments, comments, review)

    def _read(self) -> list[StoredComment]:
        return read_comments(self._session)

    def _write(self, comments: list[StoredComment]) -> None:
        write_comments(self._session, comments)


def _unknown_comment(number: int) -> UsageError:
    return UsageError(
        msg("Comment {number} doesn't exist.", number=number), hint="/comment lists the comments."
    )


def build_prompt(comments: tuple[ReviewComment, ...]) -> str:
    """Return the prompt with all comments."""
    parts = ["I reviewed the files. Address each of these comments:"]
    for number, comment in enumerate(comments, 1):
        if comment.line is not None:
            place = f"{comment.path}:{comment.line}"
        elif comment.is_removed:
            place = f"{comment.path}, removed line"
        else:
            place = f"{comment.path}, changed since"
        parts.append(f"{number}. {place}\n   `{comment.code.strip()}`\n   {comment.text}")
    return "\n\n".join(parts)
