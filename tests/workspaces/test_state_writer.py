"""Private views of a project at a checkpoint, in a mount namespace and as a copy."""

import random
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kimi_tui.history.snapshots.capturing.capture_result import CaptureResult
from kimi_tui.workspaces.checkpoint.copied_view import CopiedView, CopyTooLarge
from kimi_tui.workspaces.checkpoint.private_view import PrivateTree
from kimi_tui.workspaces.checkpoint.state_differences import StateDifferences
from kimi_tui.workspaces.checkpoint.state_writer import write_changes
from kimi_tui.workspaces.workspaces import Workspaces
from tests.history.snapshots.file_history_fixture import FileHistoryFixture
from tests.workspaces.workspace_env import TreeEntry, copy_tree, read_tree


@pytest.fixture(params=["user", "root", "copy"])
async def workspaces(
    request: pytest.FixtureRequest, tmp_path: Path, project: FileHistoryFixture
) -> AsyncIterator[Workspaces]:
    if request.param == "copy":
        opened = Workspaces(tmp_path / "data", choice="none")
    else:
        opened = Workspaces(tmp_path / "data", modes=(request.param,))
        if (status := await opened.status(project.work)).backend == "none":
            pytest.skip(f"no private views here: {status.problem}")
    yield opened
    await opened.close()


@pytest.fixture
def project(tmp_path: Path) -> FileHistoryFixture:
    project = FileHistoryFixture(tmp_path)
    project.history.open()
    return project


def prepare(project: FileHistoryFixture, tree: PrivateTree, state: str) -> list[str]:
    now: CaptureResult = project.history.capture()
    changes = StateDifferences(project.history.manifests).between(now.manifest, state)
    return write_changes(changes, project.history.blobs, tree, work_dir=project.work)


def comparable(tree: dict[str, TreeEntry]) -> dict[str, tuple[int, bytes]]:
    return {path: (entry.mode, entry.content) for path, entry in tree.items()}


def change_randomly(work: Path, generator: random.Random) -> None:
    """Write, remove, replace and rename some files, links and directories."""
    for _ in range(generator.randint(1, 4)):
        path = work / generator.choice(["a", "b", "c"]) / generator.choice(["x", "y", "z"])
        if generator.random() < 0.3:
            path = path.parent
        action = generator.choice(["write", "write", "link", "folder", "remove", "mode"])
        if action == "mode" and path.is_file() and not path.is_symlink():
            path.chmod(generator.choice([0o600, 0o755]))
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True) if path.parent.is_dir() else None
        if action in ("remove", "mode"):
            continue
        if path.parent != work and not path.parent.is_dir():
            path.parent.unlink(missing_ok=True)
            path.parent.mkdir()
        if action == "write":
            path.write_text(generator.choice(["one\n", "two\n", "", "x" * 300_000]))
        elif action == "link":
            path.symlink_to(generator.choice(["/etc/hostname", "../a", "nowhere"]))
        else:
            path.mkdir()


async def test_the_tree_at_random_checkpoints_is_equal_and_the_work_dir_unchanged(
    workspaces: Workspaces, project: FileHistoryFixture, tmp_path: Path
) -> None:
    generator = random.Random(11)
    states: list[str] = []
    for number in range(12):
        change_randomly(project.work, generator)
        states.append(project.checkpoint())
        copy_tree(project.work, tmp_path / f"copy-{number}")
    before = read_tree(project.work, times=True)
    for number in generator.sample(range(12), 6):
        async with workspaces.open_view(project.work) as view:
            assert prepare(project, view.tree, states[number]) == []
            seen = view.tree.counterpart_of(str(project.work))
            assert seen is not None
            expected = comparable(read_tree(tmp_path / f"copy-{number}"))
            assert comparable(read_tree(Path(seen))) == expected
        assert read_tree(project.work, times=True) == before


async def test_ignored_files_are_todays_and_keep_their_directory(
    workspaces: Workspaces, project: FileHistoryFixture
) -> None:
    (project.work / ".git").mkdir()
    (project.work / ".gitignore").write_text("built\n")
    empty = project.checkpoint()
    (project.work / "lib").mkdir()
    (project.work / "lib/built").write_text("ignored\n")
    (project.work / "lib/a").write_text("new\n")
    async with workspaces.open_view(project.work) as view:
        assert prepare(project, view.tree, empty) == []
        seen = Path(view.tree.counterpart_of(str(project.work)) or "")
        assert {path.name for path in (seen / "lib").iterdir()} == {"built"}


async def test_a_link_never_leads_out_of_the_view(
    workspaces: Workspaces, project: FileHistoryFixture, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a").write_text("outside\n")
    (project.work / "lib").mkdir()
    (project.work / "lib/a").write_text("inside\n")
    state = project.checkpoint()
    shutil.rmtree(project.work / "lib")
    (project.work / "lib").symlink_to(outside)
    async with workspaces.open_view(project.work) as view:
        assert prepare(project, view.tree, state) == []
        seen = Path(view.tree.counterpart_of(str(project.work)) or "")
        assert (seen / "lib/a").read_text() == "inside\n"
    assert (outside / "a").read_text() == "outside\n"
    assert (project.work / "lib").is_symlink()


async def test_a_restored_source_has_another_mtime_in_seconds(
    workspaces: Workspaces, project: FileHistoryFixture
) -> None:
    (project.work / "a.py").write_text("x = 1\n")
    state = project.checkpoint()
    (project.work / "a.py").write_text("x = 2\n")
    async with workspaces.open_view(project.work) as view:
        prepare(project, view.tree, state)
        seen = Path(view.tree.counterpart_of(str(project.work)) or "")
        restored = int((seen / "a.py").stat().st_mtime)
        assert restored > int((project.work / "a.py").stat().st_mtime)


def test_too_large_directories_are_not_copied(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work/a").write_bytes(bytes(1_000))
    with pytest.raises(CopyTooLarge, match="too large"):
        CopiedView.create([str(tmp_path / "work")], max_bytes=999)
    CopiedView.create([str(tmp_path / "work")], max_bytes=1_000).remove()
