"""Reviews of the changes between two checkpoints, or a checkpoint and now."""

import os
import random
from pathlib import Path

import pytest

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.frontend.review_file import ReviewFile, revert_choice, to_review_file
from kimi_tui.wire.commands import PlanRevert, Revert, Undo
from kimi_tui.wire.review import (
    AddComment,
    ChangeReview,
    CommentList,
    EditComment,
    ListComments,
    MarkViewed,
    PlannedFileContent,
    ReadPlannedFile,
    RevertHunks,
    ReviewChanges,
)
from kimi_tui.wire.timeline import RevertPlan
from tests.engine.timeline_harness import TimelineHarness

EXAMPLES = int(os.environ.get("KIMI_TUI_HUNK_EXAMPLES", "40"))
"""How many random selections of hunks are reverted."""
FILES = 8
"""How many files one revert changes."""
EXAMPLES_PER_SESSION = 400
CODE = "".join(f"line {number}\n" for number in range(30))


async def open_harness(folder: Path, files: dict[str, str]) -> TimelineHarness:
    """Return an open session whose working directory contains `files`."""
    harness = TimelineHarness(folder)
    for name, text in files.items():
        harness.edit(name, text)
    await harness.open()
    return harness


async def review(
    harness: TimelineHarness, before: int | None = None, after: int | None = None
) -> ChangeReview:
    await harness.timeline.reviewer.review(ReviewChanges(before, after))
    shown = harness.events[-1]
    assert isinstance(shown, ChangeReview)
    return shown


async def read(harness: TimelineHarness, shown: ChangeReview, path: str) -> ReviewFile:
    await harness.timeline.reviewer.read_file(ReadPlannedFile(shown.id, path))
    content = harness.events[-1]
    assert isinstance(content, PlannedFileContent)
    assert content.plan == shown.id
    return to_review_file(content.file)


async def comments(harness: TimelineHarness, plan: str = "") -> CommentList:
    await harness.timeline.review.send_list(plan)
    found = harness.events[-1]
    assert isinstance(found, CommentList)
    return found


def described(shown: ChangeReview) -> list[tuple[str, str, int, int]]:
    files = [to_review_file(file) for file in shown.files]
    return [(it.path, it.change, it.added, it.removed) for it in files]


async def test_a_review_lists_the_files_and_their_hunks_in_reading_direction(tmp_path: Path) -> None:
    harness = await open_harness(tmp_path, {"a.py": CODE, "old.py": "gone\n"})
    changed = CODE.replace("line 3\n", "line three\n").replace("line 20\n", "")
    await harness.turn({"a.py": changed, "old.py": None, "new.py": "one\ntwo\n"})
    shown = await review(harness)
    assert described(shown) == [
        ("a.py", "changed", 1, 2),
        ("new.py", "added", 2, 0),
        ("old.py", "removed", 0, 1),
    ]
    assert all(file.is_on_request and file.diff is None for file in shown.files)
    file = await read(harness, shown, "a.py")
    assert [(hunk.added, hunk.removed, hunk.is_yours) for hunk in file.hunks] == [
        (1, 1, False),
        (0, 1, False),
    ]
    assert "line 3\n" in file.hunks[0].diff.old_text
    assert "line three\n" in file.hunks[0].diff.new_text
    assert (await read(harness, shown, "2")).path == "new.py"
    await harness.close()


async def test_the_users_own_edits_are_marked(tmp_path: Path) -> None:
    harness = await open_harness(tmp_path, {"a.py": CODE})
    changed = CODE.replace("line 3\n", "line three\n")
    await harness.turn({"a.py": changed})
    harness.edit("a.py", changed.replace("line 20\n", "mine\n"))
    shown = await review(harness)
    assert described(shown) == [("a.py", "changed", 2, 2)]
    file = await read(harness, shown, "a.py")
    assert [hunk.is_yours for hunk in file.hunks] == [False, True]
    assert (file.by, file.choice) == ("both", "checkpoint")
    await harness.close()


async def test_hunks_are_reverted_by_their_numbers_in_the_review_and_undone(tmp_path: Path) -> None:
    harness = await open_harness(tmp_path, {"a.py": CODE, "b.py": CODE})
    changed = CODE.replace("line 3\n", "x\n").replace("line 12\n", "y\n").replace("line 20\n", "z\n")
    await harness.turn({"a.py": changed, "b.py": changed})
    await review(harness)
    await harness.timeline.reviewer.revert_hunks(RevertHunks(("1.1", "2")))
    expected = changed.replace("x\n", "line 3\n")
    assert harness.files() == {"a.py": expected, "b.py": CODE}
    await harness.timeline.reviewer.revert_hunks(RevertHunks(("1.3",)))  # still the third of the review
    assert harness.files()["a.py"] == expected.replace("z\n", "line 20\n")
    for number in ("3", "1.4", "1.x", "nothing"):
        with pytest.raises(KimiTuiError, match="no hunk"):
            await harness.timeline.reviewer.revert_hunks(RevertHunks((number,)))
    await harness.handle(Undo())
    await harness.handle(Undo())
    assert harness.files() == {"a.py": changed, "b.py": changed}
    await harness.close()


