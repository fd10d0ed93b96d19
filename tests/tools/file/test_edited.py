"""Proposals that the user edits before they are written."""

from pathlib import Path

import pytest

from kimi_tui.base.content import text_of
from kimi_tui.tools.file.edited import MAX_CHARACTERS
from tests.tools.desk import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


async def test_the_whole_new_content_is_what_may_be_edited(desk: Desk) -> None:
    desk.put("a.py", "one\ntwo\n")
    await desk.edit("a.py", "two", "three")
    proposal = desk.user.asked[-1].proposal
    assert proposal is not None
    assert (proposal.name, proposal.text) == ("a.py", "one\nthree\n")


async def test_what_the_user_wrote_is_what_is_written_and_the_model_learns_how_it_differs(desk: Desk) -> None:
    desk.put("a.py", "one\ntwo\n")
    desk.user.edits = "one\nfour\n"
    result = await desk.edit("a.py", "two", "three")
    assert desk.bytes_of("a.py") == b"one\nfour\n"
    assert "-three\n+four" in text_of(result.output)
    assert "The user edited the change" in result.message
    assert "+1 −1" in result.message
    assert result.display[1].new_text == "one\nfour\n"  # type: ignore[union-attr]


async def test_encoding_and_line_endings_survive_the_users_editor(desk: Desk) -> None:
    desk.put("a.txt", b"\xef\xbb\xbfone\r\ntwo\r\n")
    desk.user.edits = "one\nnew\nthree\n"
    await desk.edit("a.txt", "two", "three")
    assert desk.bytes_of("a.txt") == b"\xef\xbb\xbfone\r\nnew\r\nthree\r\n"


async def test_a_new_file_is_written_as_the_user_made_it(desk: Desk) -> None:
    desk.user.edits = "theirs\n"
    await desk.write("new.txt", "mine\n")
    assert desk.bytes_of("new.txt") == b"theirs\n"


async def test_an_edit_that_takes_the_change_back_writes_nothing(desk: Desk) -> None:
    path = desk.put("a.py", "one\n")
    before = path.stat().st_mtime_ns
    desk.user.edits = "one\n"
    result = await desk.edit("a.py", "one", "two")
    assert not result.is_error
    assert "took the change back" in result.message
    assert path.stat().st_mtime_ns == before


async def test_a_file_that_changed_while_it_was_edited_is_left_alone(desk: Desk) -> None:
    path = desk.put("a.py", "one\n")
    desk.user.edits = "mine\n"
    desk.user.while_asked = lambda: path.write_text("somebody else\n")
    result = await desk.edit("a.py", "one", "two")
    assert result.is_error
    assert desk.bytes_of("a.py") == b"somebody else\n"


async def test_what_is_no_text_or_very_long_is_not_offered_for_editing(desk: Desk) -> None:
    desk.put("a.bin", b"\x00\x01binary")
    await desk.write("a.bin", "text now\n")
    assert desk.user.asked[-1].proposal is None
    await desk.write("long.txt", "x" * (MAX_CHARACTERS + 1))
    assert desk.user.asked[-1].proposal is None
