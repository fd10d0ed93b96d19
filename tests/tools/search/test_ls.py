"""LS, as seen by the model."""

import os
import socket
from pathlib import Path
from typing import Any

import pytest

from kimi_tui.tools.search.ls import LS
from kimi_tui.wire.events import ToolReturn
from tests.tools.tool_env import ToolEnv, brief_text, output_text


async def ls(tool_env: ToolEnv, **arguments: Any) -> ToolReturn:
    return await tool_env.run(LS(tool_env.path_scope, tool_env.user), **arguments)


async def test_directories_come_first_and_files_have_sizes(tool_env: ToolEnv) -> None:
    tool_env.write_file("b.txt", "x" * 1500)
    tool_env.write_file("a.txt", "x")
    tool_env.write_file("z/c.txt")
    result = await ls(tool_env)

    assert output_text(result) == "z/\na.txt  1 byte\nb.txt  1.5 KB\n"
    assert brief_text(result) == "3 entries"


async def test_deeper_levels_are_indented(tool_env: ToolEnv) -> None:
    tool_env.write_file("a/b/c.txt", "x")
    tool_env.write_file("a/d.txt", "x")

    assert output_text(await ls(tool_env, depth=2)) == "a/\n  b/\n  d.txt  1 byte\n"
    assert output_text(await ls(tool_env, depth=3)) == "a/\n  b/\n    c.txt  1 byte\n  d.txt  1 byte\n"


async def test_ignored_entries_are_marked_and_not_entered(project: ToolEnv) -> None:
    lines = output_text(await ls(project, depth=3)).splitlines()

    assert "build/  (git-ignored)" in lines
    assert "debug.log  7 bytes  (git-ignored)" in lines
    assert "  out.py  11 bytes" not in lines
    assert lines[0:2] == [".git/", ".github/"]


async def test_an_ignored_directory_is_listed_on_request(project: ToolEnv) -> None:
    assert output_text(await ls(project, path="build")) == "out.py  11 bytes\n"


async def test_entries_that_match_ignore_are_left_out(project: ToolEnv) -> None:
    lines = output_text(
        await ls(project, depth=2, ignore=["*.py", ".git*", "src/b.*", "build/"])
    ).splitlines()
    assert lines == ["src/", "README.md  13 bytes", "debug.log  7 bytes  (git-ignored)"]


async def test_a_thousand_entries_are_shown_upper_levels_first(tool_env: ToolEnv) -> None:
    for number in range(1500):
        tool_env.write_file(f"many/{number:04}")
    tool_env.write_file("few/one")
    tool_env.write_file("top.txt")
    result = await ls(tool_env, depth=2)
    lines = output_text(result).splitlines()

    assert len(lines) == 1001
    assert "top.txt  0 bytes" in lines
    assert "  one  0 bytes" in lines
    assert "  ... 504 more" in lines
    assert "There are more" in result.message


@pytest.mark.skipif(os.name == "nt", reason="not available on Windows")
async def test_links_and_special_files_are_described(tool_env: ToolEnv) -> None:
    os.mkfifo(tool_env.dir / "fifo")
    (tool_env.dir / "link").symlink_to("nowhere")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(tool_env.dir / "socket"))

    assert (
        output_text(await ls(tool_env))
        == "fifo  (a named pipe (FIFO))\nlink -> nowhere\nsocket  (a socket)\n"
    )


@pytest.mark.skipif(os.name == "nt", reason="file names are text on Windows")
async def test_names_that_are_not_text_are_listed(tool_env: ToolEnv) -> None:
    tool_env.write_file(os.fsdecode(b"caf\xe9\n"))
    assert output_text(await ls(tool_env)) == "caf\ufffd\ufffd  0 bytes\n"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"path": "missing"}, "doesn't exist"),
        ({"path": "file.txt"}, "isn't a directory"),
        ({"path": ".."}, "absolute path"),
        ({"ignore": ["{a"]}, "without “}”"),
    ],
)
async def test_paths_that_cannot_be_listed_are_errors(
    tool_env: ToolEnv, arguments: dict[str, Any], expected: str
) -> None:
    tool_env.write_file("file.txt")
    result = await ls(tool_env, **arguments)

    assert result.is_error
    assert expected in result.message


async def test_an_absolute_path_may_be_outside_of_the_work_dir(tool_env: ToolEnv, tmp_path: Path) -> None:
    assert output_text(await ls(tool_env, path=str(tmp_path))) == "work/\n"
