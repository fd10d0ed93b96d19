"""Deleted states: their ids are never used again, and plans say that they are missing."""

import shutil
import time

import pytest

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.history.snapshots.limits import SnapshotLimits
from tests.history.snapshots.file_history_fixture import FileHistoryFixture

DAY_S = 86_400.0


def write_versions(project: FileHistoryFixture, *texts: str) -> list[str]:
    """Let the agent write each text. Return the states before each."""
    states = []
    for text in texts:
        states.append(project.checkpoint())
        with project.agent():
            (project.work / "a.txt").write_text(text)
    return states


def continue_session(project: FileHistoryFixture) -> FileHistoryFixture:
    continued = FileHistoryFixture(project.work.parent)
    continued.history.open()
    return continued


def prune(project: FileHistoryFixture) -> None:
    project.store.prune(SnapshotLimits(age_days=0), now=time.time() + DAY_S)


def test_a_pruned_state_is_not_confused_with_a_later_one(project: FileHistoryFixture) -> None:
    states = write_versions(project, "v1", "v2", "v3")
    project.history.close()
    prune(project)
    project = continue_session(project)
    later = write_versions(project, "v4", "v5", "v6")
    assert not {*states} & {*later}
    with pytest.raises(KimiTuiError, match="was deleted to free space"):
        project.history.plan(states[0])
    assert project.files() == {"a.txt": "v6"}


def test_a_state_of_a_deleted_store_is_not_confused_with_a_later_one(project: FileHistoryFixture) -> None:
    states = write_versions(project, "v1", "v2", "v3")
    project.history.close()
    shutil.rmtree(project.store.folder)
    project = continue_session(project)
    write_versions(project, "v4", "v5", "v6")
    for state in states:
        with pytest.raises(KimiTuiError, match="is missing or damaged"):
            project.history.plan(state)


def test_the_newest_state_is_found_after_older_segments_were_pruned(project: FileHistoryFixture) -> None:
    newest = ""
    for text in ("v1", "v2", "v3"):
        write_versions(project, text)
        newest = project.checkpoint()
        project.history.close()
        project = continue_session(project)
    project.history.close()
    oldest = min((project.store.folder / "manifests").glob("*.manifests"))
    project.store.manifests.drop({oldest.stem})
    project = continue_session(project)
    assert project.history.newest == newest
    [state] = write_versions(project, "v4")
    assert project.history.newest not in (None, newest, state)


def test_states_of_version_0_1_0_stay_readable(project: FileHistoryFixture) -> None:
    offset = project.checkpoint().rpartition(":")[2]
    project.history.close()
    [segment] = (project.store.folder / "manifests").glob("*.manifests")
    segment.rename(segment.with_name("one.000001.manifests"))
    (project.store.folder / "known").unlink()
    project = continue_session(project)
    assert project.history.newest == f"one.000001:{offset}"
    write_versions(project, "v1")
    project.revert(f"one.000001:{offset}")
    assert project.files() == {}
