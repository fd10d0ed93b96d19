"""WriteFile, as seen by the model and the user."""

import os
import socket
import stat
from pathlib import Path

import pytest

from kimi_tui.permission.subject import PathSubject
from kimi_tui.tools.approval import ToolRejected
from tests.tools.tool_env import ToolEnv, brief_text, diff_blocks


@pytest.fixture
def tool_env(tmp_path: Path) -> ToolEnv:
    folder = tmp_path / "work"
    folder.mkdir()
    return ToolEnv(folder)


async def test_a_new_file_is_created_with_its_directories_after_approval(tool_env: ToolEnv) -> None:
    tool_env.user.on_request = lambda: existing.append((tool_env.dir / "src").exists())
    existing: list[bool] = []
    result = await tool_env.write("src/deep/a.py", "one\ntwo\n")

    assert existing == [False]
    assert tool_env.read_bytes("src/deep/a.py") == b"one\ntwo\n"
    assert not result.is_error
    assert "Created src/deep/a.py: +2 −0." in result.message
    assert brief_text(result) == "+2 −0"
    assert tool_env.log.exclusive_count == 1


async def test_the_request_has_the_full_diff(tool_env: ToolEnv) -> None:
    path = tool_env.write_file("a.py", "one\ntwo\nthree\n")
    await tool_env.write("a.py", "one\n2\nthree\n")

    (request,) = tool_env.user.requests
    assert request.action == "edit file"
    assert request.subject == PathSubject(path)
    assert "Overwrite a.py" in request.description
    (hunk,) = diff_blocks(request.display)
    assert (hunk.path, hunk.old_text, hunk.new_text) == ("a.py", "one\ntwo\nthree\n", "one\n2\nthree\n")


async def test_a_rejected_write_changes_nothing(tool_env: ToolEnv) -> None:
    tool_env.user.rejects = True
    with pytest.raises(ToolRejected):
        await tool_env.write("src/a.py", "one\n")

    assert list(tool_env.dir.iterdir()) == []


async def test_a_write_outside_of_the_work_dir_has_its_own_action(tool_env: ToolEnv, tmp_path: Path) -> None:
    target = tmp_path / "elsewhere.txt"
    await tool_env.write(str(target), "hello\n")

    assert tool_env.user.actions == ["edit file outside of working directory"]
    assert target.read_text() == "hello\n"


async def test_a_relative_path_out_of_the_work_dir_is_refused(tool_env: ToolEnv, tmp_path: Path) -> None:
    result = await tool_env.write("../elsewhere.txt", "hello\n")

    assert result.is_error
    assert tool_env.user.requests == []
    assert not (tmp_path / "elsewhere.txt").exists()


async def test_writing_to_a_link_writes_its_target(tool_env: ToolEnv, tmp_path: Path) -> None:
    target = tmp_path / "target.txt"
    target.write_text("old\n")
    (tool_env.dir / "link.txt").symlink_to(target)
    await tool_env.write("link.txt", "new\n")

    assert target.read_text() == "new\n"
    assert (tool_env.dir / "link.txt").is_symlink()
    assert tool_env.user.actions == ["edit file outside of working directory"]
    assert str(target) in tool_env.user.requests[0].description


async def test_a_link_changed_while_awaiting_approval_is_not_followed(
    tool_env: ToolEnv, tmp_path: Path
) -> None:
    harmless, precious = tool_env.write_file("harmless.txt", "x\n"), tmp_path / "precious.txt"
    precious.write_text("x\n")
    link = tool_env.dir / "link.txt"
    link.symlink_to(harmless)

    def change_target() -> None:
        link.unlink()
        link.symlink_to(precious)

    tool_env.user.on_request = change_target
    result = await tool_env.write("link.txt", "new\n")
    assert result.is_error
    assert "resolves to a different path" in result.message
    assert precious.read_text() == "x\n"


