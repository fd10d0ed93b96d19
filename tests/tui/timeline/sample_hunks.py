"""A plan with hunks and choices: what the engine sends for a file that the agent edited in three places."""

from kimi_tui.wire.display_blocks import DiffBlock
from kimi_tui.wire.timeline import PlannedChoice, PlannedFile, PlannedHunk, RevertPlan


def hunk(name: str, path: str, line: int, old: str, new: str) -> PlannedHunk:
    """Return a hunk that replaces one line, with a line of context before and after it."""
    diff = DiffBlock(
        path, f"before {line}\n{old}after {line}\n", f"before {line}\n{new}after {line}\n", line - 1, line - 1
    )
    return PlannedHunk(name, len(new.splitlines()), len(old.splitlines()), diff)


EDITED = PlannedFile(
    "src/auth.py",
    "restore",
    added=2,
    removed=3,
    by="agent",
    hunks=(
        hunk("one", "src/auth.py", 12, "    return form.user.ok\n", "    return ok(form)\n"),
        hunk("two", "src/auth.py", 40, "    log(user)\n", ""),
        hunk("three", "src/auth.py", 88, "    return None\n", "    raise ValueError\n"),
    ),
)
_MERGED = hunk("merged", "a.py", 2, "print('agent')\n", "")
CREATED = PlannedFile(
    "a.py",
    "merge",
    added=0,
    removed=1,
    note="created by the agent, edited by you",
    by="both",
    choices=(
        PlannedChoice("mine"),
        PlannedChoice("merge", 0, 1, (_MERGED,), "merge"),
        PlannedChoice(
            "checkpoint", 0, 2, (hunk("all", "a.py", 2, "print('agent')\nprint('mine')\n", ""),), "delete"
        ),
    ),
    choice="merge",
    is_saved=True,
)
CONFLICT = PlannedFile(
    "b.py",
    "conflict",
    added=1,
    removed=1,
    ticked=False,
    note="you and the agent changed the same lines",
    by="both",
    choices=(
        PlannedChoice("mine"),
        PlannedChoice("merge", 1, 1, (hunk("m", "b.py", 5, "agent\n", "then\n"),), "merge"),
        PlannedChoice("both", 1, 0, (hunk("b", "b.py", 7, "mine\n", "mine\nthen\n"),), "merge"),
        PlannedChoice("checkpoint", 1, 1, (hunk("c", "b.py", 7, "mine\n", "then\n"),), "restore"),
    ),
    choice="mine",
    is_saved=True,
)
HUNKS_PLAN = RevertPlan(12, "user", (CREATED, CONFLICT, EDITED), turns=1)
