"""Walks: they end when told to, and go round in no circles."""

from kimi_tui.tools.search.walk import Walk
from tests.tools.desk import Desk


def test_a_walk_ends_when_it_is_stopped(desk: Desk) -> None:
    for number in range(10):
        desk.put(f"{number}/file")
    walk = Walk(desk.dir)
    found = []
    for entry in walk:
        found.append(entry.relative)
        if entry.relative == "1/file":
            walk.stop.set()

    assert found[-1] == "1/file"
    assert walk.is_cut_short


def test_a_walk_ends_when_its_time_is_over(desk: Desk) -> None:
    desk.put("a/file")
    walk = Walk(desk.dir, seconds=-1)

    assert list(walk) == []
    assert walk.is_cut_short


def test_a_walk_goes_round_in_no_circles(desk: Desk) -> None:
    desk.put("a/file")
    (desk.dir / "a" / "up").symlink_to("..")
    walk = Walk(desk.dir)

    assert [entry.relative for entry in walk] == ["a", "a/file", "a/up"]
    assert not walk.is_cut_short


def test_a_folder_that_cannot_be_read_is_kept_in_mind(desk: Desk) -> None:
    walk = Walk(desk.dir / "gone")

    assert list(walk) == []
    assert walk.unreadable == [""]
