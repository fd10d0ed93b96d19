"""Proposals that the user edits before they are written."""

from pathlib import Path

import pytest

from kimi_tui.base.content_parts import text_of
from kimi_tui.tools.file.user_edit import MAX_CHARACTERS
from tests.tools.tool_env import ToolEnv


@pytest.fixture
def tool_env(tmp_path: Path) -> ToolEnv:
    return ToolEnv(tmp_path)


async def test_the_user_can_edit_the_full_new_content(tool_env: ToolEnv) -> None:
    tool_env.write_file("a.py", "one\ntwo\n")
    await tool_env.edit("a.py", "two", "three")
    proposal = tool_env.user.requests[-1].proposal
    assert proposal is not None
    assert (proposal.name, proposal.text) == ("a.py", "one\nthree\n")


async def test_the_users_version_is_written_and_the_model_gets_the_difference(
    tool_env: ToolEnv,
) -> None:
    tool_env.write_file("a.py", "one\ntwo\n")
    tool_env.user.edited_text = "one\nfour\n"
    result = await tool_env.edit("a.py", "two", "three")
    assert tool_env.read_bytes("a.py") == b"one\nfour\n"
    assert "-three\n+four" in text_of(result.output)
    assert "The user edited the change" in result.message
    assert "+1 −1" in result.message
    assert result.display[1].new_text == "one\nfour\n"  # type: ignore[union-attr]


async def test_encoding_and_line_endings_are_kept_in_a_user_edit(tool_env: ToolEnv) -> None:
    tool_env.write_file("a.txt", b"\xef\xbb\xbfone\r\ntwo\r\n")
    tool_env.user.edited_text = "one\nnew\nthree\n"
    await tool_env.edit("a.txt", "two", "three")
    assert tool_env.read_bytes("a.txt") == b"\xef\xbb\xbfone\r\nnew\r\nthree\r\n"


async def test_a_new_file_gets_the_users_version(tool_env: ToolEnv) -> None:
    tool_env.user.edited_text = "theirs\n"
    await tool_env.write("new.txt", "mine\n")
    assert tool_env.read_bytes("new.txt") == b"theirs\n"


async def test_a_user_edit_that_reverts_the_change_writes_nothing(tool_env: ToolEnv) -> None:
    path = tool_env.write_file("a.py", "one\n")
    before = path.stat().st_mtime_ns
    tool_env.user.edited_text = "one\n"
    result = await tool_env.edit("a.py", "one", "two")
    assert not result.is_error
    assert "reverted the change" in result.message
    assert path.stat().st_mtime_ns == before


async def test_a_file_that_changed_during_the_user_edit_is_not_written(tool_env: ToolEnv) -> None:
    path = tool_env.write_file("a.py", "one\n")
    tool_env.user.edited_text = "mine\n"
    tool_env.user.on_request = lambda: path.write_text("somebody else\n")
    result = await tool_env.edit("a.py", "one", "two")
    assert result.is_error
    assert tool_env.read_bytes("a.py") == b"somebody else\n"


async def test_binary_and_very_long_files_are_not_editable(tool_env: ToolEnv) -> None:
    tool_env.write_file("a.bin", b"\x00\x01binary")
    await tool_env.write("a.bin", "text now\n")
    assert tool_env.user.requests[-1].proposal is None
    await tool_env.write("long.txt", "x" * (MAX_CHARACTERS + 1))
    assert tool_env.user.requests[-1].proposal is None
