"""EditFile, as a model and a user see it."""

import os
import stat
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from kimi_tui.tools.approval import ToolRejected
from kimi_tui.tools.file.edit import EditFile
from tests.tools.desk import Desk, brief, hunks


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


async def test_one_piece_is_replaced_after_consent(desk: Desk) -> None:
    desk.put("a.py", "def f():\n    return 1\n")
    result = await desk.edit("a.py", "return 1", "return 2")

    assert desk.bytes_of("a.py") == b"def f():\n    return 2\n"
    assert desk.user.actions == ["edit file"]
    assert "Edited a.py: +1 −1." in result.message
    assert brief(result) == "+1 −1"


async def test_the_diff_shows_each_place_with_three_lines_around(desk: Desk) -> None:
    desk.put("a.txt", "".join(f"{number}\n" for number in range(1, 101)))
    result = await desk.edits("a.txt", ("\n20\n", "\ntwenty\n"), ("\n80\n", "\neighty\nand more\n"))

    first, second = hunks(result.display)
    assert (first.old_start, first.new_start) == (17, 17)
    assert first.old_text == "17\n18\n19\n20\n21\n22\n23\n"
    assert first.new_text == "17\n18\n19\ntwenty\n21\n22\n23\n"
    assert (second.old_start, second.new_start) == (77, 77)
    assert second.new_text == "77\n78\n79\neighty\nand more\n81\n82\n83\n"
    assert hunks(desk.user.asked[0].display) == [first, second]


async def test_without_consent_nothing_changes(desk: Desk) -> None:
    desk.put("a.txt", "old\n")
    desk.user.refuses = True
    with pytest.raises(ToolRejected):
        await desk.edit("a.txt", "old", "new")

    assert desk.bytes_of("a.txt") == b"old\n"


async def test_edits_build_on_each_other(desk: Desk) -> None:
    desk.put("a.txt", "one\n")
    await desk.edits("a.txt", ("one", "two"), ("two", "three"))

    assert desk.bytes_of("a.txt") == b"three\n"


async def test_one_failing_edit_of_several_applies_none(desk: Desk) -> None:
    desk.put("a.txt", "one\ntwo\n")
    result = await desk.edits("a.txt", ("one", "1"), ("three", "3"))

    assert result.is_error
    assert "Edit 2 of 2" in result.message
    assert "None of the edits" in result.message
    assert desk.bytes_of("a.txt") == b"one\ntwo\n"
    assert desk.user.asked == []


async def test_two_matches_are_an_error_that_names_their_lines(desk: Desk) -> None:
    desk.put("a.txt", "x\ny\nx\n")
    result = await desk.edit("a.txt", "x", "z")

    assert result.is_error
    assert "2 times" in result.message
    assert "lines 1, 3" in result.message
    assert desk.bytes_of("a.txt") == b"x\ny\nx\n"


async def test_matches_that_overlap_are_two(desk: Desk) -> None:
    desk.put("a.txt", "aaa\n")
    assert (await desk.edit("a.txt", "aa", "b")).is_error


async def test_all_matches_are_replaced_when_asked_for(desk: Desk) -> None:
    desk.put("a.txt", "x\ny\nx\n")
    await desk.edit("a.txt", "x", "zz", replace_all=True)

    assert desk.bytes_of("a.txt") == b"zz\ny\nzz\n"


@pytest.mark.parametrize(("old", "new"), [("", "x"), ("one", "one")])
async def test_an_edit_that_says_nothing_is_an_error(desk: Desk, old: str, new: str) -> None:
    desk.put("a.txt", "one\n")
    assert (await desk.edit("a.txt", old, new)).is_error
    assert desk.user.asked == []


@pytest.mark.parametrize(
    ("old", "said"),
    [
        ("def g():\n  return 1", "but for white space, in line 4"),
        ("     5\t    return 1", "line numbers"),
        ("    return  one_and_a_quarter", "The nearest is, in line 2"),
        ("nothing of the kind !!!", "holds nothing like it"),
    ],
)
async def test_a_text_that_is_not_there_is_explained(desk: Desk, old: str, said: str) -> None:
    desk.put("a.py", "def f():\n    return one_and_a_half\n\ndef g():\n    return 1\n")
    result = await desk.edit("a.py", old, "something else")

    assert result.is_error
    assert said in result.message


async def test_what_was_probably_meant_is_quoted(desk: Desk) -> None:
    desk.put("a.py", "def f():\n\treturn 1\n")
    assert "     2\t\treturn 1" in (await desk.edit("a.py", "    return 1", "    return 2")).message


async def test_an_edit_made_before_is_recognised(desk: Desk) -> None:
    desk.put("a.py", "from __future__ import annotations\n")
    result = await desk.edit("a.py", "import sys\nimport os\n", "from __future__ import annotations\n")

    assert "already there, in line 1" in result.message


@pytest.mark.parametrize("old", ["PASSWORD=hunter3", "  PASSWORD=hunter2  "])
async def test_a_secret_is_never_quoted(desk: Desk, old: str) -> None:
    desk.put(".env", "PASSWORD=hunter2 !\n")
    result = await desk.edit(".env", old, "PASSWORD=x")

    assert result.is_error
    assert "in line 1" in result.message
    assert "!" not in result.message


async def test_a_missing_file_is_not_created(desk: Desk) -> None:
    result = await desk.edit("a.py", "x", "y")

    assert result.is_error
    assert "does not exist" in result.message
    assert list(desk.dir.iterdir()) == []


