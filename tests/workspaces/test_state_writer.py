"""Private views of a project at a checkpoint, in a mount namespace and as a copy."""

import asyncio
import os
import random
import shutil
import stat
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path

import pytest

from kimi_tui.history.snapshots.capturing.capture_result import CaptureResult
from kimi_tui.workspaces.checkpoint.copied_view import CopiedView, CopyTooLarge
from kimi_tui.workspaces.checkpoint.private_view import ChangedPath, PrivateView
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
            pytest.skip(f"no workspaces here: {status.problem}")
    yield opened
    await opened.close()


@pytest.fixture
def project(tmp_path: Path) -> FileHistoryFixture:
    project = FileHistoryFixture(tmp_path)
    project.history.open()
    return project


@asynccontextmanager
async def open_at(
    workspaces: Workspaces, project: FileHistoryFixture, state: str
) -> AsyncIterator[tuple[PrivateView, Path]]:
    """Open a view at a state, and return it and where its work dir is."""
    now: CaptureResult = project.history.capture()
    changes = StateDifferences(project.history.manifests).between(now.manifest, state)
    layers = await workspaces.find_state_layers(project.work)
    layer = None
    if layers is not None:
        prepared = layers.prepare(changes, project.history.blobs, work_dir=project.work)
        assert prepared.failed == ()
        layer = prepared.layer
    async with workspaces.open_view(project.work, prepared=layer) as view:
        if view.is_copy:
            assert write_changes(changes, project.history.blobs, view.tree, work_dir=project.work) == []
        yield view, Path(view.tree.counterpart_of(str(project.work)) or "")


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
        async with open_at(workspaces, project, states[number]) as (_, seen):
            expected = comparable(read_tree(tmp_path / f"copy-{number}"))
            assert comparable(read_tree(seen)) == expected
        assert read_tree(project.work, times=True) == before


async def test_changes_in_a_view_are_those_since_its_state(
    workspaces: Workspaces, project: FileHistoryFixture, tmp_path: Path
) -> None:
    generator = random.Random(7)
    states: list[str] = []
    for number in range(6):
        change_randomly(project.work, generator)
        states.append(project.checkpoint())
        copy_tree(project.work, tmp_path / f"copy-{number}")
    for number in [*range(6), *range(6)]:
        before = comparable(read_tree(tmp_path / f"copy-{number}"))
        async with open_at(workspaces, project, states[number]) as (view, seen):
            view.begin()
            change_randomly(seen, generator)
            with suppress(OSError):  # renaming a directory below isn't supported everywhere
                (seen / generator.choice(["a", "b"])).rename(seen / "moved")
            after = comparable(read_tree(seen))
            changed = {os.path.relpath(each.path, project.work): each for each in view.read_changes()}
            for path in {path for path in (*before, *after) if before.get(path) != after.get(path)}:
                if path in after:
                    assert changed[path].mode == after[path][0]
                    assert read_content(changed[path]) == after[path][1]
                else:
                    gone = [path, *map(str, Path(path).parents)]
                    assert any(each in changed and not stat.S_ISDIR(changed[each].mode) for each in gone)


def read_content(changed: ChangedPath) -> bytes:
    if stat.S_ISLNK(changed.mode):
        return str(Path(changed.source).readlink()).encode()
    return Path(changed.source).read_bytes() if stat.S_ISREG(changed.mode) else b""


async def test_views_of_one_state_share_a_layer_that_the_next_state_reuses(
    workspaces: Workspaces, project: FileHistoryFixture
) -> None:
    layers = await workspaces.find_state_layers(project.work)
    if layers is None:
        pytest.skip("copies share nothing")
    manifests = project.history.manifests
    states = []
    for text in ("one\n", "two\n", "now\n"):
        (project.work / "a").write_text(text)
        states.append(project.checkpoint())
    one, two, now = states
    prepare = partial(layers.prepare, contents=project.history.blobs, work_dir=project.work)
    changes = StateDifferences(manifests)
    first = prepare(changes.between(now, one)).layer
    assert first is not None
    first.users += 1
    assert prepare(changes.between(now, one)).layer is first
    other = prepare(changes.between(now, two)).layer
    assert other is not None
    assert other is not first
    assert Path(first.folders[str(project.work)], "a").read_text() == "one\n"
    first.users -= 1
    assert prepare(changes.between(now, two)).layer is other
    assert not Path(first.folder).exists()


async def test_ignored_files_are_todays_and_keep_their_directory(
    workspaces: Workspaces, project: FileHistoryFixture
) -> None:
    (project.work / ".git").mkdir()
    (project.work / ".gitignore").write_text("built\n")
    empty = project.checkpoint()
    (project.work / "lib").mkdir()
    (project.work / "lib/built").write_text("ignored\n")
    (project.work / "lib/a").write_text("new\n")
    async with open_at(workspaces, project, empty) as (_, seen):
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
    async with open_at(workspaces, project, state) as (_, seen):
        assert (seen / "lib/a").read_text() == "inside\n"
    assert (outside / "a").read_text() == "outside\n"
    assert (project.work / "lib").is_symlink()


async def test_a_restored_source_has_another_mtime_in_seconds(
    workspaces: Workspaces, project: FileHistoryFixture
) -> None:
    (project.work / "a.py").write_text("x = 1\n")
    state = project.checkpoint()
    (project.work / "a.py").write_text("x = 2\n")
    async with open_at(workspaces, project, state) as (_, seen):
        restored = int((seen / "a.py").stat().st_mtime)
        assert restored > int((project.work / "a.py").stat().st_mtime)


def test_too_large_directories_are_not_copied(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work/a").write_bytes(bytes(1_000))
    copy = CopiedView()
    with pytest.raises(CopyTooLarge, match="too large"):
        copy.add_roots([str(tmp_path / "work")], max_bytes=999)
    copy.remove()
    copy.add_roots([str(tmp_path / "work")], max_bytes=1_000)
    copy.remove()


async def test_a_copy_that_is_canceled_while_it_is_made_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copies = tmp_path / "copies"
    copies.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(copies))
    work = tmp_path / "work"
    work.mkdir()
    for number in range(300):
        (work / str(number)).touch()

    async def open_copy() -> None:
        async with Workspaces(tmp_path / "data", choice="none").open_view(work):
            await asyncio.Event().wait()

    opening = asyncio.create_task(open_copy())
    while not await asyncio.to_thread(list, copies.iterdir()):
        assert not opening.done()
    opening.cancel()
    await asyncio.wait([opening])
    assert list(copies.iterdir()) == []
