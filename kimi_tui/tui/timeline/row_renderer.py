"""Rendering of timeline rows and of the details of the highlighted row."""

import time
from dataclasses import dataclass

from rich.cells import cell_len
from textual.content import Content

from kimi_tui.base.message_text import MessageText, msg
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.frontend.number_format import format_tokens
from kimi_tui.frontend.text.cell_width import pad_left
from kimi_tui.frontend.text.checks import check_sign, step_check_line
from kimi_tui.i18n.translate import tr, tr_lazy, tr_n, translate_message
from kimi_tui.tui.timeline.labels import kind_of, label_of
from kimi_tui.tui.timeline.rows import TimelineRow, TimelineRows
from kimi_tui.tui.timeline.tree import TimelineTree, Totals, TreeBranch
from kimi_tui.wire.checks import CheckState, StepCheck
from kimi_tui.wire.timeline import CheckpointKind, RevertReason, TimelineBranch, TimelineNode

_MAX_LANES = 8
"""Maximum number of indentation levels of branches."""
_LANE = "$secondary"
_FAINT = "$foreground 50%"
_SIGNS: dict[CheckpointKind, tuple[str, str]] = {
    "user": ("●", "$primary"),
    "step": ("●", "$text-muted"),
    "dmail": ("✉", "$accent"),
    "compaction": ("◈", "$accent"),
    "clear": ("◌", "$text-muted"),
    "revert": ("↶", "$accent"),
    "fork": ("⑂", "$accent"),
    "import": ("⇥", "$accent"),
}
_LEAVE_REASONS: dict[RevertReason, str] = {
    "user": tr_lazy("reverted"),
    "dmail": tr_lazy("left by D-Mail"),
    "undo": tr_lazy("undone"),
    "redo": tr_lazy("left by redo"),
    "switch": tr_lazy("left by switch"),
    "compaction": tr_lazy("compacted"),
    "clear": tr_lazy("cleared"),
}
_AGE_FROM_CELLS, _FILES_FROM_CELLS, _TOKENS_FROM_CELLS = 30, 46, 56
"""Minimum width of a row, in cells, to show the column."""
_MAX_HEADING_CELLS = 36
"""Maximum width of a name in a heading, so that the heading fits a terminal of 80 columns."""


@dataclass(frozen=True, slots=True)
class RowContext:
    """Values besides the tree that the rendering of rows depends on."""

    now: float
    """Seconds since the epoch."""
    compare_uid: str = ""
    """The uid of the checkpoint marked for comparison."""


def render_now_row(tree: TimelineTree, width: int) -> Content:
    """Return the topmost row, which stands for the current state."""
    count = len(tree.nodes) + tree.older_count
    text = Content.assemble(("● ", "bold $success"), (tr("now"), "bold"))
    return _fit(text, [(f" {_checkpoint_count(count)}", "$text-muted")] if count else [], width)


def render_row(row: TimelineRow, rows: TimelineRows, width: int, context: RowContext) -> Content:
    """Return a row, `width` cells wide."""
    match row.kind:
        case "branch":
            return _render_branch(row, rows, width, context)
        case "origin":
            return _fit(
                Content.assemble(("●─╯", _LANE), (" " + tr("session start"), "$text-muted")), [], width
            )
        case "turn" | "step":
            return _render_checkpoint(row, rows, width, context)


def fold_cells(row: TimelineRow) -> range:
    """Return the cells of a row in which a click expands or collapses it."""
    start = 2 * min(row.tree_branch.lane, _MAX_LANES)
    if row.kind == "branch":
        return range(start - 2, start + 4)
    return range(start, start + 4 + 2 * row.has_branch_above)


def _render_checkpoint(row: TimelineRow, rows: TimelineRows, width: int, context: RowContext) -> Content:
    tree = rows.tree
    node = tree.nodes[row.uid]
    is_current = row.tree_branch is tree.current_branch
    is_turn = row.kind == "turn"
    totals = Totals().add(node)
    if is_turn and row.turn is not None and not rows.query:
        totals = tree.totals(row.turn)
    dim_style = _FAINT if not is_current else ""
    if node.uid == context.compare_uid:
        sign, color = "◆", "bold $warning"
    elif is_turn:
        sign, color = _SIGNS[node.kind]
        sign = "○" if node.kind == "user" and not is_current else sign
    else:
        sign, color = ("│", _LANE) if node.kind == "step" else _SIGNS[node.kind]
    fold = ""
    if is_turn:
        fold = ("▾ " if rows.is_open(row) else "▸ ") if rows.can_open(row) else "  "
    is_first_failure = totals.check is not None and totals.check.is_first_failure
    label_style = dim_style or ("bold" if is_turn and node.kind == "user" else "")
    text = Content.assemble(
        _lanes(row.tree_branch),
        ("├" if row.has_branch_above and sign == "│" else sign, dim_style or color),
        ("─╯" if row.has_branch_above else "", _LANE),
        " ",
        (fold, "$text-muted"),
        (f"{node.id} ", "$text-muted"),
        (f"{sanitize_line(node.name)} ", "bold $accent") if node.name else "",
        (label_of(node), "bold $error" if is_first_failure else label_style),
    )
    return _fit(text, _right_columns(node, totals, width, context, tree), width)


