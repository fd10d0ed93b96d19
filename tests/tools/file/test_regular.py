"""Opening regular files, and reading what has no end."""

import errno
import os
from pathlib import Path

import pytest

from kimi_tui.base.errors import FileProblem
from kimi_tui.tools.file.lines import Limits, survey
from kimi_tui.tools.file.regular import file_problem, open_regular
from tests.tools.desk import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_a_link_that_took_the_files_place_is_not_followed(desk: Desk) -> None:
    path, other = desk.put("a.txt", "mine"), desk.put("other.txt", "theirs")
    located = desk.workspace.locate("a.txt")
    path.unlink()
    path.symlink_to(other)

    with pytest.raises(FileProblem, match="symbolic link"):
        open_regular(located)


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_nor_one_that_took_the_place_of_a_folder_above(desk: Desk) -> None:
    desk.put("d/config", "mine"), desk.put("secrets/config", "theirs")
    located = desk.workspace.locate("d/config")
    (desk.dir / "d").rename(desk.dir / "old")
    (desk.dir / "d").symlink_to("secrets")

    with pytest.raises(FileProblem, match="symbolic link"):
        open_regular(located)


@pytest.mark.skipif(os.name == "nt", reason="there is none")
@pytest.mark.timeout(60)
def test_a_file_without_size_and_end_is_not_read_for_ever() -> None:
    with Path("/dev/zero").open("rb") as endless:
        assert survey(endless, Limits(surveyed_bytes=1 << 22)) is None


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (errno.EACCES, "denied"),
        (errno.ENOSPC, "no space left"),
        (errno.EDQUOT, "no space left"),
        (errno.EFBIG, "no space left"),
        (errno.EROFS, "read-only"),
        (errno.EIO, "can't be used"),
        (errno.ENAMETOOLONG, "too long"),
    ],
)
def test_what_the_system_refuses_is_put_in_words(desk: Desk, number: int, said: str) -> None:
    problem = file_problem(desk.workspace.locate("a.txt"), OSError(number, os.strerror(number)))

    assert said in problem.what
    assert problem.hint
