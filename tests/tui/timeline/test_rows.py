"""Rows of the timeline: turns, steps and branches, folded, filtered and updated."""

from dataclasses import replace

from kimi_tui.tui.timeline.labels import label_of
from kimi_tui.tui.timeline.row_renderer import checkpoint_title
from kimi_tui.tui.timeline.rows import TimelineRow, TimelineRows
from kimi_tui.tui.timeline.tree import TimelineTree
from kimi_tui.wire.timeline import FileChanges, Timeline, TimelineBranch, TimelineNode, TimelineUpdate
from tests.tui.timeline.sample_timeline import TIMELINE, node


def linear_timeline(count: int, *, steps_in_turn: int = 10) -> Timeline:
    """Return a timeline of `count` checkpoints without branches."""
    nodes = tuple(
        node(
            number,
            "step" if number % steps_in_turn else "user",
            f"checkpoint {number}",
            parent=number - 1 if number else None,
        )
        for number in range(count)
    )
    return Timeline(nodes, (), f"u{count - 1}")


def row_labels(rows: TimelineRows) -> list[str]:
    """Return kind, number and lane of the rows in the order on the screen, newest first."""
    return [_row_label(rows, row) for row in reversed(rows.all)]


def _row_label(rows: TimelineRows, row: TimelineRow) -> str:
    joined = " joined" if row.has_branch_above else ""
    if row.kind == "origin":
        return f"origin{joined}"
    return f"{row.kind} {rows.tree.nodes[row.uid].id} in {row.tree_branch.lane}{joined}"


def test_only_the_newest_turn_is_expanded_and_a_branch_is_shown_above_its_fork() -> None:
    assert row_labels(TimelineRows(TimelineTree(TIMELINE))) == [
        "step 12 in 0",
        "step 11 in 0",
        "step 10 in 0",
        "turn 9 in 0",
        "branch 7 in 1",
        "turn 0 in 0 joined",
    ]


def test_an_expanded_turn_shows_at_which_step_a_branch_forks_off() -> None:
    rows = TimelineRows(TimelineTree(TIMELINE))
    rows.fold(rows.all[0], opened=True)
    assert row_labels(rows)[-6:] == [
        "step 8 in 0",
        "branch 7 in 1",
        "step 3 in 0 joined",
        "step 2 in 0",
        "step 1 in 0",
        "turn 0 in 0",
    ]


def test_an_expanded_branch_shows_its_turns_one_lane_deeper() -> None:
    rows = TimelineRows(TimelineTree(TIMELINE))
    rows.fold(rows.all[1], opened=True)
    assert row_labels(rows)[-4:] == ["turn 9 in 0", "branch 7 in 1", "turn 4 in 1", "turn 0 in 0 joined"]


def test_nested_branches_and_branches_from_the_session_start_have_their_own_lanes() -> None:
    nodes = (
        node(0, "user", "first", branch=2),
        node(1, "step", "a", parent=0, branch=2),
        node(2, "step", "b", parent=1, branch=1),
        node(3, "step", "c", parent=1, branch=2),
        node(4, "user", "again"),
    )
    branches = (
        TimelineBranch(number=1, left=0, tip="u2"),
        TimelineBranch(number=2, left=1, tip="u3"),
    )
    rows = TimelineRows(TimelineTree(Timeline(nodes, branches, "u4")))
    assert row_labels(rows) == ["turn 4 in 0", "branch 3 in 1", "origin joined"]
    rows.reveal("u2")
    assert row_labels(rows) == [
        "turn 4 in 0",
        "branch 3 in 1",
        "step 3 in 1",
        "branch 2 in 2",
        "turn 2 in 2",
        "step 1 in 1 joined",
        "turn 0 in 1",
        "origin joined",
    ]


def test_of_two_branches_with_the_same_fork_the_newest_is_on_top() -> None:
    nodes = (
        node(0, "user", "first"),
        node(1, "user", "reverted", parent=0, branch=1),
        node(2, "user", "reverted too", parent=0, branch=2),
        node(3, "user", "now", parent=0),
    )
    branches = (TimelineBranch(number=1, left=0, tip="u1"), TimelineBranch(number=2, left=1, tip="u2"))
    rows = TimelineRows(TimelineTree(Timeline(nodes, branches, "u3")))
    assert row_labels(rows) == ["turn 3 in 0", "branch 2 in 1", "branch 1 in 1", "turn 0 in 0 joined"]
    assert [row.is_topmost for row in reversed(rows.all) if row.kind == "branch"] == [True, False]


def test_a_dmail_to_before_a_prompt_starts_a_turn() -> None:
    nodes = (
        node(0, "user", "hello"),
        node(1, "user", "fix it", parent=0, branch=1),
        node(2, "step", "went wrong", parent=1, branch=1),
        node(3, "dmail", "don't touch auth.py", parent=0),
        node(4, "step", "went well", parent=3),
        node(5, "dmail", "shorter", parent=3),
    )
    branches = (
        TimelineBranch(number=1, left=0, reason="dmail", tip="u2"),
        TimelineBranch(number=2, left=0, reason="dmail", tip="u4"),
    )
    tree = TimelineTree(Timeline(nodes, branches, "u5"))
    assert [turn.head for turn in tree.current_branch.turns] == ["u0", "u3"]
    assert tree.turn_of["u5"].head == "u3"