def _render_branch(row: TimelineRow, rows: TimelineRows, width: int, context: RowContext) -> Content:
    tree_branch = row.tree_branch
    branch = tree_branch.branch
    is_open = rows.is_open(row)
    parts = [tr_n("{count:,} turn", "{count:,} turns", tree_branch.prompts)] if tree_branch.prompts else []
    parts += [tr_n("{count:,} step", "{count:,} steps", tree_branch.steps)] if tree_branch.steps else []
    size_text = " ".join(parts) or _checkpoint_count(tree_branch.count)
    reason = branch.reason if branch is not None else None
    reason_label = tr(_LEAVE_REASONS[reason]) if reason is not None else tr("inactive")
    text = Content.assemble(
        _lanes(tree_branch, less=1),
        ("├─╮" if row.is_topmost else "├─┤", _LANE),
        (" ▾ " if is_open else " ▸ ", "$text-muted"),
        (size_text, ""),
        (tr(", {reason} ", reason=reason_label), "$text-muted"),
        (branch_label(rows.tree, tree_branch), _FAINT),
    )
    left = branch.left if branch is not None else 0.0
    right = [(f" {format_age(context.now - left)}", "$text-muted")] if left else []
    return _fit(text, [*right, _check_column(None)] if rows.tree.has_checks else right, width)


def _right_columns(
    node: TimelineNode, totals: Totals, width: int, context: RowContext, tree: TimelineTree
) -> list[tuple[str, str]]:
    parts: list[tuple[str, str]] = []
    if totals.added:
        parts.append((f" +{_format_count(totals.added)}", "$success"))
    if totals.removed:
        parts.append((f" −{_format_count(totals.removed)}", "$error"))
    if width >= _FILES_FROM_CELLS and totals.changed:
        parts.append((" " + tr("{count}f", count=_format_count(totals.changed)), "$text-muted"))
    if totals.shell:
        parts.append((" $", "$warning"))
    if totals.partial or (node.problem and tree.has_file_states):
        parts.append((" ◔", "$warning"))
    if width >= _TOKENS_FROM_CELLS and node.tokens:
        parts.append((f" {format_tokens(node.tokens):>5}", "$text-muted"))
    if width >= _AGE_FROM_CELLS and node.time:
        parts.append(
            (" " + pad_left(format_age(context.now - node.time), cell_len(tr("now"))), "$text-muted")
        )
    if tree.has_checks:
        parts.append(_check_column(totals.check))
    return parts


def _check_column(check: StepCheck | None) -> tuple[str, str]:
    """Return the text and style of the check's result, the last column. An arrow marks the first failure."""
    if check is None:
        return "   ", ""
    arrow = "→" if check.is_first_failure else " "
    provisional = "$text-muted" if check.is_provisional else ""
    styles: dict[CheckState, str] = {
        "pass": "$success",
        "fail": "bold $error" if check.is_first_failure else "$error",
        "skip": "$text-muted",
        "running": "$text-muted",
    }
    return f" {arrow}{check_sign(check.state)}", provisional or styles[check.state]


def _lanes(tree_branch: TreeBranch, *, less: int = 0) -> tuple[str, str]:
    return "│ " * min(tree_branch.lane - less, _MAX_LANES), _LANE


def _fit(text: Content, right: list[tuple[str, str]], width: int) -> Content:
    end = Content.assemble(*right) if right else Content()
    text_width = max(width - end.cell_length, 8)
    return Content.assemble(text.truncate(text_width, ellipsis=True, pad=True), end)


def branch_label(tree: TimelineTree, tree_branch: TreeBranch) -> str:
    """Return the label of a branch: its first prompt, or its first checkpoint if it has no prompt."""
    heads = (tree.nodes[turn.head] for turn in tree_branch.turns)
    prompt = next((node for node in heads if node.kind == "user"), tree.nodes[tree_branch.key])
    return label_of(prompt)


def branch_title(branch: TimelineBranch, tree: TimelineTree | None) -> str:
    """Return the title of a branch for headings: its label, or its number if it isn't in `tree`."""
    if branch.reason == "compaction":
        return tr("conversation before compaction")
    if tree is None or branch.tip not in tree.turn_of:
        return tr("branch {number}", number=branch.number)
    return branch_label(tree, tree.tree_branch_of(branch.tip))


def checkpoint_title(node: TimelineNode) -> str:
    """Return the title of a checkpoint for headings: its name or shortened label, and its number."""
    name = (
        Content(sanitize_line(node.name) or label_of(node)).truncate(_MAX_HEADING_CELLS, ellipsis=True).plain
    )
    return tr("“{name}” (checkpoint {number})", name=name, number=node.id)


