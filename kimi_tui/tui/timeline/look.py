"""How a row of the timeline looks, and what is told of the one that is marked."""

import time
from dataclasses import dataclass

from textual.content import Content

from kimi_tui.base.terminal import plain_line
from kimi_tui.language.saying import later, retell, say, say_many
from kimi_tui.language.width import cells, right_aligned
from kimi_tui.tui.figures import tokens
from kimi_tui.tui.timeline.labels import kind_of, label_of
from kimi_tui.tui.timeline.rows import Row, Rows
from kimi_tui.tui.timeline.tree import Strand, Totals, Tree
from kimi_tui.wire.timeline import CheckpointKind, RevertReason, TimelineNode

_MOST_LANES = 8
"""Branches of branches of branches are drawn no further in than this."""
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
_LEFT: dict[RevertReason, str] = {
    "user": later("undone"),
    "dmail": later("left by a D-Mail"),
    "undo": later("undone"),
    "redo": later("left by a redo"),
    "switch": later("left by a switch"),
    "compaction": later("compacted"),
    "clear": later("cleared"),
}
_WITH_AGE, _WITH_FILES, _WITH_TOKENS = 30, 46, 56
"""From so many cells on a row tells more."""
_LONGEST_IN_HEADING = 36
"""Cells: with what else stands there, a heading fits a terminal of 80 columns."""


@dataclass(frozen=True, slots=True)
class Marks:
    """What is drawn on the rows besides what they say."""

    now: float
    """Seconds since the epoch."""
    compared: str = ""
    """The uid of the checkpoint that waits to be compared with another."""


def now_row(tree: Tree, width: int) -> Content:
    """The row above all: how things are now."""
    count = len(tree.nodes) + tree.older
    text = Content.assemble(("● ", "bold $success"), (say("now"), "bold"))
    return _fitted(text, [(f" {_checkpoints(count)}", "$text-muted")] if count else [], width)


def drawn(row: Row, rows: Rows, width: int, marks: Marks) -> Content:
    """One row, `width` cells wide."""
    match row.kind:
        case "branch":
            return _branch(row, rows, width, marks)
        case "origin":
            return _fitted(
                Content.assemble(("●─╯", _LANE), (" " + say("the beginning"), "$text-muted")), [], width
            )
        case "turn" | "step":
            return _checkpoint(row, rows, width, marks)


def fold_cells(row: Row) -> range:
    """The cells of a row that fold it when they are clicked."""
    start = 2 * min(row.strand.lane, _MOST_LANES)
    if row.kind == "branch":
        return range(start - 2, start + 4)
    return range(start, start + 4 + 2 * row.joins)


def _checkpoint(row: Row, rows: Rows, width: int, marks: Marks) -> Content:
    tree = rows.tree
    node = tree.nodes[row.uid]
    live = row.strand is tree.live
    is_turn = row.kind == "turn"
    totals = Totals().plus(node)
    if is_turn and row.turn is not None and not rows.query:
        totals = tree.totals(row.turn)
    faint = _FAINT if not live else ""
    if node.uid == marks.compared:
        sign, colour = "◆", "bold $warning"
    elif is_turn:
        sign, colour = _SIGNS[node.kind]
        sign = "○" if node.kind == "user" and not live else sign
    else:
        sign, colour = ("│", _LANE) if node.kind == "step" else _SIGNS[node.kind]
    fold = ""
    if is_turn:
        fold = ("▾ " if rows.shows_open(row) else "▸ ") if rows.can_open(row) else "  "
    text = Content.assemble(
        _lanes(row.strand),
        ("├" if row.joins and sign == "│" else sign, faint or colour),
        ("─╯" if row.joins else "", _LANE),
        " ",
        (fold, "$text-muted"),
        (f"{node.id} ", "$text-muted"),
        (f"{plain_line(node.name)} ", "bold $accent") if node.name else "",
        (label_of(node), faint or ("bold" if is_turn and node.kind == "user" else "")),
    )
    return _fitted(text, _right(node, totals, width, marks, tree), width)


def _branch(row: Row, rows: Rows, width: int, marks: Marks) -> Content:
    strand = row.strand
    branch = strand.branch
    opened = rows.shows_open(row)
    parts = [say_many("{count:,} turn", "{count:,} turns", strand.prompts)] if strand.prompts else []
    parts += [say_many("{count:,} step", "{count:,} steps", strand.steps)] if strand.steps else []
    words = " ".join(parts) or _checkpoints(strand.count)
    reason = branch.reason if branch is not None else None
    why = say(_LEFT[reason]) if reason is not None else say("left behind")
    text = Content.assemble(
        _lanes(strand, less=1),
        ("├─╮" if row.topmost else "├─┤", _LANE),
        (" ▾ " if opened else " ▸ ", "$text-muted"),
        (words, ""),
        (say(", {why} ", why=why), "$text-muted"),
        (about_strand(rows.tree, strand), _FAINT),
    )
    left = branch.left if branch is not None else 0.0
    return _fitted(text, [(f" {age(marks.now - left)}", "$text-muted")] if left else [], width)


def _right(node: TimelineNode, totals: Totals, width: int, marks: Marks, tree: Tree) -> list[tuple[str, str]]:
    parts: list[tuple[str, str]] = []
    if totals.added:
        parts.append((f" +{_short(totals.added)}", "$success"))
    if totals.removed:
        parts.append((f" −{_short(totals.removed)}", "$error"))
    if width >= _WITH_FILES and totals.changed:
        parts.append((" " + say("{count}f", count=_short(totals.changed)), "$text-muted"))
    if totals.shell:
        parts.append((" $", "$warning"))
    if totals.partial or (node.problem and tree.keeps_files):
        parts.append((" ◔", "$warning"))
    if width >= _WITH_TOKENS and node.tokens:
        parts.append((f" {tokens(node.tokens):>5}", "$text-muted"))
    if width >= _WITH_AGE and node.time:
        parts.append((" " + right_aligned(age(marks.now - node.time), cells(say("now"))), "$text-muted"))
    return parts


