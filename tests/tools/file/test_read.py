"""ReadFile, as seen by the model and the user."""

import os
import socket
from pathlib import Path

import pytest
from pydantic import ValidationError

from kimi_tui.permission.subject import PathSubject
from kimi_tui.tools.approval import ToolRejected
from kimi_tui.tools.file.line_reader import ReadLimits
from kimi_tui.tools.file.read import ReadFile
from tests.tools.tool_env import ToolEnv, brief_text, output_text

ENDLESS = 3 << 30


@pytest.fixture
def tool_env(tmp_path: Path) -> ToolEnv:
    return ToolEnv(tmp_path)


def number_lines(*lines: tuple[int, str]) -> str:
    return "".join(f"{number:6}\t{text}\n" for number, text in lines)


async def test_lines_are_numbered_and_the_total_is_reported(tool_env: ToolEnv) -> None:
    tool_env.write_file("a.txt", "one\ntwo\nthree\n")
    result = await tool_env.read("a.txt")

    assert not result.is_error
    assert output_text(result) == number_lines((1, "one"), (2, "two"), (3, "three"))
    assert "lines 1–3 of 3" in result.message
    assert brief_text(result) == "lines 1–3 of 3"
    assert tool_env.user.requests == []


async def test_a_range_is_read_and_the_message_says_where_to_continue(tool_env: ToolEnv) -> None:
    tool_env.write_file("a.txt", "".join(f"{number}\n" for number in range(1, 101)))
    result = await tool_env.read("a.txt", line_offset=40, n_lines=2)

    assert output_text(result) == number_lines((40, "40"), (41, "41"))
    assert "lines 40–41 of 100" in result.message
    assert "continues with line 42" in result.message


async def test_a_negative_offset_counts_from_the_end(tool_env: ToolEnv) -> None:
    tool_env.write_file("a.txt", "".join(f"{number}\n" for number in range(1, 101)))

    assert output_text(await tool_env.read("a.txt", line_offset=-2)) == number_lines((99, "99"), (100, "100"))
    assert output_text(await tool_env.read("a.txt", line_offset=-500, n_lines=1)) == number_lines((1, "1"))


async def test_a_last_line_without_newline_counts(tool_env: ToolEnv) -> None:
    tool_env.write_file("a.txt", "one\ntwo")
    result = await tool_env.read("a.txt", line_offset=-1)

    assert output_text(result) == number_lines((2, "two"))
    assert "line 2 of 2" in result.message


async def test_only_newlines_end_lines(tool_env: ToolEnv) -> None:
    tool_env.write_file("a.txt", "a\u2028b\x0cc\x85d\re\n")
    result = await tool_env.read("a.txt")

    assert output_text(result) == number_lines((1, "a\u2028b\x0cc\x85d\re"))


async def test_crlf_line_endings_are_reported_and_not_shown(tool_env: ToolEnv) -> None:
    tool_env.write_file("a.txt", b"one\r\ntwo\r\n")
    result = await tool_env.read("a.txt")

    assert output_text(result) == number_lines((1, "one"), (2, "two"))
    assert "CRLF" in result.message


async def test_a_byte_order_mark_is_not_shown(tool_env: ToolEnv) -> None:
    tool_env.write_file("a.txt", b"\xef\xbb\xbfone\n")
    assert output_text(await tool_env.read("a.txt")) == number_lines((1, "one"))


async def test_an_empty_file_is_reported(tool_env: ToolEnv) -> None:
    tool_env.write_file("a.txt")
    result = await tool_env.read("a.txt")

    assert not result.is_error
    assert "empty" in result.message


async def test_a_line_beyond_the_end_is_an_error_with_the_total(tool_env: ToolEnv) -> None:
    tool_env.write_file("a.txt", "one\n")
    result = await tool_env.read("a.txt", line_offset=7)

    assert result.is_error
    assert "1 line;" in result.message


async def test_at_most_a_thousand_lines_are_read(tool_env: ToolEnv) -> None:
    tool_env.write_file("a.txt", "x\n" * 3000)
    result = await tool_env.read("a.txt", n_lines=5000)

    assert output_text(result).count("\n") == 1000
    assert "lines 1–1000 of 3000" in result.message


