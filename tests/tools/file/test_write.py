"""WriteFile, as a model and a user see it."""

import os
import socket
import stat
from pathlib import Path

import pytest

from kimi_tui.tools.approval import PathSubject, ToolRejected
from tests.tools.desk import Desk, brief, hunks


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    folder = tmp_path / "work"
    folder.mkdir()
    return Desk(folder)


async def test_a_new_file_is_written_with_its_folders_after_consent(desk: Desk) -> None:
    desk.user.while_asked = lambda: existing.append((desk.dir / "src").exists())
    existing: list[bool] = []
    result = await desk.write("src/deep/a.py", "one\ntwo\n")

    assert existing == [False]
    assert desk.bytes_of("src/deep/a.py") == b"one\ntwo\n"
    assert not result.is_error
    assert "Created src/deep/a.py: +2 −0." in result.message
    assert brief(result) == "+2 −0"
    assert desk.log.turns == 1


async def test_consent_is_asked_with_the_whole_diff(desk: Desk) -> None:
    path = desk.put("a.py", "one\ntwo\nthree\n")
    await desk.write("a.py", "one\n2\nthree\n")

    (asked,) = desk.user.asked
    assert asked.action == "edit file"
    assert asked.subject == PathSubject(path)
    assert "Overwrite a.py" in asked.description
    (hunk,) = hunks(asked.display)
    assert (hunk.path, hunk.old_text, hunk.new_text) == ("a.py", "one\ntwo\nthree\n", "one\n2\nthree\n")


async def test_without_consent_nothing_is_written(desk: Desk) -> None:
    desk.user.refuses = True
    with pytest.raises(ToolRejected):
        await desk.write("src/a.py", "one\n")

    assert list(desk.dir.iterdir()) == []


async def test_outside_of_the_work_dir_consent_is_of_its_own_kind(desk: Desk, tmp_path: Path) -> None:
    target = tmp_path / "elsewhere.txt"
    await desk.write(str(target), "hello\n")

    assert desk.user.actions == ["edit file outside of working directory"]
    assert target.read_text() == "hello\n"


async def test_a_relative_path_out_of_the_work_dir_is_refused(desk: Desk, tmp_path: Path) -> None:
    result = await desk.write("../elsewhere.txt", "hello\n")

    assert result.is_error
    assert desk.user.asked == []
    assert not (tmp_path / "elsewhere.txt").exists()


async def test_through_a_link_its_target_is_written(desk: Desk, tmp_path: Path) -> None:
    target = tmp_path / "target.txt"
    target.write_text("old\n")
    (desk.dir / "link.txt").symlink_to(target)
    await desk.write("link.txt", "new\n")

    assert target.read_text() == "new\n"
    assert (desk.dir / "link.txt").is_symlink()
    assert desk.user.actions == ["edit file outside of working directory"]
    assert str(target) in desk.user.asked[0].description


async def test_a_link_turned_elsewhere_while_asked_is_not_followed(desk: Desk, tmp_path: Path) -> None:
    harmless, precious = desk.put("harmless.txt", "x\n"), tmp_path / "precious.txt"
    precious.write_text("x\n")
    link = desk.dir / "link.txt"
    link.symlink_to(harmless)

    def turn() -> None:
        link.unlink()
        link.symlink_to(precious)

    desk.user.while_asked = turn
    result = await desk.write("link.txt", "new\n")
    assert result.is_error
    assert "somewhere else" in result.message
    assert precious.read_text() == "x\n"


async def test_a_file_that_appears_while_asked_is_not_overwritten(desk: Desk) -> None:
    desk.user.while_asked = lambda: desk.put("a.txt", "theirs\n")
    result = await desk.write("a.txt", "mine\n")

    assert result.is_error
    assert "changed on disk" in result.message
    assert desk.bytes_of("a.txt") == b"theirs\n"


async def test_append_adds_to_the_end(desk: Desk) -> None:
    desk.put("log.txt", "one\n")
    result = await desk.write("log.txt", "two\n", mode="append")

    assert desk.bytes_of("log.txt") == b"one\ntwo\n"
    assert "Appended to log.txt: +1 −0." in result.message


async def test_append_says_when_it_continues_a_line(desk: Desk) -> None:
    desk.put("log.txt", "one")
    result = await desk.write("log.txt", "two\n", mode="append")

    assert desk.bytes_of("log.txt") == b"onetwo\n"
    assert "did not end in a newline" in result.message


@pytest.mark.parametrize("mode", ["overwrite", "append"])
async def test_crlf_line_endings_are_kept(desk: Desk, mode: str) -> None:
    desk.put("a.txt", b"one\r\n")
    result = await desk.write("a.txt", "two\nthree\n", mode=mode)

    assert desk.bytes_of("a.txt").endswith(b"two\r\nthree\r\n")
    assert "CRLF" in result.message


