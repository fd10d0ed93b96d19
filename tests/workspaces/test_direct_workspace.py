"""The "none" backend: commands change the work dir directly."""

from pathlib import Path

from kimi_tui.history.snapshots.attribution import ChangeAuthor
from kimi_tui.tools.shell.shell import Shell
from kimi_tui.workspaces.open_record import OpenRecord, OpenRecords, WorkspaceOwner
from kimi_tui.workspaces.workspaces import Workspaces
from tests.tools.command_output_recorder import CommandOutputRecorder

OWNER = WorkspaceOwner(author=ChangeAuthor(who="call", session="s", call="c", command="echo"))


async def test_a_command_changes_the_work_dir_directly_and_has_no_effects(tmp_path: Path) -> None:
    workspaces = Workspaces(tmp_path / "data", choice="none")
    await workspaces.start()
    work = tmp_path / "work"
    work.mkdir()
    output = CommandOutputRecorder()
    async with workspaces.open(work, owner=OWNER) as workspace:
        exit_ = await Shell().run(
            "echo new > a; pwd", work_dir=work, timeout_s=60, output=output, starter=workspace
        )
        assert not workspace.is_private
        assert len(await workspace.effects()) == 0
    assert exit_.status == 0
    assert output.data.decode().strip() == str(work)
    assert (work / "a").read_text() == "new\n"
    assert workspaces.problem == "workspaces are turned off"
    await workspaces.close()


def test_the_record_of_a_running_process_is_not_left_over(tmp_path: Path) -> None:
    records = OpenRecords(tmp_path)
    folder = records.create_folder()
    records.write(OpenRecord(folder=folder, owner=OWNER, layer={"id": 1}))
    assert records.left_by_killed_processes() == []


def test_the_record_of_a_killed_process_is_left_over_with_its_call(tmp_path: Path) -> None:
    records = OpenRecords(tmp_path)
    folder = records.create_folder()
    records.write(OpenRecord(folder=folder, owner=OWNER, layer={"id": 1}))
    file = folder / "record.json"
    process = file.read_text().split('"process": "')[1].split('"')[0]
    file.write_text(file.read_text().replace(process, "999999999 1"))
    (left,) = records.left_by_killed_processes()
    assert (left.owner, left.layer, left.folder) == (OWNER, {"id": 1}, folder)
    records.forget(folder)
    assert records.left_by_killed_processes() == []