def revert_target_label(label: str) -> str:
    """Return the label of a revert. `label` is the label of the checkpoint before the revert."""
    match label:
        case MessageText(params={"revert": str(revert), "label": str(name)}):
            label = msg("{revert} “{label}”", revert=revert, label=name)
        case MessageText(params={"revert": str(revert)}):
            label = revert
        case MessageText():
            pass
        case _:
            label = label.removeprefix("before ")
    return sanitize_line(translate_message(label))


def describe_now(tree: TimelineTree) -> list[Content]:
    """Return the details of the current state."""
    lines = [Content.styled(tr("Current state of the conversation and the files."), "$text-muted")]
    last = tree.nodes.get(tree.current or "")
    if last is not None and not tree.has_file_states:
        lines.append(Content.styled(f"◔ {sanitize_line(translate_message(last.problem))}", "$warning"))
    if tree.undo:
        lines.append(Content.assemble((tr("undo: "), "$text-muted"), revert_target_label(tree.undo)))
    if tree.redo:
        lines.append(Content.styled(tr("redo: the last undone revert"), "$text-muted"))
    return lines


def describe_row(row: TimelineRow, rows: TimelineRows, context: RowContext) -> list[Content]:
    """Return the details of a row: label, time, changes and warnings."""
    tree = rows.tree
    if row.kind == "origin":
        return [Content.styled(tr("Start of the session. All branches begin here."), "$text-muted")]
    node = tree.nodes[row.uid]
    if row.kind == "branch":
        return _describe_branch(row, tree, context)
    total = Totals().add(node)
    if row.kind == "turn" and row.turn is not None:
        total = tree.totals(row.turn)
    head = Content.assemble(
        (f"#{node.id} ", "$text-muted"),
        (f"{sanitize_line(node.name)} ", "bold $accent") if node.name else "",
        (tr("{kind}: ", kind=kind_of(node)) if node.kind != "step" else "", "$text-muted"),
        (label_of(node), "bold"),
    )
    facts: list[tuple[str, str]] = []
    if node.time:
        facts.append((f"{_format_time(node.time, context.now)}", ""))
    if total.added or total.removed or total.changed:
        facts.append((f"+{total.added}", "$success"))
        facts.append((f"−{total.removed}", "$error"))
        facts.append((tr_n("{count:,} file change", "{count:,} file changes", total.changed), ""))
    if total.by_user:
        facts.append((tr("{count} by you", count=total.by_user), "$accent"))
    if total.shell:
        facts.append((tr("$ shell commands ran"), "$warning"))
    if node.tokens:
        facts.append((tr("{tokens} tokens", tokens=format_tokens(node.tokens)), ""))
    if not tree.is_on_current_branch(node.uid):
        facts.append((tr("on a branch"), _LANE))
    lines = [head]
    if total.check is not None:
        style = "$error" if total.check.state == "fail" else "$text-muted"
        lines.append(Content.styled(step_check_line(total.check), style))
    lines.append(Content(" · ").join(Content.styled(text, style or "$text-muted") for text, style in facts))
    if node.files is not None and node.files.paths:
        lines.append(Content.styled(", ".join(map(sanitize_line, node.files.paths)), "$text-muted"))
    if warning := node.problem or (node.files.coverage if node.files is not None else ""):
        lines.append(Content.styled(f"◔ {sanitize_line(translate_message(warning))}", "$warning"))
    return lines


def _describe_branch(row: TimelineRow, tree: TimelineTree, context: RowContext) -> list[Content]:
    branch = row.tree_branch.branch
    facts = [_checkpoint_count(row.tree_branch.count)]
    if branch is not None:
        if branch.messages:
            facts.append(tr_n("{count:,} message", "{count:,} messages", branch.messages))
        if branch.left:
            facts.append(tr("left {time}", time=_format_time(branch.left, context.now)))
    return [
        Content.assemble((tr("branch: "), "$text-muted"), (branch_label(tree, row.tree_branch), "bold")),
        Content.styled(" · ".join(facts), "$text-muted"),
    ]


def format_age(seconds: float) -> str:
    """Format an age in seconds in a few characters: now, 5m, 3h, 12d, 40w, 2y."""
    minutes = max(0, int(seconds // 60))
    if minutes < 1:
        return tr("now")
    if minutes < 60:
        return tr("{count}m", count=minutes)
    hours = minutes // 60
    if hours < 24:
        return tr("{count}h", count=hours)
    days = hours // 24
    if days < 14:
        return tr("{count}d", count=days)
    return tr("{count}w", count=days // 7) if days < 700 else tr("{count}y", count=days // 365)


def _format_time(moment: float, now: float) -> str:
    local = time.localtime(moment)
    is_today = time.localtime(now)[:3] == local[:3]
    return time.strftime("%H:%M" if is_today else "%Y-%m-%d %H:%M", local)


def _checkpoint_count(count: int) -> str:
    return tr_n("{count:,} checkpoint", "{count:,} checkpoints", count)


def _format_count(count: int) -> str:
    return str(count) if count < 1000 else format_tokens(count)
