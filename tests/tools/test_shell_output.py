"""What a command printed: bounded for the model, whole on disk."""

import re
from pathlib import Path

from kimi_tui.tools.shell.output import OutputFolder, OutputKeeper


def kept_file(folder: Path) -> Path:
    (path,) = folder.iterdir()
    return path


def test_short_output_is_kept_whole_and_touches_no_disk(tmp_path: Path) -> None:
    keeper = OutputKeeper(OutputFolder(tmp_path / "output"), limit=2_000)
    keeper.add("one\n")
    keeper.add("two")
    keeper.close()
    assert keeper.text() == "one\ntwo"
    assert (keeper.lines, keeper.is_cut) == (2, False)
    assert not (tmp_path / "output").exists()


def test_long_output_keeps_whole_lines_of_its_beginning_and_end(tmp_path: Path) -> None:
    lines = [f"line {number}" for number in range(10_000)]
    keeper = OutputKeeper(OutputFolder(tmp_path / "output"), limit=5_000)
    for line in lines:
        keeper.add(f"{line}\n")
    keeper.close()
    text = keeper.text()
    before, notice, after = re.split(r"(\[….*…\]\n)", text)
    assert len(text) <= 5_000
    assert lines[: len(before.splitlines())] == before.splitlines()
    assert lines[-len(after.splitlines()) :] == after.splitlines()
    assert len(before) > 1_500
    assert len(after) > 1_500
    cut_lines = len(lines) - len(before.splitlines()) - len(after.splitlines())
    assert f"{cut_lines:,} lines" in notice
    assert str(kept_file(tmp_path / "output")) in notice


def test_the_whole_is_on_disk_for_the_user_alone(tmp_path: Path) -> None:
    pieces = [f"{number} é " * 50 for number in range(500)]
    keeper = OutputKeeper(OutputFolder(tmp_path / "output"), limit=3_000)
    for piece in pieces:
        keeper.add(piece)
    keeper.close()
    path = kept_file(tmp_path / "output")
    assert path.read_text("utf-8") == "".join(pieces)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_one_endless_line_is_cut_too(tmp_path: Path) -> None:
    keeper = OutputKeeper(OutputFolder(tmp_path / "output"), limit=5_000)
    keeper.add("x" * 200_000)
    keeper.close()
    assert len(keeper.text()) <= 5_000


def test_the_disk_is_bounded_and_says_so(tmp_path: Path) -> None:
    keeper = OutputKeeper(OutputFolder(tmp_path / "output"), limit=2_000, disk_limit=10_000)
    for number in range(1_000):
        keeper.add(f"{number:99}\n")
    keeper.close()
    assert kept_file(tmp_path / "output").stat().st_size == 10_000
    assert "holds the beginning" in keeper.text()
    assert keeper.text().endswith("999\n")


def test_a_folder_that_can_not_be_written_costs_only_the_copy(tmp_path: Path) -> None:
    (tmp_path / "output").write_text("in the way")
    keeper = OutputKeeper(OutputFolder(tmp_path / "output"), limit=2_000)
    keeper.add("x\n" * 5_000)
    keeper.close()
    assert "could not be kept on disk" in keeper.text()


def test_memory_is_bounded(tmp_path: Path) -> None:
    keeper = OutputKeeper(OutputFolder(tmp_path / "output"), limit=1_500, disk_limit=1_000)
    for _ in range(5_000):
        keeper.add("y" * 1_000)
    keeper.close()
    held = [value for value in vars(keeper).values() if isinstance(value, str | list)]
    assert sum(len("".join(value)) for value in held) < 10_000
