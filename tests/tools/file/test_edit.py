"""EditFile, as seen by the model and the user."""

import os
import stat
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from kimi_tui.tools.approval import ToolRejected
from kimi_tui.tools.file.edit import EditFile
from tests.tools.tool_env import ToolEnv, brief_text, diff_blocks


@pytest.fixture
def tool_env(tmp_path: Path) -> ToolEnv:
    return ToolEnv(tmp_path)


async def test_text_is_replaced_after_approval(tool_env: ToolEnv) -> None:
    tool_env.write_file("a.py", "def f():\n    return 1\n")
    result = await tool_env.edit("a.py", "return 1", "return 2")

    assert tool_env.read_bytes("a.py") == b"def f():\n    return 2\n"
    assert tool_env.user.actions == ["edit file"]
    assert "Edited a.py: +1 −1." in result.message
    assert brief_text(result) == "+1 −1"


async def test_the_diff_shows_each_change_with_three_lines_of_context(tool_env: ToolEnv) -> None:
    tool_env.write_file("a.txt", "".join(f"{number}\n" for number in range(1, 101)))
    result = await tool_env.edits("a.txt", ("\n20\n", "\ntwenty\n"), ("\n80\n", "\neighty\nand more\n"))

    first, second = diff_blocks(result.display)
    assert (first.old_start, first.new_start) == (17, 17)
    assert first.old_text == "17\n18\n19\n20\n21\n22\n23\n"
    assert first.new_text == "17\n18\n19\ntwenty\n21\n22\n23\n"
    assert (second.old_start, second.new_start) == (77, 77)
    assert second.new_text == "77\n78\n79\neighty\nand more\n81\n82\n83\n"
    assert diff_blocks(tool_env.user.requests[0].display) == [first, second]


async def test_a_rejected_edit_changes_nothing(tool_env: ToolEnv) -> None:
    tool_env.write_file("a.txt", "old\n")
    tool_env.user.rejects = True
    with pytest.raises(ToolRejected):
        await tool_env.edit("a.txt", "old", "new")

    assert tool_env.read_bytes("a.txt") == b"old\n"


async def test_edits_build_on_each_other(tool_env: ToolEnv) -> None:
    tool_env.write_file("a.txt", "one\n")
    await tool_env.edits("a.txt", ("one", "two"), ("two", "three"))

    assert tool_env.read_bytes("a.txt") == b"three\n"


async def test_one_failing_edit_prevents_all_edits(tool_env: ToolEnv) -> None:
    tool_env.write_file("a.txt", "one\ntwo\n")
    result = await tool_env.edits("a.txt", ("one", "1"), ("three", "3"))

    assert result.is_error
    assert "Edit 2 of 2" in result.message
    assert "None of the edits" in result.message
    assert tool_env.read_bytes("a.txt") == b"one\ntwo\n"
    assert tool_env.user.requests == []


async def test_two_matches_are_an_error_that_names_their_lines(tool_env: ToolEnv) -> None:
    tool_env.write_file("a.txt", "x\ny\nx\n")
    result = await tool_env.edit("a.txt", "x", "z")

    assert result.is_error
    assert "2 times" in result.message
    assert "lines 1, 3" in result.message
    assert tool_env.read_bytes("a.txt") == b"x\ny\nx\n"


async def test_overlapping_matches_count_as_two(tool_env: ToolEnv) -> None:
    tool_env.write_file("a.txt", "aaa\n")
    assert (await tool_env.edit("a.txt", "aa", "b")).is_error


async def test_all_matches_are_replaced_on_request(tool_env: ToolEnv) -> None:
    tool_env.write_file("a.txt", "x\ny\nx\n")
    await tool_env.edit("a.txt", "x", "zz", replace_all=True)

    assert tool_env.read_bytes("a.txt") == b"zz\ny\nzz\n"


