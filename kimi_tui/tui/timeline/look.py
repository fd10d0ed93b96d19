"""How a row of the timeline looks, and what is told of the one that is marked."""

import time
from dataclasses import dataclass

from textual.content import Content

from kimi_tui.base.terminal import plain_line
from kimi_tui.tui.figures import tokens
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
_KINDS: dict[CheckpointKind, str] = {
    "user": "you",
    "step": "step",
    "dmail": "D-Mail",
    "compaction": "compaction",
    "clear": "clear",
    "revert": "jump",
    "fork": "fork",
    "import": "import",
}
_LEFT: dict[RevertReason, str] = {
    "user": "undone",
    "dmail": "left by a D-Mail",
    "undo": "undone",
    "redo": "left by a redo",
    "switch": "left by a switch",
    "compaction": "compacted",
    "clear": "cleared",
}
_WITH_AGE, _WITH_FILES, _WITH_TOKENS = 30, 46, 56
"""From so many cells on a row tells more."""


@dataclass(frozen=True, slots=True)
class Marks:
    """What is drawn on the rows besides what they say."""

    now: float
    """Seconds since the epoch."""
    compared: str = ""
    """The uid of the checkpoint that waits to be compared with another."""


def now_row(tree: Tree, width: int) -> Content:
    """The row above all: how things are now."""
    count = len(tree.nodes)
    text = Content.assemble(("● ", "bold $success"), ("now", "bold"))
    return _fitted(text, [(f" {_count(count, 'checkpoint')}", "$text-muted")] if count else [], width)


