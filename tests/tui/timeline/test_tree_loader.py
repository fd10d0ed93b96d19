"""Loading the timeline of a long session: visible rows first, the rest in a thread."""

from typing import Any

from kimi_tui.tui.timeline.filter import SearchTextCache
from kimi_tui.tui.timeline.rows import RowList, TimelineRow, TimelineRows
from kimi_tui.tui.timeline.tree import TimelineTree, TimelineTurn
from kimi_tui.wire.commands import ShowTimeline
from kimi_tui.wire.timeline import Timeline, TimelineBranch, TimelineUpdate
from tests.tui.conftest import AppHarness
from tests.tui.timeline.sample_timeline import MESSAGES, NOW, node
from tests.tui.timeline.test_pane import rows, view
from tests.tui.timeline.test_rows import CountingNodes, linear_timeline

LONG = linear_timeline(10_000, steps_in_turn=2)


def first_checkpoints(timeline: Timeline, count: int) -> Timeline:
    """Return the reply to a request for the `count` newest checkpoints."""
    return Timeline(timeline.nodes[-count:], (), timeline.current, older=len(timeline.nodes) - count)


def requested_limits(harness: AppHarness) -> list[int]:
    """Return the limits of all timeline requests; 0 is no limit."""
    return [command.newest for command in harness.commands_of(ShowTimeline)]


async def open_pane(harness: AppHarness, timeline: Timeline) -> None:
    """Open the pane and send the newest checkpoints that it requests."""
    await harness.send(*MESSAGES)
    await harness.driver.press("f3")
    await harness.wait_until(lambda: requested_limits(harness))
    newest = requested_limits(harness)[0]
    assert 0 < newest < 1_000
    harness.engine.send(first_checkpoints(timeline, newest))


async def test_the_newest_rows_are_shown_first_and_the_highlight_stays_when_the_rest_arrives(
    open_app: Any,
) -> None:
    async with open_app(size=(100, 24), wall_clock=lambda: NOW) as harness:
        await open_pane(harness, LONG)
        await harness.wait_until(lambda: "● now 10,000 checkpoints" in rows(harness))
        assert "9998 checkpoint 9998" in harness.screen_text()
        await harness.wait_until(lambda: len(requested_limits(harness)) == 2)
        assert requested_limits(harness)[1] == 0
        await harness.driver.press("down", "down", "down", "down")
        before, shown = view(harness).highlighted_node, rows(harness)
        assert before is not None
        branch = TimelineBranch(number=1, left=NOW, tip="u10000")
        side = node(10_000, "user", "left", parent=9_001, branch=1)
        harness.engine.send(Timeline((*LONG.nodes, side), (branch,), LONG.current))
        await harness.wait_until(lambda: len(view(harness).rows.tree.nodes) == 10_001)
        assert view(harness).highlighted_node == before
        assert rows(harness) == ["● now 10,001 checkpoints", *shown[1:]]
        await harness.driver.press("end")
        assert view(harness).highlighted_node == LONG.nodes[0]
        assert len(requested_limits(harness)) == 2


async def test_reopening_requests_and_renders_nothing(open_app: Any) -> None:
    async with open_app(size=(100, 24), wall_clock=lambda: NOW) as harness:
        await open_pane(harness, LONG)
        await harness.wait_until(lambda: len(requested_limits(harness)) == 2)
        harness.engine.send(LONG)
        await harness.wait_until(lambda: view(harness).rows.tree.older_count == 0)
        await harness.driver.press("f3")
        await harness.wait_until(lambda: not view(harness).is_on_screen)
        tree, strips = view(harness).rows.tree, view(harness)._strips
        known = set(strips.keys())
        assert len(known) >= view(harness).size.height - 1
        await harness.driver.press("f3")
        await harness.wait_until(lambda: "● now 10,000 checkpoints" in rows(harness))
        assert view(harness).rows.tree is tree
        assert len(set(strips.keys()) - known) <= 1, (
            "only the highlighted row may be rendered again, for its focus style"
        )
        assert len(requested_limits(harness)) == 2


