"""Sample timeline: turns, steps, a reverted branch, a plan and a comparison."""

from dataclasses import replace

from kimi_tui.base.content_parts import TextPart
from kimi_tui.base.message import FunctionCall, ToolCall
from kimi_tui.base.message_text import msg
from kimi_tui.wire.channel import Outgoing
from kimi_tui.wire.checks import StepCheck
from kimi_tui.wire.display_blocks import DiffBlock
from kimi_tui.wire.events import StepBegin, ToolResult, ToolReturn, TurnBegin, TurnEnd
from kimi_tui.wire.timeline import (
    CheckpointCreated,
    CheckpointKind,
    ComparedFile,
    Comparison,
    FileChanges,
    PlannedFile,
    RevertPlan,
    Timeline,
    TimelineBranch,
    TimelineNode,
)

NOW = 1_700_000_000.0
"""Seconds since the epoch; a Tuesday evening in UTC."""


def node(
    number: int,
    kind: CheckpointKind,
    label: str,
    *,
    parent: int | None = None,
    branch: int | None = None,
    changes: tuple[int, int, int] | None = (0, 0, 0),
    minutes: float = 0,
    tools: tuple[str, ...] = (),
    paths: tuple[str, ...] = (),
    **more: object,
) -> TimelineNode:
    """Return a checkpoint of `minutes` ago; `changes` are files, lines added and lines removed."""
    checkpoint = TimelineNode(
        number,
        f"u{number}",
        kind,
        label,
        parent=f"u{parent}" if parent is not None else None,
        branch=branch,
        time=NOW - 60 * minutes,
        tokens=1_000 * (number + 1),
        files=replace(FileChanges(*changes), paths=paths) if changes is not None else None,
        tools=tools,
    )
    return replace(checkpoint, **more)  # type: ignore[arg-type]


REVERT = msg("revert to {checkpoint}", checkpoint=4)
BEFORE_REVERT = msg("before {revert}", revert=REVERT)
NODES = (
    node(0, "user", "add a login form to the shop", minutes=180),
    node(1, "step", "ReadFile src/auth.py", parent=0, minutes=179, tools=("ReadFile",)),
    node(2, "step", "EditFile src/auth.py", parent=1, changes=(1, 42, 3), minutes=178, tools=("EditFile",)),
    node(3, "step", "The form is there.", parent=2, minutes=177),
    node(4, "user", "the login form returns 500, fix it", parent=3, branch=1, minutes=62),
    node(
        5,
        "step",
        "Bash pytest -q",
        parent=4,
        branch=1,
        changes=(2, 1, 1),
        minutes=61,
        tools=("Bash",),
        shell=True,
    ),
    node(6, "step", "EditFile src/auth.py", parent=5, branch=1, changes=(1, 4, 1), minutes=60),
    node(
        7, "revert", msg("before {revert}", revert=REVERT), parent=6, branch=1, changes=(0, 0, 0), minutes=59
    ),
    node(8, "revert", msg("after {revert}", revert=REVERT), parent=3, minutes=58),
    node(9, "user", "登录表单返回 500，请修复 🙂", parent=8, minutes=31, name="good"),
    node(
        10,
        "step",
        "Bash sed -i s/ok/OK/ src/auth.py",
        parent=9,
        changes=(3, 12, 120),
        paths=("src/auth.py", "src/form.py", "docs/登录.md"),
        minutes=30,
        tools=("Bash",),
        shell=True,
    ),
    node(
        11,
        "step",
        "EditFile src/auth.py",
        parent=10,
        changes=None,
        minutes=2,
        tools=("EditFile",),
        files=FileChanges(1, 4, 1, "Not covered: big.bin (over the cap)."),
    ),
    node(12, "step", "All tests pass now.", parent=11, changes=None, minutes=0.2),
)
BRANCH = TimelineBranch(number=1, left=NOW - 3_540, reason="user", to=4, tip="u7", messages=6)
TIMELINE = Timeline(NODES, (BRANCH,), "u12", undo=BEFORE_REVERT, redo="")
CHECKS = {
    1: StepCheck("pass", command="pytest -q", duration_s=2.1),
    2: StepCheck("pass", command="pytest -q", duration_s=2.2),
    5: StepCheck("skip", command="pytest -q", duration_s=0.1),
    9: StepCheck("pass", is_provisional=True, command="pytest -q", duration_s=2.1),
    10: StepCheck("fail", is_first_failure=True, command="pytest -q", duration_s=2.4),
    11: StepCheck("fail", command="pytest -q", duration_s=2.4),
    12: StepCheck("running", command="pytest -q"),
}
CHECKED_TIMELINE = replace(TIMELINE, nodes=tuple(replace(it, check=CHECKS.get(it.id)) for it in NODES))

