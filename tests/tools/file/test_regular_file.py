"""Opening of regular files, and reading of endless ones."""

import errno
import os
from pathlib import Path

import pytest

from kimi_tui.base.errors import FileProblem
from kimi_tui.tools.file.line_reader import ReadLimits, build_line_index
from kimi_tui.tools.file.regular_file import open_regular, to_file_problem
from tests.tools.tool_env import ToolEnv


@pytest.fixture
def tool_env(tmp_path: Path) -> ToolEnv:
    return ToolEnv(tmp_path)


@pytest.mark.skipif(os.name == "nt", reason="links need privileges on Windows")
def test_a_link_that_replaced_the_file_is_not_followed(tool_env: ToolEnv) -> None:
    path, other = tool_env.write_file("a.txt", "mine"), tool_env.write_file("other.txt", "theirs")
    located = tool_env.path_scope.locate("a.txt")
    path.unlink()
    path.symlink_to(other)

    with pytest.raises(FileProblem, match="symbolic link"):
        open_regular(located)


@pytest.mark.skipif(os.name == "nt", reason="links need privileges on Windows")
def test_a_link_that_replaced_a_parent_directory_is_not_followed(tool_env: ToolEnv) -> None:
    tool_env.write_file("d/config", "mine"), tool_env.write_file("secrets/config", "theirs")
    located = tool_env.path_scope.locate("d/config")
    (tool_env.dir / "d").rename(tool_env.dir / "old")
    (tool_env.dir / "d").symlink_to("secrets")

    with pytest.raises(FileProblem, match="symbolic link"):
        open_regular(located)


@pytest.mark.skipif(os.name == "nt", reason="not available on Windows")
@pytest.mark.timeout(60)
def test_an_endless_file_is_read_up_to_the_limit() -> None:
    with Path("/dev/zero").open("rb") as endless:
        assert build_line_index(endless, ReadLimits(indexed_bytes=1 << 22)) is None


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (errno.EACCES, "denied"),
        (errno.ENOSPC, "No space left"),
        (errno.EDQUOT, "No space left"),
        (errno.EFBIG, "No space left"),
        (errno.EROFS, "read-only"),
        (errno.EIO, "can't be used"),
        (errno.ENAMETOOLONG, "too long"),
    ],
)
def test_system_errors_are_explained(tool_env: ToolEnv, number: int, expected: str) -> None:
    problem = to_file_problem(tool_env.path_scope.locate("a.txt"), OSError(number, os.strerror(number)))

    assert expected in problem.what
    assert problem.hint