async def test_a_review_of_two_checkpoints_cannot_be_reverted(tmp_path: Path) -> None:
    harness = await open_harness(tmp_path, {"a.py": CODE})
    first, _ = await harness.turn({"a.py": CODE.replace("line 3\n", "x\n")})
    second, _ = await harness.turn({"a.py": CODE.replace("line 3\n", "y\n"), "b.py": "new\n"})
    await harness.turn({"a.py": "", "c.py": "later\n"})
    shown = await review(harness, first, second)
    assert described(shown) == [("a.py", "changed", 1, 1)]
    assert shown.files[0].by == "agent"
    assert "x\n" in (await read(harness, shown, "a.py")).hunks[0].diff.new_text
    with pytest.raises(KimiTuiError, match="reverted only in a review that ends at the current files"):
        await harness.timeline.reviewer.revert_hunks(RevertHunks(("1",)))
    await harness.close()


async def test_the_next_review_begins_where_the_last_one_ended(tmp_path: Path) -> None:
    harness = await open_harness(tmp_path, {"a.py": CODE})
    await harness.turn({"a.py": CODE.replace("line 3\n", "x\n"), "b.py": "new\n"})
    shown = await review(harness)
    await harness.timeline.reviewer.mark_viewed(MarkViewed(shown.id, ("a.py",)))
    assert (await review(harness)).viewed == ("a.py",)
    await harness.timeline.reviewer.mark_viewed(MarkViewed(shown.id, ("b.py",)))
    again = await review(harness)
    assert (again.viewed, again.before) == (("a.py", "b.py"), shown.before)  # nothing has followed
    await harness.turn({"b.py": "newer\n"})
    assert described(await review(harness)) == [("b.py", "changed", 1, 1)]
    whole = await review(harness, shown.before)
    assert whole.viewed == ("a.py",)  # b.py has changed since it was viewed
    await harness.timeline.reviewer.mark_viewed(MarkViewed(whole.id, ("a.py",), viewed=False))
    assert (await review(harness, shown.before)).viewed == ()
    await harness.close()


async def test_a_comment_is_on_the_line_that_the_review_shows(tmp_path: Path) -> None:
    harness = await open_harness(tmp_path, {"a.py": CODE})
    await harness.turn({"a.py": f"new\n{CODE}"})
    shown = await review(harness)
    harness.edit("a.py", f"later\nlater\nnew\n{CODE}")  # after the review was opened
    await harness.timeline.review.add(AddComment("a.py", 5, "Why?", shown.id))
    await harness.timeline.review.edit(EditComment(1, "Why so?", shown.id))
    in_review = await comments(harness, shown.id)
    assert [(it.line, it.code, it.text) for it in in_review.comments] == [(5, "line 3", "Why so?")]
    assert [it.line for it in (await comments(harness)).comments] == [7]
    assert ListComments(shown.id).plan == in_review.plan
    with pytest.raises(KimiTuiError, match="Comment 9 doesn't exist"):
        await harness.timeline.review.edit(EditComment(9, "x"))
    await harness.close()


async def test_a_comment_on_a_removed_line_follows_it(tmp_path: Path) -> None:
    harness = await open_harness(tmp_path, {"a.py": CODE, "gone.py": "one\ntwo\n"})
    removed = CODE.replace("line 3\n", "").replace("line 7\n", "seven\n")
    first, _ = await harness.turn({"a.py": removed, "gone.py": None})
    shown = await review(harness)
    for path, line in (("a.py", 4), ("gone.py", 2)):
        await harness.timeline.review.add(AddComment(path, line, "Why?", shown.id, is_removed=True))
    await harness.timeline.review.add(AddComment("a.py", 7, "Words?", shown.id))
    found = await comments(harness, shown.id)
    assert [(it.path, it.line, it.removed_line, it.code) for it in found.comments] == [
        ("a.py", None, 4, "line 3"),
        ("gone.py", None, 2, "two"),
        ("a.py", 7, None, "seven"),
    ]
    second, _ = await harness.turn({"a.py": f"top\n{removed}".replace("seven\n", "")})
    later = await review(harness, second)  # line 3 isn't in either of its states
    assert [(it.line, it.removed_line) for it in (await comments(harness, later.id)).comments] == [
        (None, None),
        (None, None),
        (None, 7),
    ]
    whole = await review(harness, first)
    assert [it.removed_line for it in (await comments(harness, whole.id)).comments] == [4, 2, None]
    harness.edit("a.py", f"top\n{CODE}")
    assert [(it.line, it.is_removed) for it in (await comments(harness)).comments] == [
        (5, True),
        (None, True),
        (None, False),
    ]
    prompt = await harness.timeline.review.take_prompt()
    assert "1. a.py:5\n   `line 3`\n   Why?" in prompt
    assert "2. gone.py, removed line\n   `two`" in prompt
    await harness.close()