async def test_updates_during_loading_are_applied(open_app: Any) -> None:
    async with open_app(size=(100, 24), wall_clock=lambda: NOW) as harness:
        await open_pane(harness, LONG)
        await harness.wait_until(lambda: len(requested_limits(harness)) == 2)
        new = node(10_000, "user", "and then?", parent=9_999)
        harness.engine.send(LONG, TimelineUpdate((new,), new.uid))
        await harness.wait_until(lambda: len(view(harness).rows.tree.nodes) == 10_001)
        assert view(harness).rows.tree.current == new.uid
        await harness.wait_until(lambda: "and then?" in harness.screen_text())


async def test_of_two_timelines_in_quick_succession_the_second_is_shown(open_app: Any) -> None:
    async with open_app(size=(100, 24), wall_clock=lambda: NOW) as harness:
        await open_pane(harness, LONG)
        harness.engine.send(LONG, linear_timeline(7))
        await harness.wait_until(lambda: "● now 7 checkpoints" in rows(harness))
        await harness.driver.pause()
        assert len(view(harness).rows.tree.nodes) == 7


def count_screen_lookups(count: int) -> int:
    """Return the number of checkpoint lookups needed to build the rows and access a screenful."""
    tree = TimelineTree(linear_timeline(count, steps_in_turn=2))
    nodes = tree.nodes = CountingNodes(tree.nodes)
    timeline_rows = TimelineRows(tree)
    for row in timeline_rows.all[-28:]:
        tree.nodes[row.uid]
    assert timeline_rows.index_of(("turn", f"u{count - 2}")) == count // 2 - 1
    return nodes.lookups


def test_building_rows_looks_up_only_visible_checkpoints() -> None:
    assert count_screen_lookups(10_000) == count_screen_lookups(100) == 28


class CountingRowList(RowList):
    """Counts the rows that are created."""

    created = 0

    def _build_row(self, entry: TimelineTurn | str) -> TimelineRow:
        self.created += 1
        return super()._build_row(entry)


def test_rows_are_created_on_access() -> None:
    tree = TimelineTree(LONG)
    turns = tree.current_branch.turns
    row_list = CountingRowList(tree)
    row_list.extend(turns)
    assert len(row_list) == 5_000
    assert [row.uid for row in row_list[-2:]] == ["u9996", "u9998"]
    assert row_list.index_of_entry(turns[7]) == 7
    assert row_list.created == 2


async def test_a_filter_of_a_long_timeline_finds_all_matches_and_keeps_the_highlight(open_app: Any) -> None:
    async with open_app(size=(100, 24), wall_clock=lambda: NOW) as harness:
        await open_pane(harness, LONG)
        await harness.wait_until(lambda: len(requested_limits(harness)) == 2)
        harness.engine.send(LONG)
        await harness.wait_until(lambda: view(harness).rows.tree.older_count == 0)
        await harness.driver.press("end", "up", "up")
        highlighted = view(harness).highlighted_node
        assert highlighted == LONG.nodes[4]
        await harness.driver.press("/", *"point")
        await harness.wait_until(lambda: not view(harness).rows.is_searching)
        await harness.wait_until(lambda: view(harness).highlighted_node == highlighted)
        assert len(view(harness).rows.all) == 10_000
        await harness.driver.press("escape")
        assert view(harness).highlighted_node == highlighted
        assert len(view(harness).rows.all) == 5_001


def test_a_long_timeline_is_searched_in_slices_newest_first() -> None:
    timeline_rows = TimelineRows(TimelineTree(LONG))
    timeline_rows.filter("check")
    assert len(timeline_rows.all) >= 64
    assert timeline_rows.all[-1].uid == "u9999"
    while timeline_rows.is_searching:
        before = [row.uid for row in timeline_rows.all[-64:]]
        timeline_rows.continue_search()
        assert [row.uid for row in timeline_rows.all[-64:]] == before
    assert [row.uid for row in timeline_rows.all[:2]] == ["u0", "u1"]
    assert len(timeline_rows.all) == 10_000


class Label(str):
    """A label that counts how often it is read."""

    reads = 0

    def startswith(self, *start: Any) -> bool:
        self.reads += 1
        return super().startswith(*start)


def test_a_label_is_read_only_once() -> None:
    label, cache = Label("All **tests** pass."), SearchTextCache()
    for query, is_match in (("t", True), ("te", True), ("tests pass", True), ("**", False)):
        assert cache.matches(node(1, "step", label), query) is is_match
    assert label.reads == 1
    assert cache.matches(node(1, "step", "None passes."), "none")
