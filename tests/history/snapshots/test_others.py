"""Whose a change is: another session's when its own record says so, and says so for that time."""

from kimi_tui.history.snapshots.entry import Entry
from kimi_tui.history.snapshots.manifest import Manifest
from kimi_tui.history.snapshots.others import changed_by_others
from kimi_tui.history.snapshots.owner import YOU, Owner


def text(name: str) -> Entry:
    return Entry("file", 0o644, 1, name)


def seen(number: int, time: float, **files: Entry) -> Manifest:
    """What this session recorded."""
    return Manifest(f"one.000001:{number}", None, YOU, time, files, None)


def done(time: float, **files: Entry) -> Manifest:
    """What a tool of another session did."""
    return Manifest("two.000001:0", None, Owner(who="call", session="two"), time, files, None)


def test_what_another_session_did_before_this_one_looked_first_is_that_sessions() -> None:
    found = changed_by_others([seen(1, 1100, a=text("x"))], [done(1050, a=text("x"))], since=1000)
    assert found == {("one.000001:1", "a")}


def test_what_the_user_makes_the_same_at_another_time_is_the_users() -> None:
    records = [seen(1, 1100, a=text("x")), seen(2, 1200, a=text("base")), seen(3, 1300, a=text("x"))]
    found = changed_by_others(records, [done(1050, a=text("x"))], since=1000)
    assert found == {("one.000001:1", "a")}


def test_what_another_session_did_after_the_user_had_done_it_is_that_sessions_only_then() -> None:
    records = [seen(1, 1100, a=text("x")), seen(2, 1200, a=text("agent")), seen(3, 1300, a=text("x"))]
    found = changed_by_others(records, [done(1250, a=text("x"))], since=1000)
    assert found == {("one.000001:3", "a")}


def test_other_files_and_other_contents_are_the_users() -> None:
    records = [seen(1, 1100, a=text("y"), b=text("x"))]
    assert not changed_by_others(records, [done(1050, a=text("x"))], since=1000)