def drawn(row: Row, rows: Rows, width: int, marks: Marks) -> Content:
    """One row, `width` cells wide."""
    match row.kind:
        case "branch":
            return _branch(row, rows, width, marks)
        case "origin":
            return _fitted(Content.assemble(("●─╯", _LANE), (" the beginning", "$text-muted")), [], width)
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
    parts = [_count(strand.prompts, "turn")] if strand.prompts else []
    parts += [_count(strand.steps, "step")] if strand.steps else []
    words = " ".join(parts) or _count(strand.count, "checkpoint")
    why = _LEFT[branch.reason] if branch is not None and branch.reason is not None else "left"
    text = Content.assemble(
        _lanes(strand, less=1),
        ("├─╮" if row.topmost else "├─┤", _LANE),
        (" ▾ " if opened else " ▸ ", "$text-muted"),
        (words, ""),
        (f", {why} ", "$text-muted"),
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
        parts.append((f" {_short(totals.changed)}f", "$text-muted"))
    if totals.shell:
        parts.append((" $", "$warning"))
    if totals.partial or (node.problem and tree.keeps_files):
        parts.append((" ◔", "$warning"))
    if width >= _WITH_TOKENS and node.tokens:
        parts.append((f" {tokens(node.tokens):>5}", "$text-muted"))
    if width >= _WITH_AGE and node.time:
        parts.append((f" {age(marks.now - node.time):>3}", "$text-muted"))
    return parts


def _lanes(strand: Strand, *, less: int = 0) -> tuple[str, str]:
    return "│ " * min(strand.lane - less, _MOST_LANES), _LANE


def _fitted(text: Content, right: list[tuple[str, str]], width: int) -> Content:
    end = Content.assemble(*right) if right else Content()
    room = max(width - end.cell_length, 8)
    return Content.assemble(text.truncate(room, ellipsis=True, pad=True), end)


def label_of(node: TimelineNode) -> str:
    """What a checkpoint is about, on one line."""
    return plain_line(node.label) or _KINDS[node.kind]


def about_strand(tree: Tree, strand: Strand) -> str:
    """What a branch is about: its first prompt, else how it begins."""
    heads = [tree.nodes[turn.head] for turn in strand.turns]
    prompt = next((node for node in heads if node.kind == "user"), heads[0])
    return label_of(prompt)


def titled(node: TimelineNode) -> str:
    """A checkpoint in a heading: its name, else its label, and its number."""
    return f"“{plain_line(node.name) or label_of(node)}” (checkpoint {node.id})"


def told_now(tree: Tree) -> list[Content]:
    """What is told of the state of now."""
    words = "The conversation and the files as they are."
    lines = [Content.styled(words, "$text-muted")]
    last = tree.nodes.get(tree.current or "")
    if last is not None and not tree.keeps_files:
        lines.append(Content.styled(f"◔ {plain_line(last.problem)}", "$warning"))
    if tree.undo:
        lines.append(
            Content.assemble(
                ("undo takes back: ", "$text-muted"), plain_line(tree.undo).removeprefix("before ")
            )
        )
    if tree.redo:
        lines.append(Content.styled("redo does again what the last undo took back", "$text-muted"))
    return lines


def told(row: Row, rows: Rows, marks: Marks) -> list[Content]:
    """What is told of a marked row: who, when, how much, and what to beware of."""
    tree = rows.tree
    if row.kind == "origin":
        return [Content.styled("Where every line of the conversation begins.", "$text-muted")]
    node = tree.nodes[row.uid]
    if row.kind == "branch":
        return _told_branch(row, tree, marks)
    total = Totals().plus(node)
    if row.kind == "turn" and row.turn is not None:
        total = tree.totals(row.turn)
    head = Content.assemble(
        (f"#{node.id} ", "$text-muted"),
        (f"{plain_line(node.name)} ", "bold $accent") if node.name else "",
        (f"{_KINDS[node.kind]}: " if node.kind != "step" else "", "$text-muted"),
        (label_of(node), "bold"),
    )
    facts: list[tuple[str, str]] = []
    if node.time:
        facts.append((f"{_clock(node.time, marks.now)}", ""))
    if total.added or total.removed or total.changed:
        facts.append((f"+{total.added}", "$success"))
        facts.append((f"−{total.removed}", "$error"))
        facts.append((_count(total.changed, "file change"), ""))
    if total.yours:
        facts.append((f"{total.yours} by you", "$accent"))
    if total.shell:
        facts.append(("$ shell commands ran", "$warning"))
    if node.tokens:
        facts.append((f"{tokens(node.tokens)} tokens", ""))
    if not tree.is_live(node.uid):
        facts.append(("on a branch", _LANE))
    lines = [head, Content(" · ").join(Content.styled(text, style or "$text-muted") for text, style in facts)]
    if node.files is not None and node.files.paths:
        lines.append(Content.styled(", ".join(map(plain_line, node.files.paths)), "$text-muted"))
    if beware := node.problem or (node.files.coverage if node.files is not None else ""):
        lines.append(Content.styled(f"◔ {plain_line(beware)}", "$warning"))
    return lines


def _told_branch(row: Row, tree: Tree, marks: Marks) -> list[Content]:
    branch = row.strand.branch
    facts = [_count(row.strand.count, "checkpoint")]
    if branch is not None:
        facts += [_count(branch.messages, "message")] if branch.messages else []
        facts += [f"left {_clock(branch.left, marks.now)}"] if branch.left else []
    return [
        Content.assemble(("branch: ", "$text-muted"), (about_strand(tree, row.strand), "bold")),
        Content.styled(" · ".join(facts), "$text-muted"),
    ]


def age(seconds: float) -> str:
    """How long ago, in three characters: now, 5m, 3h, 12d, 40w, 2y."""
    minutes = max(0, int(seconds // 60))
    if minutes < 1:
        return "now"
    if minutes < 60:
        return f"{minutes}m"
    hours = minutes // 60
    if hours < 24:
        return f"{hours}h"
    days = hours // 24
    if days < 14:
        return f"{days}d"
    return f"{days // 7}w" if days < 700 else f"{days // 365}y"


def _clock(moment: float, now: float) -> str:
    there = time.localtime(moment)
    today = time.localtime(now)[:3] == there[:3]
    return time.strftime("%H:%M" if today else "%Y-%m-%d %H:%M", there)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 'es' if noun.endswith('ch') else 's'}"


def _short(count: int) -> str:
    return str(count) if count < 1000 else tokens(count)
