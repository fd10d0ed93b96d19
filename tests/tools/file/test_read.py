"""ReadFile, as a model and a user see it."""

import os
import socket
from pathlib import Path

import pytest
from pydantic import ValidationError

from kimi_tui.tools.approval import PathSubject, ToolRejected
from kimi_tui.tools.file.lines import Limits
from kimi_tui.tools.file.read import ReadFile
from tests.tools.desk import Desk, brief, output

ENDLESS = 3 << 30


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def numbered(*lines: tuple[int, str]) -> str:
    return "".join(f"{number:6}\t{text}\n" for number, text in lines)


async def test_lines_are_numbered_and_the_total_is_said(desk: Desk) -> None:
    desk.put("a.txt", "one\ntwo\nthree\n")
    result = await desk.read("a.txt")

    assert not result.is_error
    assert output(result) == numbered((1, "one"), (2, "two"), (3, "three"))
    assert "lines 1–3 of 3" in result.message
    assert brief(result) == "lines 1–3 of 3"
    assert desk.user.asked == []


async def test_a_part_is_read_and_what_follows_is_said(desk: Desk) -> None:
    desk.put("a.txt", "".join(f"{number}\n" for number in range(1, 101)))
    result = await desk.read("a.txt", line_offset=40, n_lines=2)

    assert output(result) == numbered((40, "40"), (41, "41"))
    assert "lines 40–41 of 100" in result.message
    assert "goes on with line 42" in result.message


async def test_a_negative_offset_counts_from_the_end(desk: Desk) -> None:
    desk.put("a.txt", "".join(f"{number}\n" for number in range(1, 101)))

    assert output(await desk.read("a.txt", line_offset=-2)) == numbered((99, "99"), (100, "100"))
    assert output(await desk.read("a.txt", line_offset=-500, n_lines=1)) == numbered((1, "1"))


async def test_a_last_line_without_newline_counts(desk: Desk) -> None:
    desk.put("a.txt", "one\ntwo")
    result = await desk.read("a.txt", line_offset=-1)

    assert output(result) == numbered((2, "two"))
    assert "line 2 of 2" in result.message


async def test_only_newlines_end_lines(desk: Desk) -> None:
    desk.put("a.txt", "a\u2028b\x0cc\x85d\re\n")
    result = await desk.read("a.txt")

    assert output(result) == numbered((1, "a\u2028b\x0cc\x85d\re"))


async def test_line_endings_are_named_and_not_shown(desk: Desk) -> None:
    desk.put("a.txt", b"one\r\ntwo\r\n")
    result = await desk.read("a.txt")

    assert output(result) == numbered((1, "one"), (2, "two"))
    assert "CRLF" in result.message


async def test_a_byte_order_mark_is_not_shown(desk: Desk) -> None:
    desk.put("a.txt", b"\xef\xbb\xbfone\n")
    assert output(await desk.read("a.txt")) == numbered((1, "one"))


async def test_an_empty_file_is_said_to_be_empty(desk: Desk) -> None:
    desk.put("a.txt")
    result = await desk.read("a.txt")

    assert not result.is_error
    assert "empty" in result.message


async def test_a_line_beyond_the_end_is_an_error_with_the_total(desk: Desk) -> None:
    desk.put("a.txt", "one\n")
    result = await desk.read("a.txt", line_offset=7)

    assert result.is_error
    assert "1 line;" in result.message


async def test_at_most_a_thousand_lines_are_read(desk: Desk) -> None:
    desk.put("a.txt", "x\n" * 3000)
    result = await desk.read("a.txt", n_lines=5000)

    assert output(result).count("\n") == 1000
    assert "lines 1–1000 of 3000" in result.message


async def test_a_long_line_is_cut_and_its_length_said(desk: Desk) -> None:
    desk.put("a.txt", "é" * 50_000 + "\nnext\n")
    lines = output(await desk.read("a.txt")).splitlines()

    assert lines[0].count("é") == 2000
    assert "100,000 bytes" in lines[0]
    assert lines[1].endswith("next")


async def test_the_output_stays_within_100_kilobytes(desk: Desk) -> None:
    desk.put("a.txt", ("ö" * 990 + "\n") * 1000)
    result = await desk.read("a.txt")
    n_lines = output(result).count("\n")

    assert 40 < n_lines < 60
    assert len(output(result).encode()) <= 100 * 1024
    assert f"line_offset={n_lines + 1}" in result.message


async def test_bytes_that_are_no_utf8_are_replaced_and_said(desk: Desk) -> None:
    desk.put("a.txt", b"caf\xe9 au lait\n")
    result = await desk.read("a.txt")

    assert output(result) == numbered((1, "caf\ufffd au lait"))
    assert "not UTF-8" in result.message


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("größe\n".encode("utf-16"), "UTF-16 text"),
        ("plain text\n".encode("utf-16-le"), "UTF-16 text without a byte order mark"),
        ("plain text\n".encode("utf-16-be"), "UTF-16 text without a byte order mark"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "a PNG image"),
        (b"\x7fELF\x02\x01\x01\x00", "an executable"),
        (b"some\x00thing", "binary data"),
    ],
)
async def test_what_is_no_utf8_text_is_a_clear_error(desk: Desk, content: bytes, said: str) -> None:
    desk.put("a.bin", content)
    result = await desk.read("a.bin")

    assert result.is_error
    assert said in result.message
    assert "shell command" in result.message


