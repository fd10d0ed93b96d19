"""Which rows the timeline shows: turns, steps, branches, folded, filtered, growing."""

from dataclasses import replace

from kimi_tui.tui.timeline.labels import label_of
from kimi_tui.tui.timeline.look import titled
from kimi_tui.tui.timeline.rows import Row, Rows
from kimi_tui.tui.timeline.tree import Tree
from kimi_tui.wire.timeline import FileChanges, Timeline, TimelineBranch, TimelineNode, TimelineUpdate
from tests.tui.timeline.story import TIMELINE, node


def line_of(count: int, *, steps_in_turn: int = 10) -> Timeline:
    """A straight line of so many checkpoints."""
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


def told(rows: Rows) -> list[str]:
    """The rows as they stand on the screen, the newest first: kind, number, lane."""
    return [_told(rows, row) for row in reversed(rows.all)]


def _told(rows: Rows, row: Row) -> str:
    joined = " joined" if row.joins else ""
    if row.kind == "origin":
        return f"origin{joined}"
    return f"{row.kind} {rows.tree.nodes[row.uid].id} in {row.strand.lane}{joined}"


def test_turns_are_closed_but_for_the_newest_and_a_branch_stands_above_where_it_left() -> None:
    assert told(Rows(Tree(TIMELINE))) == [
        "step 12 in 0",
        "step 11 in 0",
        "step 10 in 0",
        "turn 9 in 0",
        "branch 7 in 1",
        "turn 0 in 0 joined",
    ]


def test_an_open_turn_shows_where_in_it_a_branch_left() -> None:
    rows = Rows(Tree(TIMELINE))
    rows.fold(rows.all[0], opened=True)
    assert told(rows)[-6:] == [
        "step 8 in 0",
        "branch 7 in 1",
        "step 3 in 0 joined",
        "step 2 in 0",
        "step 1 in 0",
        "turn 0 in 0",
    ]


def test_an_open_branch_shows_its_turns_one_lane_further_in() -> None:
    rows = Rows(Tree(TIMELINE))
    rows.fold(rows.all[1], opened=True)
    assert told(rows)[-4:] == ["turn 9 in 0", "branch 7 in 1", "turn 4 in 1", "turn 0 in 0 joined"]


def test_branches_of_branches_and_lines_that_begin_at_the_beginning_have_their_lanes() -> None:
    nodes = (
        node(0, "user", "first", branch=2),
        node(1, "step", "a", parent=0, branch=2),
        node(2, "step", "b", parent=1, branch=1),
        node(3, "step", "c", parent=1, branch=2),
        node(4, "user", "anew"),
    )
    branches = (
        TimelineBranch(number=1, left=0, tip="u2"),
        TimelineBranch(number=2, left=1, tip="u3"),
    )
    rows = Rows(Tree(Timeline(nodes, branches, "u4")))
    assert told(rows) == ["turn 4 in 0", "branch 3 in 1", "origin joined"]
    rows.reveal("u2")
    assert told(rows) == [
        "turn 4 in 0",
        "branch 3 in 1",
        "step 3 in 1",
        "branch 2 in 2",
        "turn 2 in 2",
        "step 1 in 1 joined",
        "turn 0 in 1",
        "origin joined",
    ]


def test_the_newest_of_two_branches_that_left_at_one_place_stands_on_top() -> None:
    nodes = (
        node(0, "user", "first"),
        node(1, "user", "undone", parent=0, branch=1),
        node(2, "user", "undone too", parent=0, branch=2),
        node(3, "user", "now", parent=0),
    )
    branches = (TimelineBranch(number=1, left=0, tip="u1"), TimelineBranch(number=2, left=1, tip="u2"))
    rows = Rows(Tree(Timeline(nodes, branches, "u3")))
    assert told(rows) == ["turn 3 in 0", "branch 2 in 1", "branch 1 in 1", "turn 0 in 0 joined"]
    assert [row.topmost for row in reversed(rows.all) if row.kind == "branch"] == [True, False]


def test_a_dmail_to_before_a_request_begins_the_turn_anew() -> None:
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
    tree = Tree(Timeline(nodes, branches, "u5"))
    assert [turn.head for turn in tree.live.turns] == ["u0", "u3"]
    assert tree.turn_of["u5"].head == "u3"


def test_what_no_branch_speaks_of_is_shown_all_the_same() -> None:
    nodes = (node(0, "user", "a"), node(1, "step", "lost", parent=0), node(2, "step", "b", parent=7))
    rows = Rows(Tree(Timeline(nodes, (), "u0")))
    assert {row.uid for row in rows.all if row.kind == "branch"} == {"u1", "u2"}