@pytest.mark.parametrize("mode", ["overwrite", "append"])
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
async def test_encoding_and_byte_order_mark_are_kept(desk: Desk, encoding: str, mode: str) -> None:
    desk.put("a.txt", "größe\n".encode(encoding))
    await desk.write("a.txt", "höhe\n", mode=mode)

    expected = "höhe\n" if mode == "overwrite" else "größe\nhöhe\n"
    assert desk.bytes_of("a.txt") == expected.encode(encoding)


async def test_binary_data_is_overwritten_but_never_appended_to(desk: Desk) -> None:
    desk.put("a.bin", b"\x00\x01\xff")
    assert (await desk.write("a.bin", "text", mode="append")).is_error

    result = await desk.write("a.bin", "text")
    assert "binary data before" in result.message
    assert hunks(desk.user.asked[0].display)[0].is_summary


async def test_the_mode_is_kept(desk: Desk) -> None:
    desk.put("run.sh", "old\n").chmod(0o750)
    await desk.write("run.sh", "new\n")

    assert stat.S_IMODE((desk.dir / "run.sh").stat().st_mode) == 0o750


async def test_a_new_file_has_the_usual_mode(desk: Desk) -> None:
    (desk.dir / "usual.txt").touch()
    await desk.write("new.txt", "x")

    usual, new = (desk.dir / "usual.txt").stat(), (desk.dir / "new.txt").stat()
    assert stat.S_IMODE(new.st_mode) == stat.S_IMODE(usual.st_mode)


async def test_a_write_replaces_the_file_in_one_instant(desk: Desk) -> None:
    """Who has the old file open reads the old content, whole; nothing else is left in the folder."""
    path = desk.put("a.txt", "old content\n")
    with path.open() as reader:
        await desk.write("a.txt", "new\n")
        assert reader.read() == "old content\n"

    assert [entry.name for entry in desk.dir.iterdir()] == ["a.txt"]


async def test_a_write_protected_file_is_not_replaced(desk: Desk) -> None:
    desk.put("a.txt", "old\n").chmod(0o444)
    result = await desk.write("a.txt", "new\n")

    assert result.is_error
    assert "write-protected" in result.message
    assert desk.user.asked == []


async def test_other_names_of_the_file_are_spoken_of(desk: Desk) -> None:
    os.link(desk.put("a.txt", "old\n"), desk.dir / "b.txt")
    result = await desk.write("a.txt", "new\n")

    assert desk.bytes_of("b.txt") == b"old\n"
    assert "hard links" in result.message


async def test_overwriting_what_was_not_read_says_so(desk: Desk) -> None:
    desk.put("a.txt", "old\n")
    assert "had not read this file" in (await desk.write("a.txt", "new\n")).message


async def test_overwriting_what_was_read_does_not(desk: Desk) -> None:
    desk.put("a.txt", "old\n")
    await desk.read("a.txt")
    assert "read" not in (await desk.write("a.txt", "new\n")).message


async def test_overwriting_what_the_model_wrote_itself_does_not(desk: Desk) -> None:
    await desk.write("a.txt", "first\n")
    assert "read" not in (await desk.write("a.txt", "second\n")).message


async def test_overwriting_what_changed_since_it_was_read_says_so(desk: Desk) -> None:
    desk.put("a.txt", "old\n")
    await desk.read("a.txt")
    desk.put("a.txt", "theirs\n")
    assert "changed on disk since" in (await desk.write("a.txt", "new\n")).message


async def test_appending_needs_no_reading(desk: Desk) -> None:
    desk.put("a.txt", "old\n")
    assert "read" not in (await desk.write("a.txt", "new\n", mode="append")).message


async def test_the_same_content_is_not_written_again(desk: Desk) -> None:
    desk.put("a.txt", "same\n")
    result = await desk.write("a.txt", "same\n")

    assert not result.is_error
    assert desk.user.asked == []


@pytest.mark.skipif(os.name == "nt", reason="there are none")
@pytest.mark.timeout(60)
async def test_nothing_but_regular_files_is_written(desk: Desk) -> None:
    os.mkfifo(desk.dir / "fifo")
    (desk.dir / "folder").mkdir()
    (desk.dir / "loop").symlink_to("loop")
    desk.put("file")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(desk.dir / "socket"))
        for path in ("fifo", "folder", "loop", "socket", "/dev/null", "file/below"):
            assert (await desk.write(path, "x")).is_error, path
    assert desk.user.asked == []


async def test_half_a_character_is_refused_in_words(desk: Desk) -> None:
    result = await desk.write("a.txt", "\ud83d")

    assert result.is_error
    assert "surrogate" in result.message


async def test_a_change_too_long_to_show_is_described(desk: Desk) -> None:
    result = await desk.write("a.txt", "line\n" * 50_000)
    (block,) = hunks(desk.user.asked[0].display)

    assert block.is_summary
    assert "50,000 lines" in block.new_text
    assert brief(result) == "+50000 −0"
