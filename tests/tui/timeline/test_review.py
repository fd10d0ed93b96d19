"""The review screen, by keyboard and mouse."""

from dataclasses import replace
from typing import Any

import pytest

from kimi_tui.tui.review.review_screen import ReviewScreen
from kimi_tui.tui.timeline.plan_dialog import PlanDialog
from kimi_tui.wire.commands import Compare, PlanRevert, Revert
from kimi_tui.wire.review import (
    AddComment,
    ChangeReview,
    CommentList,
    EditComment,
    ListComments,
    MarkViewed,
    ReadPlannedFile,
    RemoveComment,
    ReviewChanges,
    ReviewComment,
    SendComments,
)
from kimi_tui.wire.timeline import FileChoice, Reverted, RevertPlan
from kimi_tui.wire.why import ExplainLine, LineReason
from tests.tui.conftest import SESSION, AppHarness
from tests.tui.timeline.sample_review import COMMENTS, FILES, REVIEW, content
from tests.tui.timeline.sample_timeline import COMPARISON
from tests.tui.timeline.test_dialogs import click_text

AUTH = "src/shop/auth.py"
SIZES = pytest.mark.parametrize("size", [(80, 24), (120, 40), (160, 45)], ids=str)


async def open_review(
    harness: AppHarness,
    review: ChangeReview = REVIEW,
    *,
    keys: str = "r",
    comments: tuple[ReviewComment, ...] = COMMENTS.comments,
) -> None:
    """Open the review of the oldest checkpoint, and answer what the screen asks."""
    await harness.driver.press("end", *keys)
    await harness.wait_until(lambda: harness.commands_of(ReviewChanges))
    await answer(harness, review, comments)


async def answer(
    harness: AppHarness,
    review: ChangeReview = REVIEW,
    comments: tuple[ReviewComment, ...] = COMMENTS.comments,
) -> None:
    """Send a review, and the contents and comments that the screen asks for."""
    lists, reads = len(harness.commands_of(ListComments)), len(harness.commands_of(ReadPlannedFile))
    harness.engine.send(review)
    await harness.wait_until(lambda: len(harness.commands_of(ListComments)) > lists)
    await harness.wait_until(lambda: len(harness.commands_of(ReadPlannedFile)) >= reads + 2)
    for command in harness.commands_of(ReadPlannedFile)[reads:]:
        harness.engine.send(replace(content(command.path), plan=review.id))
    harness.engine.send(CommentList(comments, review.id))
    await harness.wait_until(lambda: "Log who was blocked" in harness.screen_text())


async def wait_until_read(harness: AppHarness, plan: str, path: str) -> None:
    await harness.wait_until(lambda: ReadPlannedFile(plan, path) in harness.commands_of(ReadPlannedFile))


@SIZES
async def test_a_review_shows_files_hunks_and_comments(open_timeline: Any, size: tuple[int, int]) -> None:
    async with open_timeline(size=size) as harness:
        await open_review(harness)
        shown = harness.unwrapped_text()
        assert "4 files +6 −4 · 1 of 4 viewed · 2 comments" in shown
        assert "line 43 +3 −3" in shown
        assert "[ ] revert" in shown
        await harness.wait_until(lambda: "[✔] A src/shop/blocked.py" in harness.unwrapped_text())
        lines = harness.screen_text().split("\n")
        commented = next(at for at, line in enumerate(lines) if "or user in BLOCKED" in line)
        assert "Log who was blocked, please." in lines[commented + 1]


async def test_files_are_marked_as_viewed_one_after_the_other(open_timeline: Any) -> None:
    async with open_timeline(size=(120, 40)) as harness:
        await open_review(harness)
        await harness.driver.press("v")
        await harness.wait_until(lambda: "2 of 4 viewed" in harness.unwrapped_text())
        assert harness.commands_of(MarkViewed) == [MarkViewed(REVIEW.id, (AUTH,))]
        removed = "tests/shop/checkout/test_blocked_users.py"  # blocked.py was viewed before
        await wait_until_read(harness, REVIEW.id, removed)
        await harness.driver.press("h", "h", "v")
        await harness.wait_until(lambda: "1 of 4 viewed" in harness.unwrapped_text())
        assert harness.commands_of(MarkViewed)[-1] == MarkViewed(REVIEW.id, (AUTH,), viewed=False)
        await click_text(harness, "[✔] A", at=1)
        await harness.wait_until(lambda: "0 of 4 viewed" in harness.unwrapped_text())