def test_a_filter_finds_text_names_tools_and_numbers_on_every_line() -> None:
    rows = Rows(Tree(TIMELINE))
    rows.filter("AUTH.PY")
    assert told(rows) == ["step 11 in 0", "step 10 in 0", "step 6 in 1", "step 2 in 0", "step 1 in 0"]
    rows.filter("good")
    assert told(rows) == ["turn 9 in 0"]
    rows.filter("bash")
    assert told(rows) == ["step 10 in 0", "step 5 in 1"]
    rows.filter("form.py")
    assert told(rows) == ["step 10 in 0"]
    rows.filter("")
    assert len(rows.all) == 6


def test_a_filter_finds_what_is_shown_and_no_marks_of_markdown() -> None:
    nodes = (node(0, "user", "go **on**"), node(1, "step", "All **tests** in `auth.py` pass.", parent=0))
    rows = Rows(Tree(Timeline(nodes, (), "u1")))
    rows.filter("all tests in auth.py")
    assert told(rows) == ["step 1 in 0"]
    rows.filter("**tests")
    assert told(rows) == []
    rows.filter("**on")  # what the user wrote is shown as it is
    assert told(rows) == ["turn 0 in 0"]
    node_again = replace(nodes[1], label="**None** of them passes.")
    rows.tree.update(TimelineUpdate((node_again,), "u1"))
    rows.filter("none of")
    assert told(rows) == ["step 1 in 0"]


def test_a_new_checkpoint_is_appended_and_its_predecessor_learns_what_was_done() -> None:
    rows = Rows(Tree(TIMELINE))
    turn = rows.tree.turn_of["u12"]
    before = rows.tree.totals(turn)
    last = replace(TIMELINE.nodes[-1], files=FileChanges(2, 7, 5))
    new = node(13, "step", "step 4", parent=12, changes=None)
    added, in_order = rows.tree.update(TimelineUpdate((last, new), "u13"))
    assert (added, in_order) == (["u13"], True)
    assert rows.grow(added)
    assert told(rows)[:2] == ["step 13 in 0", "step 12 in 0"]
    after = rows.tree.totals(turn)
    assert (after.added - before.added, after.removed - before.removed) == (7, 5)


def test_a_new_turn_closes_the_one_that_was_open_only_because_it_was_the_newest() -> None:
    rows = Rows(Tree(TIMELINE))
    added, _ = rows.tree.update(TimelineUpdate((node(13, "user", "and now", parent=12),), "u13"))
    assert not rows.grow(added)
    assert told(rows)[:3] == ["turn 13 in 0", "turn 9 in 0", "branch 7 in 1"]


def test_a_checkpoint_that_grew_elsewhere_has_the_tree_arranged_anew() -> None:
    tree = Tree(TIMELINE)
    added, in_order = tree.update(TimelineUpdate((node(13, "user", "back", parent=3),), "u13"))
    assert (added, in_order) == ([], False)
    assert [turn.head for turn in tree.rebuilt().live.turns] == ["u0", "u13"]


def test_a_parent_that_is_its_own_ancestor_ends_nothing() -> None:
    nodes = (node(0, "user", "a", parent=1), node(1, "step", "b", parent=0))
    assert len(Rows(Tree(Timeline(nodes, (), "u1"))).all) == 2


class CountingNodes(dict[str, TimelineNode]):
    """Counts how often somebody looks a checkpoint up."""

    looked_up = 0

    def __getitem__(self, uid: str) -> TimelineNode:
        self.looked_up += 1
        return super().__getitem__(uid)


def lookups_of_an_update(count: int) -> int:
    rows = Rows(Tree(line_of(count, steps_in_turn=count)))
    rows.tree.totals(rows.tree.live.turns[-1])
    nodes = rows.tree.nodes = CountingNodes(rows.tree.nodes)
    last = replace(nodes[f"u{count - 1}"], files=FileChanges(1, 1, 0))
    new = node(count, "step", "new", parent=count - 1)
    nodes.looked_up = 0
    added, in_order = rows.tree.update(TimelineUpdate((last, new), new.uid))
    assert rows.grow(added)
    assert in_order
    assert len(rows.all) == count + 1
    return nodes.looked_up


def test_a_new_checkpoint_costs_the_same_in_a_short_and_a_long_timeline() -> None:
    assert lookups_of_an_update(2_000) <= lookups_of_an_update(20)


def test_steps_say_what_the_model_wrote_without_its_marks_and_prompts_what_was_typed() -> None:
    words = "**Look** at `*.py`"
    assert label_of(node(1, "step", words)) == "Look at *.py"
    assert label_of(node(1, "user", words)) == words
    called = replace(node(1, "step", "Grep **/*.py, ReadFile *.md"), tools=("Grep", "ReadFile"))
    assert label_of(called) == "Grep **/*.py, ReadFile *.md"


def test_a_long_prompt_leaves_the_checkpoints_number_in_a_heading() -> None:
    assert titled(node(4, "user", "mend it")) == "“mend it” (checkpoint 4)"
    heading = titled(node(12, "user", "写一个很长的请求 " * 20))
    assert heading.startswith("“写一个")
    assert heading.endswith("…” (checkpoint 12)")
