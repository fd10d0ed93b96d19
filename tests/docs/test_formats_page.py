"""docs/formats.md: its tables have every record, method, message and error, and its script runs."""

import re
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

from kimi_tui.history.record_codec import encode, role_of
from kimi_tui.history.records import (
    Checkpoint,
    FileStateRecord,
    PendingRecord,
    Record,
    RepairRecord,
    RevertRecord,
    SystemPrompt,
    UsageRecord,
)
from kimi_tui.wire.attempts import Attempt, AttemptChanges, AttemptList
from kimi_tui.wire.events import Event
from kimi_tui.wire.requests import Answer, Request
from kimi_tui.wireserver.event_filter import filter_for_client
from kimi_tui.wireserver.jsonrpc import ErrorCode
from kimi_tui.wireserver.timeline_methods import METHODS
from tests.docs.pages import DOCS, examples
from tests.e2e.program import Program

PAGE = (DOCS / "formats.md").read_text("utf-8")
OWN_EVENTS: tuple[type[Any], ...] = (AttemptList, AttemptChanges)
"""Events that only clients with `supports_timeline` get."""
RECORDS: list[Record] = [
    SystemPrompt(""),
    Checkpoint(id=0, uid=""),
    FileStateRecord(id=0, files=""),
    UsageRecord(0),
    RevertRecord(to=0, next_id=0),
    RepairRecord(),
    PendingRecord(b"{}"),
]


def rows() -> dict[str, set[str]]:
    """Return the words in backticks of each table row by the names in its first column."""
    words_by_name: dict[str, set[str]] = {}
    for line in PAGE.splitlines():
        if line.startswith("| "):
            first, _, rest = line[2:].partition(" | ")
            for name in re.findall(r"`([^`]+)`", first):
                words_by_name.setdefault(name, set()).update(re.findall(r"`(\w+)`", rest))
    return words_by_name


def messages() -> list[type[Any]]:
    unions = (*get_args(Event), *get_args(Request), *get_args(Answer))
    return [it for union in unions for it in (get_args(union) or (union,))]


def test_the_messages_of_attempts_are_on_the_page_with_their_fields() -> None:
    for kind in OWN_EVENTS:
        assert {field.name for field in fields(kind)} <= rows()[kind.__name__]
    assert {field.name for field in fields(Attempt)} <= rows().keys()


def test_every_record_is_on_the_page_with_its_fields() -> None:
    for record in RECORDS:
        role = role_of(encode(record))
        named = {"message"} if isinstance(record, PendingRecord) else {it.name for it in fields(record)}
        assert named <= rows()[str(role)], role
    roles = {name for name in rows() if re.fullmatch(r"_\w+", name)}
    assert roles == {role_of(encode(record)) for record in RECORDS}


def test_every_message_of_wire_1_10_is_on_the_page_with_its_fields() -> None:
    shown = rows()
    for kind in messages():
        names = {it.name for it in fields(kind)}
        known = filter_for_client({"type": kind.__name__, "payload": {name: [] for name in names}})
        if known is None:
            assert kind in OWN_EVENTS or kind.__name__ not in shown
        elif "type" not in names or kind.__name__ == "Notification":
            assert known["payload"].keys() - {"unanswerable"} <= shown[kind.__name__], kind


def test_every_method_and_error_of_the_server_is_on_the_page() -> None:
    assert METHODS.keys() <= rows().keys()
    assert [code for code in ErrorCode if str(code.value) not in PAGE] == []


def test_the_script_of_the_page_runs(tmp_path: Path) -> None:
    program = Program(tmp_path)
    (program.work_dir / "notes.txt").write_text("milk\n")
    for example in examples("formats.md"):
        if example.file:
            example.put_into(program.work_dir)
        else:
            program.configure(example.text)
    finished = program.run("--quiet", "-p", "what do I need?")
    assert finished.stdout.strip() == "It says milk.", finished.stderr
