"""Opening the timeline of a long session: what is seen first comes first, and the rest beside it."""

from typing import Any

from kimi_tui.tui.timeline.rows import Row, RowList, Rows
from kimi_tui.tui.timeline.search import SearchedWords
from kimi_tui.tui.timeline.tree import Tree
from kimi_tui.wire.commands import ShowTimeline
from kimi_tui.wire.timeline import Timeline, TimelineBranch, TimelineUpdate
from tests.tui.conftest import Desk
from tests.tui.timeline.story import NOW, TALK, node
from tests.tui.timeline.test_pane import rows, view
from tests.tui.timeline.test_rows import CountingNodes, line_of

LONG = line_of(10_000, steps_in_turn=2)


def first_of(timeline: Timeline, count: int) -> Timeline:
    """What the engine answers when it is asked for so many of the newest."""
    return Timeline(timeline.nodes[-count:], (), timeline.current, older=len(timeline.nodes) - count)


def asked(desk: Desk) -> list[int]:
    """How many checkpoints were asked for, one by one; 0 is all."""
    return [command.newest for command in desk.told(ShowTimeline)]


async def opened(desk: Desk, timeline: Timeline) -> None:
    """Open the pane; the engine answers what it is asked for."""
    await desk.say(*TALK)
    await desk.pilot.press("f3")
    await desk.until(lambda: asked(desk))
    newest = asked(desk)[0]
    assert 0 < newest < 1_000
    desk.engine.say(first_of(timeline, newest))


async def test_the_newest_stand_there_before_the_rest_is_asked_for_and_the_mark_stays_with_its_row(
    open_desk: Any,
) -> None:
    async with open_desk(size=(100, 24), wall_clock=lambda: NOW) as desk:
        await opened(desk, LONG)
        await desk.until(lambda: "● now 10,000 checkpoints" in rows(desk))
        assert "9998 checkpoint 9998" in desk.shown()
        await desk.until(lambda: len(asked(desk)) == 2)
        assert asked(desk)[1] == 0
        await desk.pilot.press("down", "down", "down", "down")
        before, seen = view(desk).node, rows(desk)
        assert before is not None
        branch = TimelineBranch(number=1, left=NOW, tip="u10000")
        side = node(10_000, "user", "left", parent=9_001, branch=1)
        desk.engine.say(Timeline((*LONG.nodes, side), (branch,), LONG.current))
        await desk.until(lambda: len(view(desk).rows.tree.nodes) == 10_001)
        assert view(desk).node == before
        assert rows(desk) == ["● now 10,001 checkpoints", *seen[1:]]
        await desk.pilot.press("end")
        assert view(desk).node == LONG.nodes[0]
        assert len(asked(desk)) == 2


async def test_opened_again_nothing_is_asked_for_and_no_row_is_drawn_anew(open_desk: Any) -> None:
    async with open_desk(size=(100, 24), wall_clock=lambda: NOW) as desk:
        await opened(desk, LONG)
        await desk.until(lambda: len(asked(desk)) == 2)
        desk.engine.say(LONG)
        await desk.until(lambda: view(desk).rows.tree.older == 0)
        await desk.pilot.press("f3")
        await desk.until(lambda: not view(desk).is_on_screen)
        tree, strips = view(desk).rows.tree, view(desk)._strips
        known = set(strips.keys())
        assert len(known) >= view(desk).size.height - 1
        await desk.pilot.press("f3")
        await desk.until(lambda: "● now 10,000 checkpoints" in rows(desk))
        assert view(desk).rows.tree is tree
        assert len(set(strips.keys()) - known) <= 1, "only the mark may have had no keyboard on it before"
        assert len(asked(desk)) == 2


