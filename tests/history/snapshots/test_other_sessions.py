"""Attribution of changes to other sessions."""

from kimi_tui.history.snapshots.attribution import USER, ChangeAuthor
from kimi_tui.history.snapshots.entry import Entry
from kimi_tui.history.snapshots.manifest import Manifest
from kimi_tui.history.snapshots.other_sessions import changes_by_other_sessions


def file_entry(name: str) -> Entry:
    return Entry("file", 0o644, 1, name)


def own_record(number: int, time: float, **files: Entry) -> Manifest:
    """Return a record of this session."""
    return Manifest(f"one.000001:{number}", None, USER, time, files, None)


def other_record(time: float, **files: Entry) -> Manifest:
    """Return a record of a tool call in another session."""
    return Manifest("two.000001:0", None, ChangeAuthor(who="call", session="two"), time, files, None)


def test_a_change_that_another_session_recorded_earlier_is_attributed_to_it() -> None:
    changes = changes_by_other_sessions(
        [own_record(1, 1100, a=file_entry("x"))], [other_record(1050, a=file_entry("x"))], since=1000
    )
    assert changes == {("one.000001:1", "a")}


def test_the_same_change_at_another_time_is_the_users() -> None:
    records = [
        own_record(1, 1100, a=file_entry("x")),
        own_record(2, 1200, a=file_entry("base")),
        own_record(3, 1300, a=file_entry("x")),
    ]
    changes = changes_by_other_sessions(records, [other_record(1050, a=file_entry("x"))], since=1000)
    assert changes == {("one.000001:1", "a")}


def test_a_change_that_another_session_repeats_is_attributed_to_it_only_once() -> None:
    records = [
        own_record(1, 1100, a=file_entry("x")),
        own_record(2, 1200, a=file_entry("agent")),
        own_record(3, 1300, a=file_entry("x")),
    ]
    changes = changes_by_other_sessions(records, [other_record(1250, a=file_entry("x"))], since=1000)
    assert changes == {("one.000001:3", "a")}


def test_changes_of_other_files_and_other_contents_are_the_users() -> None:
    records = [own_record(1, 1100, a=file_entry("y"), b=file_entry("x"))]
    assert not changes_by_other_sessions(records, [other_record(1050, a=file_entry("x"))], since=1000)