@pytest.mark.parametrize(("old", "new"), [("", "x"), ("one", "one")])
async def test_an_edit_without_effect_is_an_error(tool_env: ToolEnv, old: str, new: str) -> None:
    tool_env.write_file("a.txt", "one\n")
    assert (await tool_env.edit("a.txt", old, new)).is_error
    assert tool_env.user.requests == []


@pytest.mark.parametrize(
    ("old", "expected"),
    [
        ("def g():\n  return 1", "differs only in whitespace, in line 4"),
        ("     5\t    return 1", "line numbers"),
        ("    return  one_and_a_quarter", "The closest match is, in line 2"),
        ("nothing of the kind !!!", "contains nothing similar"),
    ],
)
async def test_the_error_explains_why_a_text_was_not_found(
    tool_env: ToolEnv, old: str, expected: str
) -> None:
    tool_env.write_file("a.py", "def f():\n    return one_and_a_half\n\ndef g():\n    return 1\n")
    result = await tool_env.edit("a.py", old, "something else")

    assert result.is_error
    assert expected in result.message


async def test_the_closest_match_is_quoted(tool_env: ToolEnv) -> None:
    tool_env.write_file("a.py", "def f():\n\treturn 1\n")
    assert "     2\t\treturn 1" in (await tool_env.edit("a.py", "    return 1", "    return 2")).message


async def test_a_repeated_edit_is_recognized(tool_env: ToolEnv) -> None:
    tool_env.write_file("a.py", "from __future__ import annotations\n")
    result = await tool_env.edit("a.py", "import sys\nimport os\n", "from __future__ import annotations\n")

    assert "already contains the new text, in line 1" in result.message


@pytest.mark.parametrize("old", ["PASSWORD=hunter3", "  PASSWORD=hunter2  "])
async def test_a_secret_is_never_quoted(tool_env: ToolEnv, old: str) -> None:
    tool_env.write_file(".env", "PASSWORD=hunter2 !\n")
    result = await tool_env.edit(".env", old, "PASSWORD=x")

    assert result.is_error
    assert "in line 1" in result.message
    assert "!" not in result.message


async def test_a_missing_file_is_not_created(tool_env: ToolEnv) -> None:
    result = await tool_env.edit("a.py", "x", "y")

    assert result.is_error
    assert "doesn't exist" in result.message
    assert list(tool_env.dir.iterdir()) == []


async def test_crlf_line_endings_match_and_are_kept(tool_env: ToolEnv) -> None:
    tool_env.write_file("a.txt", b"one\r\ntwo\r\nthree\r\n")
    await tool_env.edit("a.txt", "one\ntwo", "one\nand a half\ntwo")

    assert tool_env.read_bytes("a.txt") == b"one\r\nand a half\r\ntwo\r\nthree\r\n"


async def test_mixed_line_endings_are_kept_in_unedited_lines(tool_env: ToolEnv) -> None:
    tool_env.write_file("a.txt", b"one\r\ntwo\nthree\r\nfour\n")
    await tool_env.edit("a.txt", "one\ntwo\nthree\n", "one\n2\n2.5\nthree\n")

    assert tool_env.read_bytes("a.txt") == b"one\r\n2\n2.5\nthree\r\nfour\n"


async def test_a_missing_final_newline_stays_missing(tool_env: ToolEnv) -> None:
    tool_env.write_file("a.txt", b"one\ntwo")
    await tool_env.edit("a.txt", "two", "three")

    assert tool_env.read_bytes("a.txt") == b"one\nthree"


async def test_the_byte_order_mark_is_kept(tool_env: ToolEnv) -> None:
    tool_env.write_file("a.txt", b"\xef\xbb\xbfone\n")
    await tool_env.edit("a.txt", "one", "two")

    assert tool_env.read_bytes("a.txt") == b"\xef\xbb\xbftwo\n"


async def test_bytes_of_a_legacy_encoding_are_kept(tool_env: ToolEnv) -> None:
    tool_env.write_file("a.c", b"/* caf\xe9 */\nint a;\n")
    await tool_env.edit("a.c", "int a;", "int b;")

    assert tool_env.read_bytes("a.c") == b"/* caf\xe9 */\nint b;\n"