async def test_what_happens_while_the_rest_is_arranged_is_in_it(open_desk: Any) -> None:
    async with open_desk(size=(100, 24), wall_clock=lambda: NOW) as desk:
        await opened(desk, LONG)
        await desk.until(lambda: len(asked(desk)) == 2)
        new = node(10_000, "user", "and then?", parent=9_999)
        desk.engine.say(LONG, TimelineUpdate((new,), new.uid))
        await desk.until(lambda: len(view(desk).rows.tree.nodes) == 10_001)
        assert view(desk).rows.tree.current == new.uid
        await desk.until(lambda: "and then?" in desk.shown())


async def test_of_two_timelines_that_come_close_together_the_second_is_shown(open_desk: Any) -> None:
    async with open_desk(size=(100, 24), wall_clock=lambda: NOW) as desk:
        await opened(desk, LONG)
        desk.engine.say(LONG, line_of(7))
        await desk.until(lambda: "● now 7 checkpoints" in rows(desk))
        await desk.pilot.pause()
        assert len(view(desk).rows.tree.nodes) == 7


def lookups_of_a_screenful(count: int) -> int:
    """How many checkpoints are looked up to arrange rows and to look at a screenful of them."""
    tree = Tree(line_of(count, steps_in_turn=2))
    nodes = tree.nodes = CountingNodes(tree.nodes)
    arranged = Rows(tree)
    for row in arranged.all[-28:]:
        tree.nodes[row.uid]
    assert arranged.index_of(("turn", f"u{count - 2}")) == count // 2 - 1
    return nodes.looked_up


def test_arranging_rows_looks_no_checkpoint_up_that_is_not_in_sight() -> None:
    assert lookups_of_a_screenful(10_000) == lookups_of_a_screenful(100) == 28


def test_only_rows_that_are_looked_at_are_made() -> None:
    tree, made = Tree(LONG), []
    turns = tree.live.turns

    def remembering(entry: Any) -> Row:
        made.append(entry)
        return Row("turn", entry.strand, entry, entry.head)

    listed = RowList(remembering)
    listed.extend(turns)
    assert len(listed) == 5_000
    assert [row.uid for row in listed[-2:]] == ["u9996", "u9998"]
    assert listed.place_of(turns[7]) == 7
    assert len(made) == 2


async def test_a_filter_of_a_long_timeline_finds_everything_and_keeps_the_mark(open_desk: Any) -> None:
    async with open_desk(size=(100, 24), wall_clock=lambda: NOW) as desk:
        await opened(desk, LONG)
        await desk.until(lambda: len(asked(desk)) == 2)
        desk.engine.say(LONG)
        await desk.until(lambda: view(desk).rows.tree.older == 0)
        await desk.pilot.press("end", "up", "up")
        marked = view(desk).node
        assert marked == LONG.nodes[4]
        await desk.pilot.press("/", *"point")
        await desk.until(lambda: not view(desk).rows.is_searching)
        await desk.until(lambda: view(desk).node == marked)
        assert len(view(desk).rows.all) == 10_000
        await desk.pilot.press("escape")
        assert view(desk).node == marked
        assert len(view(desk).rows.all) == 5_001


def test_a_long_timeline_is_searched_in_bites_the_newest_first() -> None:
    arranged = Rows(Tree(LONG))
    arranged.filter("check")
    assert len(arranged.all) >= 64
    assert arranged.all[-1].uid == "u9999"
    while arranged.is_searching:
        before = [row.uid for row in arranged.all[-64:]]
        arranged.search_on()
        assert [row.uid for row in arranged.all[-64:]] == before
    assert [row.uid for row in arranged.all[:2]] == ["u0", "u1"]
    assert len(arranged.all) == 10_000


class Label(str):
    """Counts how often it is read."""

    reads = 0

    def startswith(self, *start: Any) -> bool:
        self.reads += 1
        return super().startswith(*start)


def test_a_label_is_read_once_however_many_keys_are_typed() -> None:
    label, words = Label("All **tests** pass."), SearchedWords()
    for query, fits in (("t", True), ("te", True), ("tests pass", True), ("**", False)):
        assert words.fit(node(1, "step", label), query) is fits
    assert label.reads == 1
    assert words.fit(node(1, "step", "None passes."), "none")