async def test_utf16_says_how_to_convert_it(desk: Desk) -> None:
    desk.put("a b.txt", "text".encode("utf-16"))
    assert "iconv -f UTF-16 -t UTF-8 'a b.txt'" in (await desk.read("a b.txt")).message


async def test_a_missing_file_names_near_ones(desk: Desk) -> None:
    desk.put("src/settings.py")
    result = await desk.read("src/setings.py")

    assert result.is_error
    assert "Did you mean src/settings.py?" in result.message


async def test_a_missing_folder_names_the_nearest_that_exists(desk: Desk) -> None:
    desk.put("src/a.py")
    assert "The nearest folder that exists is src." in (await desk.read("src/b/c/d.py")).message


@pytest.mark.skipif(os.name == "nt", reason="there are none")
@pytest.mark.timeout(60)
async def test_nothing_but_regular_files_is_read(desk: Desk) -> None:
    os.mkfifo(desk.dir / "fifo")
    (desk.dir / "folder").mkdir()
    (desk.dir / "loop").symlink_to("loop")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(desk.dir / "socket"))
        for path, said in (
            ("fifo", "FIFO"),
            ("folder", "folder"),
            ("loop", "circle"),
            ("socket", "socket"),
            ("/dev/zero", "device"),
            ("/dev/tty", "device"),
        ):
            result = await desk.read(path)
            assert result.is_error, path
            assert said in result.message


@pytest.mark.timeout(60)
async def test_a_huge_empty_file_is_no_text(desk: Desk) -> None:
    with desk.put("huge").open("wb") as file:
        file.truncate(ENDLESS)

    result = await desk.read("huge")
    assert result.is_error
    assert "binary" in result.message


@pytest.mark.timeout(60)
async def test_a_huge_log_is_read_at_both_ends_without_reading_it_all(desk: Desk) -> None:
    with desk.put("huge.log", "first\nsecond\n" + "x" * 10_000).open("r+b") as file:
        file.seek(ENDLESS)
        file.write(b"\nlast but one\nlast\n")

    head = await desk.read("huge.log", n_lines=2)
    assert output(head) == numbered((1, "first"), (2, "second"))
    assert "of a file of 3.2 GB" in head.message

    tail = await desk.read("huge.log", line_offset=-2)
    assert output(tail) == numbered((-2, "last but one"), (-1, "last"))
    assert "counted from the end" in tail.message


async def test_a_line_too_deep_in_a_huge_file_is_an_error(tmp_path: Path) -> None:
    desk = Desk(tmp_path, limits=Limits(surveyed_bytes=1000, scanned_bytes=2000))
    desk.put("huge.log", "x" * 1_500_000 + "\n" + "y\n" * 1_000_000)
    result = await desk.read("huge.log", line_offset=900_000)

    assert result.is_error
    assert "negative line_offset" in result.message


async def test_lines_deep_in_a_large_file_are_found(tmp_path: Path) -> None:
    desk = Desk(tmp_path, limits=Limits(surveyed_bytes=1000))
    desk.put("large.log", "".join(f"line {number}\n" for number in range(1, 100_001)))

    assert "line 50000\n" in output(await desk.read("large.log", line_offset=50_000, n_lines=1))
    tail = output(await desk.read("large.log", line_offset=-50_000, n_lines=1))
    assert tail == numbered((-50_000, "line 50001"))


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
async def test_secrets_are_read_only_with_consent(desk: Desk, name: str) -> None:
    path = desk.put(name, "TOKEN=abc\n")
    result = await desk.read(name)

    assert desk.user.actions == ["read secret file"]
    assert desk.user.asked[0].subject == PathSubject(path, writes=False)
    assert "abc" in output(result)


@pytest.mark.parametrize("name", SECRETS)
async def test_secrets_stay_secret_without_consent(desk: Desk, name: str) -> None:
    desk.put(name, "TOKEN=abc\n")
    desk.user.refuses = True

    with pytest.raises(ToolRejected):
        await desk.read(name)


async def test_a_link_to_a_secret_is_a_secret(desk: Desk) -> None:
    desk.put(".env", "TOKEN=abc\n")
    (desk.dir / "notes.txt").symlink_to(".env")
    await desk.read("notes.txt")

    assert desk.user.actions == ["read secret file"]
    assert str(desk.dir / ".env") in desk.user.asked[0].description


async def test_what_was_allowed_is_what_is_read(desk: Desk) -> None:
    """A link put in the place of the file while the user is asked leads nowhere."""
    secret = desk.put(".env", "TOKEN=abc\n")
    other = desk.put("other/id_rsa", "a key")

    def swap() -> None:
        secret.unlink()
        secret.symlink_to(other)

    desk.user.while_asked = swap
    result = await desk.read(".env")
    assert result.is_error
    assert "a key" not in output(result)


@pytest.mark.parametrize("name", [".env.example", "id_rsa.pub", "environment.py", "keys.py"])
async def test_what_only_looks_like_a_secret_is_read(desk: Desk, name: str) -> None:
    desk.put(name, "hello\n")
    await desk.read(name)

    assert desk.user.asked == []


async def test_our_own_settings_are_secret(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KIMI_SHARE_DIR", str(desk.dir / "share"))
    desk.put("share/config.toml", "api_key = 'abc'\n")
    await desk.read("share/config.toml")

    assert desk.user.actions == ["read secret file"]


def test_no_lines_are_no_request() -> None:
    with pytest.raises(ValidationError):
        ReadFile.Params.model_validate({"path": "a", "n_lines": 0})