async def test_a_review_of_many_files_reads_single_files_on_request(tmp_path: Path) -> None:
    harness = await open_harness(tmp_path, {})
    await harness.turn({f"f{number:04}.py": "new\n" for number in range(300)})
    shown = await review(harness)
    assert len(shown.files) == 300
    assert (await read(harness, shown, "f0250.py")).hunks[0].added == 1
    with pytest.raises(KimiTuiError, match=r"contain other\.py"):
        await harness.timeline.reviewer.read_file(ReadPlannedFile(shown.id, "other.py"))
    with pytest.raises(KimiTuiError, match="out of date"):
        await harness.timeline.reviewer.read_file(ReadPlannedFile("unknown", "f0250.py"))
    await harness.close()


async def test_long_files_have_hunks_as_long_as_the_changes_are_short(tmp_path: Path) -> None:
    long = "".join(f"line {number}\n" for number in range(100_000))
    changed = long.replace("line 50000\n", "x\n").replace("line 90000\n", "y\n")
    harness = await open_harness(tmp_path, {"data.csv": long, "rewritten.csv": long})
    number, _ = await harness.turn({"data.csv": changed, "rewritten.csv": long.replace("line", "row")})
    shown = await review(harness)
    file = await read(harness, shown, "data.csv")
    assert [(hunk.diff.new_start, hunk.added, hunk.removed) for hunk in file.hunks] == [
        (49_998, 1, 1),
        (89_998, 1, 1),
    ]
    rewritten = await read(harness, shown, "rewritten.csv")
    assert (rewritten.hunks, str(rewritten.no_diff)) == ((), "No diff: the file is too long.")
    await harness.timeline.planner.plan_revert(PlanRevert(number, "files"))
    plan = harness.events[-1]
    assert isinstance(plan, RevertPlan)
    assert [len(file.hunks) for file in plan.files] == [2, 0]
    await harness.timeline.reviewer.revert_hunks(RevertHunks(("1.2",)))
    assert harness.files()["data.csv"] == changed.replace("y\n", "line 90000\n")
    await harness.close()


async def test_random_selections_of_hunks_are_reverted_byte_for_byte(tmp_path: Path) -> None:
    rng = random.Random(20)
    for first in range(0, EXAMPLES, EXAMPLES_PER_SESSION):
        folder = tmp_path / str(first)
        folder.mkdir()
        harness = await open_harness(folder, {})
        for _ in range(min(EXAMPLES - first, EXAMPLES_PER_SESSION) // FILES):
            await check_random_selections(harness, rng)
        await harness.close()


async def check_random_selections(harness: TimelineHarness, rng: random.Random) -> None:
    """Change some files, revert random hunks of each at once, and undo that."""
    cases = {f"f{number}.py": RandomChange(rng) for number in range(FILES)}
    for name, case in cases.items():
        harness.edit(name, case.text([False] * len(case.changes)))
    changed = {name: case.text([True] * len(case.changes)) for name, case in cases.items()}
    first, _ = await harness.turn(dict(changed))
    shown = await review(harness, first)
    choices, wanted = [], dict(changed)
    for name, case in cases.items():
        file = await read(harness, shown, name)
        assert len(file.hunks) == len(case.changes)
        kept = [rng.random() < 0.5 for _ in file.hunks]
        reverted = frozenset(hunk.id for hunk, is_kept in zip(file.hunks, kept, strict=True) if not is_kept)
        if reverted:
            choices.append(revert_choice(file, reverted))
            wanted[name] = case.text(kept)
    await harness.handle(Revert(first, "files", (), choices=tuple(choices)))
    assert contents(harness) == {name: text.encode() for name, text in wanted.items()}
    await harness.handle(Undo())
    assert contents(harness) == {name: text.encode() for name, text in changed.items()}


def contents(harness: TimelineHarness) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in harness.work.iterdir()}


class RandomChange:
    """A file with changed lines between unchanged ones, which are all different."""

    def __init__(self, rng: random.Random) -> None:
        end = rng.choice(["\n", "\r\n"])
        self.changes: list[tuple[str, str]] = []
        self._kept: list[str] = []
        for number in range(rng.randint(1, 6)):
            old, new = (
                "".join(f"{word} {number} {rng.random()} é" + end for _ in range(rng.randint(0, 3)))
                for word in ("old", "new")
            )
            self._kept.append("".join(f"kept {number} {at}{end}" for at in range(rng.randint(1, 9))))
            self.changes.append((old, new or f"new {number}{end}"))
        if rng.random() < 0.3:
            self.changes[-1] = (self.changes[-1][0].rstrip(end), self.changes[-1][1].rstrip(end))

    def text(self, is_new: list[bool]) -> str:
        """Return the file with the new or the old lines at each place."""
        pairs = zip(self._kept, self.changes, is_new, strict=True)
        return "".join(kept + change[use_new] for kept, change, use_new in pairs)