async def test_a_line_is_commented_and_the_comment_edited_deleted_and_sent(open_timeline: Any) -> None:
    async with open_timeline(size=(120, 40)) as harness:
        await open_review(harness)
        await harness.driver.press("down", "down", "down", "c")  # a removed line
        await harness.wait_until(lambda: "comment on removed line 43" in harness.unwrapped_text())
        await harness.type_text("It was fine")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: harness.commands_of(AddComment))
        await harness.driver.press("down", "down", "c")
        await harness.type_text("Why strip?")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: len(harness.commands_of(AddComment)) == 2)
        assert harness.commands_of(AddComment) == [
            AddComment(AUTH, 43, "It was fine", REVIEW.id, is_removed=True),
            AddComment(AUTH, 43, "Why strip?", REVIEW.id),
        ]
        harness.engine.send(COMMENTS)
        await harness.driver.press("down", "down", "c")  # the comment below line 44
        await harness.wait_until(lambda: "enter save" in harness.unwrapped_text())
        await harness.type_text(" Now")
        await harness.driver.press("enter", "D")
        await harness.wait_until(lambda: harness.commands_of(RemoveComment))
        text = "Log who was blocked, please. Now"
        assert harness.commands_of(EditComment) == [EditComment(1, text, REVIEW.id)]
        assert harness.commands_of(RemoveComment) == [RemoveComment(1, REVIEW.id)]
        harness.engine.send(COMMENTS, replace(COMMENTS, comments=COMMENTS.comments[1:]))
        await harness.wait_until(lambda: "2 comments" not in harness.unwrapped_text())
        await harness.driver.press("S")
        await harness.wait_until(lambda: harness.commands_of(SendComments))
        await harness.wait_until(lambda: len(harness.app.screen_stack) == 1)


@pytest.mark.parametrize("size", [(80, 24), (160, 45)], ids=str)
async def test_comments_on_removed_lines_are_below_them(open_timeline: Any, size: tuple[int, int]) -> None:
    removed = ReviewComment(
        id=3, path=AUTH, line=None, removed_line=43, is_removed=True, code="    user = form.user", text="Why?"
    )
    back = replace(removed, id=4, line=45, removed_line=45, text="It is back.")
    gone = replace(removed, id=5, removed_line=None, text="It was removed earlier.")
    async with open_timeline(size=size) as harness:
        await open_review(harness, comments=(COMMENTS.comments[0], removed, back, gone))
        await harness.wait_until(lambda: "It is" in harness.screen_text())
        lines = harness.screen_text().split("\n")
        above = {
            text: lines[next(at for at, it in enumerate(lines) if text in it) - 1]
            for text in ("Why?", "It is")
        }
        assert "user = form.user" in above["Why?"]
        assert "return False" in above["It is"]
        await harness.driver.press("end")
        await harness.wait_until(lambda: "It was removed earlier." in harness.screen_text())
        assert "removed line" in harness.screen_text()


async def test_a_review_of_a_read_only_session_changes_nothing(open_timeline: Any) -> None:
    async with open_timeline(size=(120, 40)) as harness:
        await harness.send(replace(SESSION, read_only=True))
        sent = len(harness.engine.commands)
        await open_review(harness, replace(REVIEW, is_read_only=True))
        shown = harness.unwrapped_text()
        assert "1 of 4 viewed · 2 comments" in shown
        assert "w why" in shown
        for absent in ("[ ] revert", "c comment", "v viewed", "send comments", "mark"):
            assert absent not in shown
        for key in ("v", "c", "S", "space", "a", "r"):
            await harness.driver.press("n", key)
            await harness.wait_until(lambda: "read-only" in harness.toast_text())
        await click_text(harness, "[ ] M", at=1)
        kinds = {type(command) for command in harness.engine.commands[sent:]}
        assert kinds == {ReviewChanges, ListComments, ReadPlannedFile}


async def test_marked_hunks_are_reverted_after_a_preview_and_the_review_is_renewed(
    open_timeline: Any,
) -> None:
    async with open_timeline(size=(120, 40)) as harness:
        await open_review(harness)
        await harness.driver.press("n", "x")
        await harness.wait_until(lambda: "1 hunk to revert" in harness.unwrapped_text())
        assert "[↺] revert" in harness.screen_text()
        await harness.driver.press("r")
        await harness.wait_until(lambda: harness.commands_of(PlanRevert))
        harness.engine.send(RevertPlan(2, "user", FILES, scope="files", id="plan-1"))
        await harness.wait_until(lambda: isinstance(harness.app.screen, PlanDialog))
        await harness.wait_until(lambda: "1 of 4 files" in harness.unwrapped_text())
        await harness.driver.press("enter")
        await harness.wait_until(lambda: harness.commands_of(Revert))
        choices = (FileChoice(AUTH, "checkpoint", ("log",)),)
        assert harness.commands_of(Revert) == [Revert(2, "files", (AUTH,), choices=choices)]
        await harness.wait_until(lambda: isinstance(harness.app.screen, ReviewScreen))
        harness.engine.send(Reverted(2, 12, "user", files=(AUTH,), scope="files"))
        await harness.wait_until(lambda: len(harness.commands_of(ReviewChanges)) == 2)
        await answer(harness, replace(REVIEW, id="review-2"))
        assert "to revert" not in harness.unwrapped_text().replace("mark to revert", "")