async def test_crlf_matches_what_the_model_read_and_stays(desk: Desk) -> None:
    desk.put("a.txt", b"one\r\ntwo\r\nthree\r\n")
    await desk.edit("a.txt", "one\ntwo", "one\nand a half\ntwo")

    assert desk.bytes_of("a.txt") == b"one\r\nand a half\r\ntwo\r\nthree\r\n"


async def test_mixed_line_endings_stay_in_lines_that_are_not_edited(desk: Desk) -> None:
    desk.put("a.txt", b"one\r\ntwo\nthree\r\nfour\n")
    await desk.edit("a.txt", "one\ntwo\nthree\n", "one\n2\n2.5\nthree\n")

    assert desk.bytes_of("a.txt") == b"one\r\n2\n2.5\nthree\r\nfour\n"


async def test_no_final_newline_stays_none(desk: Desk) -> None:
    desk.put("a.txt", b"one\ntwo")
    await desk.edit("a.txt", "two", "three")

    assert desk.bytes_of("a.txt") == b"one\nthree"


async def test_the_byte_order_mark_stays(desk: Desk) -> None:
    desk.put("a.txt", b"\xef\xbb\xbfone\n")
    await desk.edit("a.txt", "one", "two")

    assert desk.bytes_of("a.txt") == b"\xef\xbb\xbftwo\n"


async def test_bytes_of_an_older_encoding_stay(desk: Desk) -> None:
    desk.put("a.c", b"/* caf\xe9 */\nint a;\n")
    await desk.edit("a.c", "int a;", "int b;")

    assert desk.bytes_of("a.c") == b"/* caf\xe9 */\nint b;\n"


async def test_an_older_encoding_is_not_mixed_with_utf8(desk: Desk) -> None:
    desk.put("a.c", b"/* caf\xe9 */\nint a;\n")
    result = await desk.edit("a.c", "int a;", "int größe;")

    assert result.is_error
    assert "ASCII" in result.message


@pytest.mark.parametrize("content", ["text\n".encode("utf-16"), b"a\x00b"])
async def test_what_is_no_utf8_text_is_a_clear_error(desk: Desk, content: bytes) -> None:
    desk.put("a.txt", content)
    result = await desk.edit("a.txt", "text", "x")

    assert result.is_error
    assert "can't be edited" in result.message


async def test_the_mode_stays(desk: Desk) -> None:
    desk.put("run.sh", "old\n").chmod(0o755)
    await desk.edit("run.sh", "old", "new")

    assert stat.S_IMODE((desk.dir / "run.sh").stat().st_mode) == 0o755


async def test_an_edit_of_what_was_not_read_says_so(desk: Desk) -> None:
    desk.put("a.txt", "old\n")
    result = await desk.edit("a.txt", "old", "new")

    assert not result.is_error
    assert "had not read this file" in result.message


async def test_an_edit_of_what_was_read_does_not(desk: Desk) -> None:
    desk.put("a.txt", "old\n")
    await desk.read("a.txt")
    assert "read" not in (await desk.edit("a.txt", "old", "new")).message
    assert "read" not in (await desk.edit("a.txt", "new", "newer")).message


async def test_an_edit_of_what_changed_since_it_was_read_says_so(desk: Desk) -> None:
    desk.put("a.txt", "old\n")
    await desk.read("a.txt")
    desk.put("a.txt", "old\nand more\n")
    assert "changed on disk since" in (await desk.edit("a.txt", "old", "new")).message


async def test_a_file_only_touched_since_it_was_read_has_not_changed(desk: Desk) -> None:
    path = desk.put("a.txt", "old\n")
    await desk.read("a.txt")
    os.utime(path, (0, 0))
    assert "changed" not in (await desk.edit("a.txt", "old", "new")).message


async def test_a_file_changed_while_asked_is_an_error_and_stays(desk: Desk) -> None:
    desk.put("a.txt", "old\n")
    desk.user.while_asked = lambda: desk.put("a.txt", "old\ntheirs\n")
    result = await desk.edit("a.txt", "old", "new")

    assert result.is_error
    assert "changed on disk" in result.message
    assert desk.bytes_of("a.txt") == b"old\ntheirs\n"


async def test_a_file_removed_while_asked_is_not_made_again(desk: Desk) -> None:
    path = desk.put("a.txt", "old\n")
    desk.user.while_asked = path.unlink
    assert (await desk.edit("a.txt", "old", "new")).is_error
    assert not path.exists()


async def test_a_file_too_large_is_refused_at_once(desk: Desk) -> None:
    with desk.put("huge").open("wb") as file:
        file.truncate(1 << 30)
    result = await desk.edit("huge", "a", "b")

    assert result.is_error
    assert "shell command" in result.message


@pytest.mark.parametrize(
    "arguments",
    [
        {"edit": {"old": "a", "new": "b"}},
        {"edits": [{"old": "a", "new": "b"}]},
        {"edit": [{"old": "a", "new": "b"}]},
        {"edits": '[{"old": "a", "new": "b"}]'},
    ],
)
def test_edits_are_understood_as_models_write_them(arguments: dict[str, Any]) -> None:
    params = EditFile.Params.model_validate({"path": "x", **arguments})
    assert [(edit.old, edit.new) for edit in params.all_edits] == [("a", "b")]


def test_no_edit_at_all_is_no_request() -> None:
    with pytest.raises(ValidationError, match="neither an edit nor edits"):
        EditFile.Params.model_validate({"path": "x"})
