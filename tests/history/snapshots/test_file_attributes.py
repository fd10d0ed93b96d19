"""A file that is created again gets its owner and attributes back, or the plan says what it can't keep."""

import os
import shutil
from pathlib import Path

import pytest

from tests.history.snapshots.file_history_fixture import FileHistoryFixture

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root can change the owner of a file")
_OWNER, _GROUP = 1234, 5678


def notes(project: FileHistoryFixture, target: str) -> dict[str, str]:
    return {item.path: item.note for item in project.history.plan(target).items}


def owner_of(path: Path) -> tuple[int, int]:
    info = path.stat()
    return info.st_uid, info.st_gid


@root_only
@pytest.mark.parametrize("resumes", [False, True])
def test_a_deleted_folder_and_its_files_get_their_owner_back(tmp_path: Path, resumes: bool):
    project = FileHistoryFixture(tmp_path)
    project.history.open()
    (project.work / "d").mkdir()
    (project.work / "d" / "a").write_text("1\n")
    (project.work / "d" / "a").chmod(0o4755)
    for path in (project.work / "d", project.work / "d" / "a"):
        os.chown(path, _OWNER, _GROUP)
    (project.work / "d" / "a").chmod(0o4755)
    start = project.checkpoint()
    with project.agent():
        shutil.rmtree(project.work / "d")
    if resumes:
        project.history.close()
        project = FileHistoryFixture(tmp_path)
        project.history.open()
    assert notes(project, start) == {"d": "", "d/a": ""}
    project.revert(start)
    assert owner_of(project.work / "d") == owner_of(project.work / "d" / "a") == (_OWNER, _GROUP)
    assert (project.work / "d" / "a").stat().st_mode & 0o7777 == 0o4755
    project.history.close()


def test_a_deleted_file_gets_its_extended_attributes_back(project: FileHistoryFixture):
    path = project.work / "a"
    path.write_text("1\n")
    try:
        os.setxattr(path, "user.origin", b"https://example.org\xff")
    except (OSError, AttributeError):
        pytest.skip("no extended attributes here")
    start = project.checkpoint()
    with project.agent():
        path.unlink()
    assert notes(project, start) == {"a": ""}
    project.revert(start)
    assert os.getxattr(path, "user.origin") == b"https://example.org\xff"


def test_an_attribute_that_was_set_later_is_known(project: FileHistoryFixture):
    path = project.work / "a"
    path.write_text("1\n")
    start = project.checkpoint()
    try:
        os.setxattr(path, "user.origin", b"later")
    except (OSError, AttributeError):
        pytest.skip("no extended attributes here")
    project.checkpoint()
    with project.agent():
        path.unlink()
    project.revert(start)
    assert os.getxattr(path, "user.origin") == b"later"


def test_the_plan_says_that_a_hard_link_is_not_kept(project: FileHistoryFixture):
    (project.work / "a").write_text("1\n")
    (project.work / "other").hardlink_to(project.work / "a")
    start = project.checkpoint()
    with project.agent():
        (project.work / "a").unlink()
    assert notes(project, start) == {"a": "not kept: hard link"}


def test_the_plan_says_that_a_foreign_owner_is_not_kept(unprivileged_dir: Path):
    if os.getuid() != 0:
        pytest.skip("only root can change the owner of a file")
    project = FileHistoryFixture(unprivileged_dir)
    project.history.open()
    path = project.work / "a"
    path.write_text("1\n")
    os.seteuid(0)
    os.chown(path, _OWNER, _GROUP)
    path.chmod(0o644)
    os.seteuid(65534)
    start = project.checkpoint()
    with project.agent():
        path.unlink()
    assert notes(project, start) == {"a": "not kept: owner"}
    project.revert(start)
    assert path.read_text() == "1\n"
    project.history.close()


def test_usual_files_cost_no_space_in_the_store(project: FileHistoryFixture):
    (project.work / "a").write_text("1\n")
    state = project.checkpoint()
    assert project.store.manifests.attributes(state) == {}
