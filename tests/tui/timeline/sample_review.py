"""A review: what the engine sends for files that the agent changed, and comments on two of their lines."""

from dataclasses import replace
from difflib import SequenceMatcher

from kimi_tui.base.message_text import msg
from kimi_tui.wire.display_blocks import DiffBlock
from kimi_tui.wire.review import ChangeReview, CommentList, PlannedFileContent, ReviewComment
from kimi_tui.wire.timeline import PlannedChoice, PlannedFile, PlannedHunk

BEFORE = (
    "def validate(form):\n"
    '    """Return whether the form is complete."""\n'
    "    user = form.user\n"
    "    if not user:\n"
    "        return False\n"
    "    return form.user.ok\n"
    "\n"
    "\n"
    "def login(form):\n"
)
NOW = (
    "def validate(form):\n"
    '    """Return whether the form is complete."""\n'
    "    user = form.user.strip().casefold()\n"
    "    if not user or user in BLOCKED:\n"
    "        return False\n"
    "    return True\n"
    "\n"
    "\n"
    "def login(form):\n"
)


def hunk(name: str, path: str, line: int, now: str, before: str) -> PlannedHunk:
    """Return the hunk that turns lines of the current file into the earlier ones."""
    matcher = SequenceMatcher(None, now.splitlines(), before.splitlines(), autojunk=False)
    shared = sum(match.size for match in matcher.get_matching_blocks())
    added, removed = len(before.splitlines()) - shared, len(now.splitlines()) - shared
    return PlannedHunk(name, added, removed, DiffBlock(path, now, before, line, line))


VALIDATE = hunk("validate", "src/shop/auth.py", 41, NOW, BEFORE)
LOG = hunk(
    "log",
    "src/shop/auth.py",
    88,
    "    token = issue(user)\n    log.info('%s logged in', user)\n    return token\n",
    "    token = issue(user)\n    return token\n",
)
FILES = (
    PlannedFile(
        "src/shop/auth.py",
        "restore",
        added=3,
        removed=4,
        by="both",
        choices=(
            PlannedChoice("mine"),
            PlannedChoice("merge", 3, 3, (VALIDATE,), "merge"),
            PlannedChoice("checkpoint", 3, 4, (VALIDATE, LOG), "restore"),
        ),
        choice="merge",
        note=msg("you edited other lines"),
    ),
    PlannedFile(
        "src/shop/blocked.py",
        "delete",
        removed=2,
        by="agent",
        hunks=(hunk("new", "src/shop/blocked.py", 1, "BLOCKED = {'root', 'admin'}\nLIMIT = 3\n", ""),),
    ),
    PlannedFile(
        "tests/shop/checkout/test_blocked_users.py",
        "recreate",
        added=1,
        by="agent",
        hunks=(hunk("old", "tests/shop/checkout/test_blocked_users.py", 1, "", "def test_root(): ...\n"),),
    ),
    PlannedFile("logo.png", "restore", by="agent", no_diff=msg("No diff: the file is binary.")),
)
REVIEW = ChangeReview(
    id="review-1",
    before=2,
    files=tuple(
        replace(
            file, hunks=(), choices=tuple(PlannedChoice(it.choice) for it in file.choices), is_on_request=True
        )
        for file in FILES
    ),
    viewed=("src/shop/blocked.py",),
)
COMMENTS = CommentList(
    (
        ReviewComment(
            id=1,
            path="src/shop/auth.py",
            line=44,
            code="    if not user or user in BLOCKED:",
            text="Log who was blocked, please.",
        ),
        ReviewComment(
            id=2,
            path="src/shop/auth.py",
            line=None,
            code="    check(form)",
            text="Why was this called twice?",
        ),
    ),
    "review-1",
)


def content(path: str) -> PlannedFileContent:
    """Return a file of the review with its hunks."""
    number = next(at for at, file in enumerate(FILES, 1) if file.path == path)
    return PlannedFileContent(plan=REVIEW.id, number=number, file=FILES[number - 1], can_revert=True)
