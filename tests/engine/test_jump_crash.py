"""A jump that is cut off at each of its calls to any disk: it happened wholly, or not at all."""

import errno
import os
import shutil
from pathlib import Path

import pytest

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.history.conversation import sendable
from kimi_tui.wire.commands import Revert, SwitchBranch, TravelCommand, Undo
from tests.engine.world import World
from tests.history.snapshots.test_crash import FaultyDisk, Killed


class DeadDisk(FaultyDisk):
    """Once it has died nothing else reaches it: the process is gone."""

    def __init__(self) -> None:
        super().__init__(Killed)


async def furnish(folder: Path) -> None:
    """Two turns of the agent's, the second taken back and brought back."""
    folder.mkdir()
    world = World(folder)
    await world.open()
    world.edit("mine", "mine\n")
    await world.turn({"a": "one\n", "b": "one\n"})
    await world.turn({"a": "two\n", "b": None, "c": "two\n"})
    await world.travel(Revert(2))
    await world.travel(Undo())
    await world.close()


def said(world: World) -> list[str]:
    return [message.text for message in world.context.history if message.text.startswith("turn ")]


@pytest.mark.parametrize(("jump", "stride"), [(Revert(2), 1), (SwitchBranch(2), 4)], ids=["revert", "switch"])
async def test_a_jump_cut_off_anywhere_is_whole_or_never_was(
    jump: TravelCommand, stride: int, tmp_path: Path
) -> None:
    before = (["turn 0", "turn 1"], {"a": "two\n", "c": "two\n", "mine": "mine\n"})
    after = (["turn 0"], {"a": "one\n", "b": "one\n", "mine": "mine\n"})
    folder, pristine = tmp_path / "world", tmp_path / "pristine"
    await furnish(folder)
    shutil.copytree(folder, pristine)
    outcomes = set()
    at, survived = 1 - stride, False
    while not survived:
        at += stride
        shutil.rmtree(folder)
        shutil.copytree(pristine, folder)
        disk = DeadDisk()
        world = World(folder, disk=disk, work_disk=disk.of_work_dir)
        await world.open()
        assert (said(world), world.files()) == before
        disk.at = disk.calls + at
        try:
            await world.travel(jump)
            survived = disk.calls < disk.at
        except (Killed, KimiTuiError):
            pass
        world.vanish()

        again = World(world.folder)
        await again.open()
        found = (said(again), again.files())
        assert found in (before, after), f"cut off at call {at}: {found}"
        outcomes.add(found == after)
        assert list(again.context.history) == sendable(again.context.history)
        if found == after:
            await again.travel(Undo())
            assert (said(again), again.files()) == before
        again.vanish()
    assert outcomes == {False, True}
    assert at > 30


async def test_a_full_disk_during_a_jump_is_told_and_costs_nothing(tmp_path: Path) -> None:
    class Full(FaultyDisk):
        """Refuses every write while it is full."""

        is_full = False

        def write(self, file: int, data: memoryview) -> int:
            if self.is_full:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return super().write(file, data)

    disk = Full(OSError)
    folder = tmp_path / "full"
    folder.mkdir()
    world = World(folder, disk=disk, work_disk=disk.of_work_dir)
    await world.open()
    await world.turn({"a": "one\n"})
    await world.turn({"a": "two\n"})
    disk.is_full = True
    with pytest.raises(KimiTuiError) as told:
        await world.travel(Revert(2))
    assert told.value.hint
    assert world.files() == {"a": "two\n"}
    disk.is_full = False
    await world.travel(Revert(2))
    assert world.files() == {"a": "one\n"}
    assert said(world) == ["turn 0"]
    await world.travel(Undo())
    assert world.files() == {"a": "two\n"}
    await world.close()