OLD = "def validate(form):\n    if form.user is None:\n        return False\n    return form.user.ok\n"
NEW = "def validate(form):\n    return form.user.ok\n"
PLAN = RevertPlan(
    9,
    "user",
    (
        PlannedFile(
            "src/auth.py", "restore", 0, 2, diff=DiffBlock("src/auth.py", OLD, NEW, 12, 12), by="agent"
        ),
        PlannedFile("bash.txt", "delete", 0, 1, diff=DiffBlock("bash.txt", "new\n", "")),
        PlannedFile("docs/登录.md", "recreate", 3, 0, diff=DiffBlock("docs/登录.md", "", "一\n二\n三\n")),
        PlannedFile("README.md", "merge", 1, 2, note="your lines 3 to 9 stay", by="both"),
        PlannedFile(
            "a.py",
            "conflict",
            0,
            2,
            ticked=False,
            note="you edited the lines that the agent wrote",
            diff=DiffBlock("a.py", "print(1)\nprint(2)\n", ""),
            by="both",
        ),
        PlannedFile("user.txt", "keep", 0, 1, ticked=False, by="you"),
        PlannedFile("big.bin", "not covered", ticked=False, note="over the cap of 10 MB"),
    ),
    ("sed -i s/ok/OK/ src/auth.py", "git push origin main"),
    turns=1,
)
RENAMES_PLAN = RevertPlan(
    9,
    "user",
    (
        PlannedFile(
            "lib/",
            "rename",
            by="both",
            no_diff=msg("Only the name changes. Files in the directory: {count}.", count=3),
            renamed_to="src/",
        ),
        PlannedFile(
            "old.py",
            "restore",
            2,
            0,
            note=msg("moved back from {path}", path="new.py"),
            diff=DiffBlock("old.py", NEW, OLD, 12, 12),
            by="both",
        ),
        PlannedFile(
            "new.py",
            "restore",
            0,
            2,
            note=msg("moved back from {path}", path="old.py"),
            diff=DiffBlock("new.py", OLD, NEW, 12, 12),
            by="agent",
        ),
        PlannedFile("run.sh", "recreate", 1, 0, note=msg("not kept: {attributes}", attributes="hard link")),
    ),
    ("git mv src lib",),
    turns=1,
)
"""A renamed folder, and two files that the agent swapped."""
COMPARISON = Comparison(
    2,
    None,
    (
        ComparedFile("src/auth.py", "changed", 12, 3, DiffBlock("src/auth.py", NEW, OLD, 12, 12), by="agent"),
        ComparedFile("notes.txt", "added", 1, 0, DiffBlock("notes.txt", "", "mine\n"), by="you"),
    ),
)

MESSAGES: tuple[Outgoing, ...] = (
    TurnBegin("add a login form to the shop"),
    CheckpointCreated(0, "u0", "user", "add a login form to the shop"),
    StepBegin(1),
    CheckpointCreated(1, "u1", "step", "step 1"),
    TextPart("I look at what there is."),
    ToolCall("c1", FunctionCall("ReadFile", '{"path": "src/auth.py"}')),
    ToolResult("c1", ToolReturn(output="x")),
    StepBegin(2),
    CheckpointCreated(2, "u2", "step", "step 2"),
    ToolCall("c2", FunctionCall("EditFile", '{"path": "src/auth.py"}')),
    ToolResult("c2", ToolReturn(display=(DiffBlock("src/auth.py", NEW, OLD, 12, 12),))),
    StepBegin(3),
    CheckpointCreated(3, "u3", "step", "step 3"),
    TextPart("The form is there."),
    TurnEnd(),
    CheckpointCreated(8, "u8", "revert", msg("after {revert}", revert=REVERT)),
    TurnBegin("登录表单返回 500，请修复 🙂"),
    CheckpointCreated(9, "u9", "user", "登录表单返回 500，请修复 🙂"),
    StepBegin(1),
    CheckpointCreated(10, "u10", "step", "step 1"),
    ToolCall("c3", FunctionCall("Bash", '{"command": "sed -i s/ok/OK/ src/auth.py"}')),
    ToolResult("c3", ToolReturn(output="")),
    StepBegin(2),
    CheckpointCreated(11, "u11", "step", "step 2"),
    ToolCall("c4", FunctionCall("EditFile", '{"path": "src/auth.py"}')),
    ToolResult("c4", ToolReturn(display=(DiffBlock("src/auth.py", NEW, OLD, 12, 12),))),
    StepBegin(3),
    CheckpointCreated(12, "u12", "step", "step 3"),
    TextPart("All tests pass now."),
    TurnEnd(),
)