async def test_a_long_line_is_cut_and_its_length_is_reported(tool_env: ToolEnv) -> None:
    tool_env.write_file("a.txt", "é" * 50_000 + "\nnext\n")
    lines = output_text(await tool_env.read("a.txt")).splitlines()

    assert lines[0].count("é") == 2000
    assert "100,000 bytes" in lines[0]
    assert lines[1].endswith("next")


async def test_the_output_stays_within_100_kilobytes(tool_env: ToolEnv) -> None:
    tool_env.write_file("a.txt", ("ö" * 990 + "\n") * 1000)
    result = await tool_env.read("a.txt")
    n_lines = output_text(result).count("\n")

    assert 40 < n_lines < 60
    assert len(output_text(result).encode()) <= 100 * 1024
    assert f"line_offset={n_lines + 1}" in result.message


async def test_bytes_that_are_not_utf8_are_replaced_and_reported(tool_env: ToolEnv) -> None:
    tool_env.write_file("a.txt", b"caf\xe9 au lait\n")
    result = await tool_env.read("a.txt")

    assert output_text(result) == number_lines((1, "caf\ufffd au lait"))
    assert "not UTF-8" in result.message


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("größe\n".encode("utf-16"), "UTF-16 text"),
        ("plain text\n".encode("utf-16-le"), "UTF-16 text without a byte order mark"),
        ("plain text\n".encode("utf-16-be"), "UTF-16 text without a byte order mark"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "a PNG image"),
        (b"\x7fELF\x02\x01\x01\x00", "an executable"),
        (b"some\x00thing", "binary data"),
    ],
)
async def test_content_that_is_not_utf8_text_is_an_error(
    tool_env: ToolEnv, content: bytes, expected: str
) -> None:
    tool_env.write_file("a.bin", content)
    result = await tool_env.read("a.bin")

    assert result.is_error
    assert expected in result.message
    assert "shell command" in result.message


async def test_the_error_for_utf16_says_how_to_convert_it(tool_env: ToolEnv) -> None:
    tool_env.write_file("a b.txt", "text".encode("utf-16"))
    assert "iconv -f UTF-16 -t UTF-8 'a b.txt'" in (await tool_env.read("a b.txt")).message


async def test_the_error_for_a_missing_file_suggests_similar_names(tool_env: ToolEnv) -> None:
    tool_env.write_file("src/settings.py")
    result = await tool_env.read("src/setings.py")

    assert result.is_error
    assert "Did you mean src/settings.py?" in result.message


async def test_the_error_for_a_missing_directory_names_the_closest_existing_one(tool_env: ToolEnv) -> None:
    tool_env.write_file("src/a.py")
    assert "The closest existing directory is src." in (await tool_env.read("src/b/c/d.py")).message


@pytest.mark.skipif(os.name == "nt", reason="not available on Windows")
@pytest.mark.timeout(60)
async def test_only_regular_files_are_read(tool_env: ToolEnv) -> None:
    os.mkfifo(tool_env.dir / "fifo")
    (tool_env.dir / "folder").mkdir()
    (tool_env.dir / "loop").symlink_to("loop")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(tool_env.dir / "socket"))
        for path, expected in (
            ("fifo", "FIFO"),
            ("folder", "directory"),
            ("loop", "loop"),
            ("socket", "socket"),
            ("/dev/zero", "device"),
            ("/dev/tty", "device"),
        ):
            result = await tool_env.read(path)
            assert result.is_error, path
            assert expected in result.message


@pytest.mark.timeout(60)
async def test_a_huge_sparse_file_is_binary(tool_env: ToolEnv) -> None:
    with tool_env.write_file("huge").open("wb") as file:
        file.truncate(ENDLESS)

    result = await tool_env.read("huge")
    assert result.is_error
    assert "binary" in result.message