async def test_a_legacy_encoding_is_not_mixed_with_utf8(tool_env: ToolEnv) -> None:
    tool_env.write_file("a.c", b"/* caf\xe9 */\nint a;\n")
    result = await tool_env.edit("a.c", "int a;", "int größe;")

    assert result.is_error
    assert "ASCII" in result.message


@pytest.mark.parametrize("content", ["text\n".encode("utf-16"), b"a\x00b"])
async def test_content_that_is_not_utf8_text_is_an_error(tool_env: ToolEnv, content: bytes) -> None:
    tool_env.write_file("a.txt", content)
    result = await tool_env.edit("a.txt", "text", "x")

    assert result.is_error
    assert "can't be edited" in result.message


async def test_the_file_mode_is_kept(tool_env: ToolEnv) -> None:
    tool_env.write_file("run.sh", "old\n").chmod(0o755)
    await tool_env.edit("run.sh", "old", "new")

    assert stat.S_IMODE((tool_env.dir / "run.sh").stat().st_mode) == 0o755


async def test_editing_an_unread_file_adds_a_note(tool_env: ToolEnv) -> None:
    tool_env.write_file("a.txt", "old\n")
    result = await tool_env.edit("a.txt", "old", "new")

    assert not result.is_error
    assert "had not read this file" in result.message


async def test_editing_a_file_that_was_read_adds_no_note(tool_env: ToolEnv) -> None:
    tool_env.write_file("a.txt", "old\n")
    await tool_env.read("a.txt")
    assert "read" not in (await tool_env.edit("a.txt", "old", "new")).message
    assert "read" not in (await tool_env.edit("a.txt", "new", "newer")).message


async def test_editing_a_file_that_changed_since_it_was_read_adds_a_note(tool_env: ToolEnv) -> None:
    tool_env.write_file("a.txt", "old\n")
    await tool_env.read("a.txt")
    tool_env.write_file("a.txt", "old\nand more\n")
    assert "changed on disk since" in (await tool_env.edit("a.txt", "old", "new")).message


async def test_a_touched_file_does_not_count_as_changed(tool_env: ToolEnv) -> None:
    path = tool_env.write_file("a.txt", "old\n")
    await tool_env.read("a.txt")
    os.utime(path, (0, 0))
    assert "changed" not in (await tool_env.edit("a.txt", "old", "new")).message


async def test_a_file_that_changes_while_awaiting_approval_is_not_written(tool_env: ToolEnv) -> None:
    tool_env.write_file("a.txt", "old\n")
    tool_env.user.on_request = lambda: tool_env.write_file("a.txt", "old\ntheirs\n")
    result = await tool_env.edit("a.txt", "old", "new")

    assert result.is_error
    assert "changed on disk" in result.message
    assert tool_env.read_bytes("a.txt") == b"old\ntheirs\n"


async def test_a_file_removed_while_awaiting_approval_is_not_recreated(tool_env: ToolEnv) -> None:
    path = tool_env.write_file("a.txt", "old\n")
    tool_env.user.on_request = path.unlink
    assert (await tool_env.edit("a.txt", "old", "new")).is_error
    assert not path.exists()


async def test_a_file_that_is_too_large_is_refused(tool_env: ToolEnv) -> None:
    with tool_env.write_file("huge").open("wb") as file:
        file.truncate(1 << 30)
    result = await tool_env.edit("huge", "a", "b")

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
def test_all_forms_in_which_models_pass_edits_are_accepted(arguments: dict[str, Any]) -> None:
    params = EditFile.Params.model_validate({"path": "x", **arguments})
    assert [(edit.old, edit.new) for edit in params.all_edits] == [("a", "b")]


def test_a_call_without_edits_is_invalid() -> None:
    with pytest.raises(ValidationError, match="either edit or edits"):
        EditFile.Params.model_validate({"path": "x"})
