"""LS, as a model sees it."""

import os
import socket
from pathlib import Path
from typing import Any

import pytest

from kimi_tui.tools.search.ls import LS
from kimi_tui.wire.events import ToolReturn
from tests.tools.desk import Desk, brief, output


async def ls(desk: Desk, **arguments: Any) -> ToolReturn:
    return await desk.run(LS(desk.workspace), **arguments)


async def test_folders_come_first_and_files_have_sizes(desk: Desk) -> None:
    desk.put("b.txt", "x" * 1500)
    desk.put("a.txt", "x")
    desk.put("z/c.txt")
    result = await ls(desk)

    assert output(result) == "z/\na.txt  1 byte\nb.txt  1.5 KB\n"
    assert brief(result) == "3 entries"


async def test_deeper_levels_are_indented(desk: Desk) -> None:
    desk.put("a/b/c.txt", "x")
    desk.put("a/d.txt", "x")

    assert output(await ls(desk, depth=2)) == "a/\n  b/\n  d.txt  1 byte\n"
    assert output(await ls(desk, depth=3)) == "a/\n  b/\n    c.txt  1 byte\n  d.txt  1 byte\n"


async def test_what_git_ignores_is_marked_and_not_looked_into(project: Desk) -> None:
    lines = output(await ls(project, depth=3)).splitlines()

    assert "build/  (git-ignored)" in lines
    assert "debug.log  7 bytes  (git-ignored)" in lines
    assert "  out.py  11 bytes" not in lines
    assert lines[0:2] == [".git/", ".github/"]


async def test_an_ignored_folder_is_listed_when_asked_for(project: Desk) -> None:
    assert output(await ls(project, path="build")) == "out.py  11 bytes\n"


async def test_unwanted_entries_are_left_out(project: Desk) -> None:
    lines = output(await ls(project, depth=2, ignore=["*.py", ".git*", "src/b.*", "build/"])).splitlines()
    assert lines == ["src/", "README.md  13 bytes", "debug.log  7 bytes  (git-ignored)"]


async def test_a_thousand_entries_are_shown_upper_levels_first(desk: Desk) -> None:
    for number in range(1500):
        desk.put(f"many/{number:04}")
    desk.put("few/one")
    desk.put("top.txt")
    result = await ls(desk, depth=2)
    lines = output(result).splitlines()

    assert len(lines) == 1001
    assert "top.txt  0 bytes" in lines
    assert "  one  0 bytes" in lines
    assert "  ... 504 more" in lines
    assert "There are more" in result.message


@pytest.mark.skipif(os.name == "nt", reason="there are none")
async def test_links_and_special_files_say_what_they_are(desk: Desk) -> None:
    os.mkfifo(desk.dir / "fifo")
    (desk.dir / "link").symlink_to("nowhere")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(desk.dir / "socket"))

    assert output(await ls(desk)) == "fifo  (a named pipe (FIFO))\nlink -> nowhere\nsocket  (a socket)\n"


@pytest.mark.skipif(os.name == "nt", reason="names are text there")
async def test_names_are_bytes(desk: Desk) -> None:
    desk.put(os.fsdecode(b"caf\xe9\n"))
    assert output(await ls(desk)) == "caf\ufffd\ufffd  0 bytes\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"path": "missing"}, "does not exist"),
        ({"path": "file.txt"}, "no folder"),
        ({"path": ".."}, "absolute path"),
        ({"ignore": ["{a"]}, "no “}”"),
    ],
)
async def test_what_cannot_be_listed_is_a_clear_error(
    desk: Desk, arguments: dict[str, Any], said: str
) -> None:
    desk.put("file.txt")
    result = await ls(desk, **arguments)

    assert result.is_error
    assert said in result.message


async def test_outside_of_the_work_dir_an_absolute_path_is_needed(desk: Desk, tmp_path: Path) -> None:
    assert output(await ls(desk, path=str(tmp_path))) == "work/\n"
