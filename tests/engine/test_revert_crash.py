"""Reverts interrupted at each file system call: they happen completely or not at all."""

import errno
import os
import shutil
from pathlib import Path

import pytest

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.history.message_history import complete_tool_results
from kimi_tui.wire.commands import Revert, SwitchBranch, TimelineCommand, Undo
from tests.engine.timeline_harness import TimelineHarness
from tests.history.snapshots.test_crash import FaultyFileSystem, Killed


class DyingFileSystem(FaultyFileSystem):
    """Raises Killed from the failing call on, as if the process had died."""

    def __init__(self) -> None:
        super().__init__(Killed)


async def create_files(folder: Path) -> None:
    """Run two turns, then revert the second one and undo that."""
    folder.mkdir()
    harness = TimelineHarness(folder)
    await harness.open()
    harness.edit("mine", "mine\n")
    await harness.turn({"a": "one\n", "b": "one\n"})
    await harness.turn({"a": "two\n", "b": None, "c": "two\n"})
    await harness.handle(Revert(2))
    await harness.handle(Undo())
    await harness.close()


def prompts(harness: TimelineHarness) -> list[str]:
    return [message.text for message in harness.context.history if message.text.startswith("turn ")]


@pytest.mark.parametrize(
    ("command", "stride"), [(Revert(2), 1), (SwitchBranch(2), 4)], ids=["revert", "switch"]
)
async def test_a_revert_interrupted_anywhere_happens_completely_or_not_at_all(
    command: TimelineCommand, stride: int, tmp_path: Path
) -> None:
    before = (["turn 0", "turn 1"], {"a": "two\n", "c": "two\n", "mine": "mine\n"})
    after = (["turn 0"], {"a": "one\n", "b": "one\n", "mine": "mine\n"})
    folder, pristine = tmp_path / "session", tmp_path / "pristine"
    await create_files(folder)
    shutil.copytree(folder, pristine)
    outcomes = set()
    call, survived = 1 - stride, False
    while not survived:
        call += stride
        shutil.rmtree(folder)
        shutil.copytree(pristine, folder)
        fs = DyingFileSystem()
        harness = TimelineHarness(folder, fs=fs, work_fs=fs.work_fs)
        await harness.open()
        assert (prompts(harness), harness.files()) == before
        fs.at = fs.calls + call
        try:
            await harness.handle(command)
            survived = fs.calls < fs.at
        except (Killed, KimiTuiError):
            pass
        harness.kill()

        reopened = TimelineHarness(harness.folder)
        await reopened.open()
        state = (prompts(reopened), reopened.files())
        assert state in (before, after), f"interrupted at call {call}: {state}"
        outcomes.add(state == after)
        assert list(reopened.context.history) == complete_tool_results(reopened.context.history)
        if state == after:
            await reopened.handle(Undo())
            assert (prompts(reopened), reopened.files()) == before
        reopened.kill()
    assert outcomes == {False, True}
    assert call > 30


async def test_a_full_disk_during_a_revert_is_an_error_without_data_loss(tmp_path: Path) -> None:
    class FullFileSystem(FaultyFileSystem):
        """Rejects every write while it is full."""

        is_full = False

        def write(self, file: int, data: memoryview) -> int:
            if self.is_full:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return super().write(file, data)

    fs = FullFileSystem(OSError)
    folder = tmp_path / "full"
    folder.mkdir()
    harness = TimelineHarness(folder, fs=fs, work_fs=fs.work_fs)
    await harness.open()
    await harness.turn({"a": "one\n"})
    await harness.turn({"a": "two\n"})
    fs.is_full = True
    with pytest.raises(KimiTuiError) as raised:
        await harness.handle(Revert(2))
    assert raised.value.hint
    assert harness.files() == {"a": "two\n"}
    fs.is_full = False
    await harness.handle(Revert(2))
    assert harness.files() == {"a": "one\n"}
    assert prompts(harness) == ["turn 0"]
    await harness.handle(Undo())
    assert harness.files() == {"a": "two\n"}
    await harness.close()