def _lanes(strand: Strand, *, less: int = 0) -> tuple[str, str]:
    return "│ " * min(strand.lane - less, _MOST_LANES), _LANE


def _fitted(text: Content, right: list[tuple[str, str]], width: int) -> Content:
    end = Content.assemble(*right) if right else Content()
    room = max(width - end.cell_length, 8)
    return Content.assemble(text.truncate(room, ellipsis=True, pad=True), end)


def about_strand(tree: Tree, strand: Strand) -> str:
    """What a branch is about: its first prompt, else how it begins."""
    heads = (tree.nodes[turn.head] for turn in strand.turns)
    prompt = next((node for node in heads if node.kind == "user"), tree.nodes[strand.key])
    return label_of(prompt)


def titled(node: TimelineNode) -> str:
    """A checkpoint in a heading: its name, else its label, not too long for the number that follows."""
    name = Content(plain_line(node.name) or label_of(node)).truncate(_LONGEST_IN_HEADING, ellipsis=True).plain
    return say("“{name}” (checkpoint {number})", name=name, number=node.id)


def without_before(label: str) -> str:
    """What a jump went to, from the label of the checkpoint before it."""
    return plain_line(retell(label.removeprefix("before ")))


def told_now(tree: Tree) -> list[Content]:
    """What is told of the state of now."""
    words = say("The conversation and the files as they are.")
    lines = [Content.styled(words, "$text-muted")]
    last = tree.nodes.get(tree.current or "")
    if last is not None and not tree.keeps_files:
        lines.append(Content.styled(f"◔ {plain_line(retell(last.problem))}", "$warning"))
    if tree.undo:
        lines.append(Content.assemble((say("undo takes back: "), "$text-muted"), without_before(tree.undo)))
    if tree.redo:
        lines.append(Content.styled(say("redo does again what the last undo took back"), "$text-muted"))
    return lines


def told(row: Row, rows: Rows, marks: Marks) -> list[Content]:
    """What is told of a marked row: who, when, how much, and what to beware of."""
    tree = rows.tree
    if row.kind == "origin":
        return [Content.styled(say("Where every line of the conversation begins."), "$text-muted")]
    node = tree.nodes[row.uid]
    if row.kind == "branch":
        return _told_branch(row, tree, marks)
    total = Totals().plus(node)
    if row.kind == "turn" and row.turn is not None:
        total = tree.totals(row.turn)
    head = Content.assemble(
        (f"#{node.id} ", "$text-muted"),
        (f"{plain_line(node.name)} ", "bold $accent") if node.name else "",
        (say("{kind}: ", kind=kind_of(node)) if node.kind != "step" else "", "$text-muted"),
        (label_of(node), "bold"),
    )
    facts: list[tuple[str, str]] = []
    if node.time:
        facts.append((f"{_clock(node.time, marks.now)}", ""))
    if total.added or total.removed or total.changed:
        facts.append((f"+{total.added}", "$success"))
        facts.append((f"−{total.removed}", "$error"))
        facts.append((say_many("{count:,} file change", "{count:,} file changes", total.changed), ""))
    if total.yours:
        facts.append((say("{count} by you", count=total.yours), "$accent"))
    if total.shell:
        facts.append((say("$ shell commands ran"), "$warning"))
    if node.tokens:
        facts.append((say("{tokens} tokens", tokens=tokens(node.tokens)), ""))
    if not tree.is_live(node.uid):
        facts.append((say("on a branch"), _LANE))
    lines = [head, Content(" · ").join(Content.styled(text, style or "$text-muted") for text, style in facts)]
    if node.files is not None and node.files.paths:
        lines.append(Content.styled(", ".join(map(plain_line, node.files.paths)), "$text-muted"))
    if beware := node.problem or (node.files.coverage if node.files is not None else ""):
        lines.append(Content.styled(f"◔ {plain_line(retell(beware))}", "$warning"))
    return lines


def _told_branch(row: Row, tree: Tree, marks: Marks) -> list[Content]:
    branch = row.strand.branch
    facts = [_checkpoints(row.strand.count)]
    if branch is not None:
        if branch.messages:
            facts.append(say_many("{count:,} message", "{count:,} messages", branch.messages))
        if branch.left:
            facts.append(say("left {time}", time=_clock(branch.left, marks.now)))
    return [
        Content.assemble((say("branch: "), "$text-muted"), (about_strand(tree, row.strand), "bold")),
        Content.styled(" · ".join(facts), "$text-muted"),
    ]


def age(seconds: float) -> str:
    """How long ago, in few characters: now, 5m, 3h, 12d, 40w, 2y."""
    minutes = max(0, int(seconds // 60))
    if minutes < 1:
        return say("now")
    if minutes < 60:
        return say("{count}m", count=minutes)
    hours = minutes // 60
    if hours < 24:
        return say("{count}h", count=hours)
    days = hours // 24
    if days < 14:
        return say("{count}d", count=days)
    return say("{count}w", count=days // 7) if days < 700 else say("{count}y", count=days // 365)


def _clock(moment: float, now: float) -> str:
    there = time.localtime(moment)
    today = time.localtime(now)[:3] == there[:3]
    return time.strftime("%H:%M" if today else "%Y-%m-%d %H:%M", there)


def _checkpoints(count: int) -> str:
    return say_many("{count:,} checkpoint", "{count:,} checkpoints", count)


def _short(count: int) -> str:
    return str(count) if count < 1000 else tokens(count)