async def test_hunks_of_a_file_after_the_hundredth_are_read_before_they_are_decided(
    open_timeline: Any,
) -> None:
    async with open_timeline(size=(120, 40)) as harness:
        await open_review(harness)
        await harness.driver.press("n", "x", "r")
        await harness.wait_until(lambda: harness.commands_of(PlanRevert))
        late = replace(FILES[0], is_on_request=True, choices=REVIEW.files[0].choices)
        harness.engine.send(RevertPlan(2, "user", (late,), scope="files", id="plan-1"))
        await wait_until_read(harness, "plan-1", AUTH)
        await harness.driver.press("enter")
        assert not harness.commands_of(Revert)
        harness.engine.send(replace(content(AUTH), plan="plan-1"))
        await harness.wait_until(lambda: "[-] restore" in harness.unwrapped_text())
        await harness.driver.press("enter")
        await harness.wait_until(lambda: harness.commands_of(Revert))
        assert harness.commands_of(Revert)[0].choices == (FileChoice(AUTH, "checkpoint", ("log",)),)


async def test_the_mouse_marks_hunks_opens_files_and_comments(open_timeline: Any) -> None:
    async with open_timeline(size=(120, 40)) as harness:
        await open_review(harness)
        await click_text(harness, "[ ] revert", at=1)
        await harness.wait_until(lambda: "1 hunk to revert" in harness.unwrapped_text())
        await click_text(harness, "return True", times=2)
        await harness.wait_until(lambda: "enter save" in harness.unwrapped_text())
        await click_text(harness, "esc cancel", at=1)
        await harness.wait_until(lambda: "esc close" in harness.unwrapped_text())
        await click_text(harness, "logo.png")
        await wait_until_read(harness, REVIEW.id, "logo.png")


async def test_why_of_a_line_is_shown_above_the_review(open_timeline: Any) -> None:
    async with open_timeline(size=(120, 40)) as harness:
        await open_review(harness)
        await harness.driver.press("down", "w")
        await harness.wait_until(lambda: harness.commands_of(ExplainLine))
        assert harness.commands_of(ExplainLine) == [ExplainLine(AUTH, 41)]
        harness.engine.send(LineReason(path=AUTH, line=41, text="def validate(form):", by="you"))
        await harness.wait_until(lambda: "line 41: you" in harness.unwrapped_text())
        await harness.driver.press("escape", "n", "w")  # the heading stands for the first added line
        await harness.wait_until(lambda: len(harness.commands_of(ExplainLine)) == 2)
        assert harness.commands_of(ExplainLine)[1] == ExplainLine(AUTH, 89)


async def test_a_review_of_two_checkpoints_explains_why_it_cannot_be_reverted(open_timeline: Any) -> None:
    async with open_timeline(size=(120, 40)) as harness:
        await harness.driver.press("end", "d", "up", "up", "d")
        await harness.wait_until(lambda: harness.commands_of(Compare))
        harness.engine.send(COMPARISON)
        await harness.wait_until(lambda: "r review" in harness.unwrapped_text())
        await harness.driver.press("r")
        await harness.wait_until(lambda: harness.commands_of(ReviewChanges))
        [command] = harness.commands_of(ReviewChanges)
        assert command.before is not None
        assert command.after is not None
        await answer(harness, replace(REVIEW, before=command.before, after=command.after))
        assert "[ ] revert" not in harness.screen_text()
        await harness.driver.press("x")
        await harness.wait_until(lambda: "This review ends at checkpoint" in harness.toast_text())


async def test_the_command_reviews_since_the_last_review_or_a_checkpoint(open_timeline: Any) -> None:
    async with open_timeline() as harness:
        await harness.driver.press("escape")
        await harness.type_text("/review ")
        await harness.driver.press("enter")
        await harness.wait_until(lambda: harness.commands_of(ReviewChanges))
        assert harness.commands_of(ReviewChanges) == [ReviewChanges(None, None)]


async def test_nothing_to_review_says_so(open_timeline: Any) -> None:
    async with open_timeline() as harness:
        await harness.driver.press("end", "r")
        await harness.wait_until(lambda: harness.commands_of(ReviewChanges))
        harness.engine.send(replace(REVIEW, files=(), viewed=()))
        await harness.wait_until(lambda: "No files differ." in harness.screen_text())
        await harness.driver.press("v", "c", "x", "r", "n", "down", "w", "S")
        await harness.driver.press("escape")
        await harness.wait_until(lambda: len(harness.app.screen_stack) == 1)