async def test_a_file_created_while_awaiting_approval_is_not_overwritten(tool_env: ToolEnv) -> None:
    tool_env.user.on_request = lambda: tool_env.write_file("a.txt", "theirs\n")
    result = await tool_env.write("a.txt", "mine\n")

    assert result.is_error
    assert "changed on disk" in result.message
    assert tool_env.read_bytes("a.txt") == b"theirs\n"


async def test_append_adds_to_the_end(tool_env: ToolEnv) -> None:
    tool_env.write_file("log.txt", "one\n")
    result = await tool_env.write("log.txt", "two\n", mode="append")

    assert tool_env.read_bytes("log.txt") == b"one\ntwo\n"
    assert "Appended to log.txt: +1 −0." in result.message


async def test_append_notes_that_it_continues_a_line(tool_env: ToolEnv) -> None:
    tool_env.write_file("log.txt", "one")
    result = await tool_env.write("log.txt", "two\n", mode="append")

    assert tool_env.read_bytes("log.txt") == b"onetwo\n"
    assert "did not end in a newline" in result.message


@pytest.mark.parametrize("mode", ["overwrite", "append"])
async def test_crlf_line_endings_are_kept(tool_env: ToolEnv, mode: str) -> None:
    tool_env.write_file("a.txt", b"one\r\n")
    result = await tool_env.write("a.txt", "two\nthree\n", mode=mode)

    assert tool_env.read_bytes("a.txt").endswith(b"two\r\nthree\r\n")
    assert "CRLF" in result.message


@pytest.mark.parametrize("mode", ["overwrite", "append"])
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
async def test_encoding_and_byte_order_mark_are_kept(tool_env: ToolEnv, encoding: str, mode: str) -> None:
    tool_env.write_file("a.txt", "größe\n".encode(encoding))
    await tool_env.write("a.txt", "höhe\n", mode=mode)

    expected = "höhe\n" if mode == "overwrite" else "größe\nhöhe\n"
    assert tool_env.read_bytes("a.txt") == expected.encode(encoding)


async def test_binary_data_is_overwritten_but_never_appended_to(tool_env: ToolEnv) -> None:
    tool_env.write_file("a.bin", b"\x00\x01\xff")
    assert (await tool_env.write("a.bin", "text", mode="append")).is_error

    result = await tool_env.write("a.bin", "text")
    assert "binary data before" in result.message
    assert diff_blocks(tool_env.user.requests[0].display)[0].is_summary


async def test_the_file_mode_is_kept(tool_env: ToolEnv) -> None:
    tool_env.write_file("run.sh", "old\n").chmod(0o750)
    await tool_env.write("run.sh", "new\n")

    assert stat.S_IMODE((tool_env.dir / "run.sh").stat().st_mode) == 0o750


async def test_a_new_file_has_the_default_mode(tool_env: ToolEnv) -> None:
    (tool_env.dir / "usual.txt").touch()
    await tool_env.write("new.txt", "x")

    usual, new = (tool_env.dir / "usual.txt").stat(), (tool_env.dir / "new.txt").stat()
    assert stat.S_IMODE(new.st_mode) == stat.S_IMODE(usual.st_mode)


async def test_a_write_replaces_the_file_atomically(tool_env: ToolEnv) -> None:
    """A reader of the old file sees its full content, and no temporary file remains."""
    path = tool_env.write_file("a.txt", "old content\n")
    with path.open() as reader:
        await tool_env.write("a.txt", "new\n")
        assert reader.read() == "old content\n"

    assert [entry.name for entry in tool_env.dir.iterdir()] == ["a.txt"]


async def test_a_write_protected_file_is_not_replaced(tool_env: ToolEnv) -> None:
    tool_env.write_file("a.txt", "old\n").chmod(0o444)
    result = await tool_env.write("a.txt", "new\n")

    assert result.is_error
    assert "write-protected" in result.message
    assert tool_env.user.requests == []