def test_checkpoints_on_no_known_branch_are_shown() -> None:
    nodes = (node(0, "user", "a"), node(1, "step", "lost", parent=0), node(2, "step", "b", parent=7))
    rows = TimelineRows(TimelineTree(Timeline(nodes, (), "u0")))
    assert {row.uid for row in rows.all if row.kind == "branch"} == {"u1", "u2"}


def test_a_filter_finds_text_names_tools_and_files_on_all_branches() -> None:
    rows = TimelineRows(TimelineTree(TIMELINE))
    rows.filter("AUTH.PY")
    assert row_labels(rows) == ["step 11 in 0", "step 10 in 0", "step 6 in 1", "step 2 in 0", "step 1 in 0"]
    rows.filter("good")
    assert row_labels(rows) == ["turn 9 in 0"]
    rows.filter("bash")
    assert row_labels(rows) == ["step 10 in 0", "step 5 in 1"]
    rows.filter("form.py")
    assert row_labels(rows) == ["step 10 in 0"]
    rows.filter("")
    assert len(rows.all) == 6


def test_a_filter_searches_rendered_text_without_markdown_markup() -> None:
    nodes = (node(0, "user", "go **on**"), node(1, "step", "All **tests** in `auth.py` pass.", parent=0))
    rows = TimelineRows(TimelineTree(Timeline(nodes, (), "u1")))
    rows.filter("all tests in auth.py")
    assert row_labels(rows) == ["step 1 in 0"]
    rows.filter("**tests")
    assert row_labels(rows) == []
    rows.filter("**on")  # prompts are shown verbatim
    assert row_labels(rows) == ["turn 0 in 0"]
    updated = replace(nodes[1], label="**None** of them passes.")
    rows.tree.update(TimelineUpdate((updated,), "u1"))
    rows.filter("none of")
    assert row_labels(rows) == ["step 1 in 0"]


def test_a_new_checkpoint_is_appended_and_the_totals_of_its_predecessor_are_updated() -> None:
    rows = TimelineRows(TimelineTree(TIMELINE))
    turn = rows.tree.turn_of["u12"]
    before = rows.tree.totals(turn)
    last = replace(TIMELINE.nodes[-1], files=FileChanges(2, 7, 5))
    new = node(13, "step", "step 4", parent=12, changes=None)
    added, in_order = rows.tree.update(TimelineUpdate((last, new), "u13"))
    assert (added, in_order) == (["u13"], True)
    assert rows.append_checkpoints(added)
    assert row_labels(rows)[:2] == ["step 13 in 0", "step 12 in 0"]
    after = rows.tree.totals(turn)
    assert (after.added - before.added, after.removed - before.removed) == (7, 5)


def test_a_new_turn_collapses_the_previous_newest_turn() -> None:
    rows = TimelineRows(TimelineTree(TIMELINE))
    added, _ = rows.tree.update(TimelineUpdate((node(13, "user", "and now", parent=12),), "u13"))
    assert not rows.append_checkpoints(added)
    assert row_labels(rows)[:3] == ["turn 13 in 0", "turn 9 in 0", "branch 7 in 1"]


def test_a_checkpoint_that_is_not_at_the_tip_requires_a_rebuild() -> None:
    tree = TimelineTree(TIMELINE)
    added, in_order = tree.update(TimelineUpdate((node(13, "user", "back", parent=3),), "u13"))
    assert (added, in_order) == ([], False)
    assert [turn.head for turn in tree.rebuild().current_branch.turns] == ["u0", "u13"]


def test_a_cycle_of_parents_is_harmless() -> None:
    nodes = (node(0, "user", "a", parent=1), node(1, "step", "b", parent=0))
    assert len(TimelineRows(TimelineTree(Timeline(nodes, (), "u1"))).all) == 2


class CountingNodes(dict[str, TimelineNode]):
    """Counts lookups of checkpoints."""

    lookups = 0

    def __getitem__(self, uid: str) -> TimelineNode:
        self.lookups += 1
        return super().__getitem__(uid)


def count_update_lookups(count: int) -> int:
    rows = TimelineRows(TimelineTree(linear_timeline(count, steps_in_turn=count)))
    rows.tree.totals(rows.tree.current_branch.turns[-1])
    nodes = rows.tree.nodes = CountingNodes(rows.tree.nodes)
    last = replace(nodes[f"u{count - 1}"], files=FileChanges(1, 1, 0))
    new = node(count, "step", "new", parent=count - 1)
    nodes.lookups = 0
    added, in_order = rows.tree.update(TimelineUpdate((last, new), new.uid))
    assert rows.append_checkpoints(added)
    assert in_order
    assert len(rows.all) == count + 1
    return nodes.lookups


def test_a_new_checkpoint_costs_the_same_in_a_short_and_a_long_timeline() -> None:
    assert count_update_lookups(2_000) <= count_update_lookups(20)


def test_labels_of_steps_have_no_markup_and_labels_of_prompts_are_verbatim() -> None:
    text = "**Look** at `*.py`"
    assert label_of(node(1, "step", text)) == "Look at *.py"
    assert label_of(node(1, "user", text)) == text
    tool_step = replace(node(1, "step", "Grep **/*.py, ReadFile *.md"), tools=("Grep", "ReadFile"))
    assert label_of(tool_step) == "Grep **/*.py, ReadFile *.md"


def test_a_heading_shortens_a_long_prompt_and_keeps_the_number() -> None:
    assert checkpoint_title(node(4, "user", "fix it")) == "“fix it” (checkpoint 4)"
    title = checkpoint_title(node(12, "user", "写一个很长的请求 " * 20))
    assert title.startswith("“写一个")
    assert title.endswith("…” (checkpoint 12)")