@pytest.mark.timeout(60)
async def test_both_ends_of_a_huge_log_are_read_without_reading_all_of_it(tool_env: ToolEnv) -> None:
    with tool_env.write_file("huge.log", "first\nsecond\n" + "x" * 10_000).open("r+b") as file:
        file.seek(ENDLESS)
        file.write(b"\nlast but one\nlast\n")

    head = await tool_env.read("huge.log", n_lines=2)
    assert output_text(head) == number_lines((1, "first"), (2, "second"))
    assert "of a file of 3.2 GB" in head.message

    tail = await tool_env.read("huge.log", line_offset=-2)
    assert output_text(tail) == number_lines((-2, "last but one"), (-1, "last"))
    assert "counted from the end" in tail.message


async def test_a_line_too_far_into_a_huge_file_is_an_error(tmp_path: Path) -> None:
    tool_env = ToolEnv(tmp_path, limits=ReadLimits(indexed_bytes=1000, scanned_bytes=2000))
    tool_env.write_file("huge.log", "x" * 1_500_000 + "\n" + "y\n" * 1_000_000)
    result = await tool_env.read("huge.log", line_offset=900_000)

    assert result.is_error
    assert "negative line_offset" in result.message


async def test_lines_deep_in_a_large_file_are_found(tmp_path: Path) -> None:
    tool_env = ToolEnv(tmp_path, limits=ReadLimits(indexed_bytes=1000))
    tool_env.write_file("large.log", "".join(f"line {number}\n" for number in range(1, 100_001)))

    assert "line 50000\n" in output_text(await tool_env.read("large.log", line_offset=50_000, n_lines=1))
    tail = output_text(await tool_env.read("large.log", line_offset=-50_000, n_lines=1))
    assert tail == number_lines((-50_000, "line 50001"))


SECRETS = [
    ".env",
    ".env.production",
    "prod.env",
    "id_rsa",
    "server.pem",
    ".npmrc",
    ".netrc",
    ".aws/credentials",
]


@pytest.mark.parametrize("name", SECRETS)
async def test_secret_files_need_approval(tool_env: ToolEnv, name: str) -> None:
    path = tool_env.write_file(name, "TOKEN=abc\n")
    result = await tool_env.read(name)

    assert tool_env.user.actions == ["read secret file"]
    assert tool_env.user.requests[0].subject == PathSubject(path, writes=False)
    assert "abc" in output_text(result)


@pytest.mark.parametrize("name", SECRETS)
async def test_a_rejected_secret_file_is_not_read(tool_env: ToolEnv, name: str) -> None:
    tool_env.write_file(name, "TOKEN=abc\n")
    tool_env.user.rejects = True

    with pytest.raises(ToolRejected):
        await tool_env.read(name)


async def test_a_link_to_a_secret_is_a_secret(tool_env: ToolEnv) -> None:
    tool_env.write_file(".env", "TOKEN=abc\n")
    (tool_env.dir / "notes.txt").symlink_to(".env")
    await tool_env.read("notes.txt")

    assert tool_env.user.actions == ["read secret file"]
    assert str(tool_env.dir / ".env") in tool_env.user.requests[0].description


async def test_only_the_approved_file_is_read(tool_env: ToolEnv) -> None:
    """A link that replaces the file while its approval is pending is not followed."""
    secret = tool_env.write_file(".env", "TOKEN=abc\n")
    other = tool_env.write_file("other/id_rsa", "a key")

    def swap() -> None:
        secret.unlink()
        secret.symlink_to(other)

    tool_env.user.on_request = swap
    result = await tool_env.read(".env")
    assert result.is_error
    assert "a key" not in output_text(result)


@pytest.mark.parametrize("name", [".env.example", "id_rsa.pub", "environment.py", "keys.py"])
async def test_files_that_only_look_like_secrets_need_no_approval(tool_env: ToolEnv, name: str) -> None:
    tool_env.write_file(name, "hello\n")
    await tool_env.read(name)

    assert tool_env.user.requests == []


async def test_the_programs_own_config_is_secret(tool_env: ToolEnv, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KIMI_SHARE_DIR", str(tool_env.dir / "share"))
    tool_env.write_file("share/config.toml", "api_key = 'abc'\n")
    await tool_env.read("share/config.toml")

    assert tool_env.user.actions == ["read secret file"]


def test_a_request_for_no_lines_is_invalid() -> None:
    with pytest.raises(ValidationError):
        ReadFile.Params.model_validate({"path": "a", "n_lines": 0})