async def test_hard_links_of_the_file_stay_and_are_reported(tool_env: ToolEnv) -> None:
    file = tool_env.write_file("a.txt", "a longer old text\n")
    os.link(file, tool_env.dir / "b.txt")
    inode = file.stat().st_ino
    result = await tool_env.write("a.txt", "new\n")

    assert (tool_env.dir / "a.txt").stat().st_ino == (tool_env.dir / "b.txt").stat().st_ino == inode
    assert tool_env.read_bytes("b.txt") == b"new\n"
    assert "hard links" in result.message


async def test_a_file_whose_attributes_cant_be_copied_is_overwritten_in_place(
    tool_env: ToolEnv, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tool_env.write_file("a.txt", "old\n")
    try:
        os.setxattr(file, "user.note", b"x")
    except (OSError, AttributeError):
        pytest.skip("the file system has no extended attributes")
    inode = file.stat().st_ino

    def deny(*_args: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "setxattr", deny)
    await tool_env.write("a.txt", "new\n")

    assert file.stat().st_ino == inode
    assert file.read_bytes() == b"new\n"
    assert os.getxattr(file, "user.note") == b"x"


async def test_overwriting_an_unread_file_adds_a_note(tool_env: ToolEnv) -> None:
    tool_env.write_file("a.txt", "old\n")
    assert "had not read this file" in (await tool_env.write("a.txt", "new\n")).message


async def test_overwriting_a_file_that_was_read_adds_no_note(tool_env: ToolEnv) -> None:
    tool_env.write_file("a.txt", "old\n")
    await tool_env.read("a.txt")
    assert "read" not in (await tool_env.write("a.txt", "new\n")).message


async def test_overwriting_a_file_the_model_wrote_adds_no_note(tool_env: ToolEnv) -> None:
    await tool_env.write("a.txt", "first\n")
    assert "read" not in (await tool_env.write("a.txt", "second\n")).message


async def test_overwriting_a_file_that_changed_since_it_was_read_adds_a_note(tool_env: ToolEnv) -> None:
    tool_env.write_file("a.txt", "old\n")
    await tool_env.read("a.txt")
    tool_env.write_file("a.txt", "theirs\n")
    assert "changed on disk since" in (await tool_env.write("a.txt", "new\n")).message


async def test_appending_to_an_unread_file_adds_no_note(tool_env: ToolEnv) -> None:
    tool_env.write_file("a.txt", "old\n")
    assert "read" not in (await tool_env.write("a.txt", "new\n", mode="append")).message


async def test_the_same_content_is_not_written_again(tool_env: ToolEnv) -> None:
    tool_env.write_file("a.txt", "same\n")
    result = await tool_env.write("a.txt", "same\n")

    assert not result.is_error
    assert tool_env.user.requests == []


@pytest.mark.skipif(os.name == "nt", reason="not available on Windows")
@pytest.mark.timeout(60)
async def test_only_regular_files_are_written(tool_env: ToolEnv) -> None:
    os.mkfifo(tool_env.dir / "fifo")
    (tool_env.dir / "folder").mkdir()
    (tool_env.dir / "loop").symlink_to("loop")
    tool_env.write_file("file")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(tool_env.dir / "socket"))
        for path in ("fifo", "folder", "loop", "socket", "/dev/null", "file/below"):
            assert (await tool_env.write(path, "x")).is_error, path
    assert tool_env.user.requests == []


async def test_half_of_a_surrogate_pair_is_refused(tool_env: ToolEnv) -> None:
    result = await tool_env.write("a.txt", "\ud83d")

    assert result.is_error
    assert "surrogate" in result.message


async def test_a_change_too_long_to_show_is_summarized(tool_env: ToolEnv) -> None:
    result = await tool_env.write("a.txt", "line\n" * 50_000)
    (block,) = diff_blocks(tool_env.user.requests[0].display)

    assert block.is_summary
    assert "50,000 lines" in block.new_text
    assert brief_text(result) == "+50000 −0"
