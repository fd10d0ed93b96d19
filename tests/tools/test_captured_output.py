"""Output of a command: limited for the model, complete on disk."""

import re
from pathlib import Path

from kimi_tui.tools.shell.captured_output import CapturedOutput, OutputFolder


def saved_file(folder: Path) -> Path:
    (path,) = folder.iterdir()
    return path


def test_short_output_stays_in_memory(tmp_path: Path) -> None:
    output = CapturedOutput(OutputFolder(tmp_path / "output"), limit=2_000)
    output.add("one\n")
    output.add("two")
    output.close()
    assert output.text() == "one\ntwo"
    assert (output.lines, output.is_cut) == (2, False)
    assert not (tmp_path / "output").exists()


def test_long_output_keeps_whole_lines_of_its_beginning_and_end(tmp_path: Path) -> None:
    lines = [f"line {number}" for number in range(10_000)]
    output = CapturedOutput(OutputFolder(tmp_path / "output"), limit=5_000)
    for line in lines:
        output.add(f"{line}\n")
    output.close()
    text = output.text()
    before, notice, after = re.split(r"(\[….*…\]\n)", text)
    assert len(text) <= 5_000
    assert lines[: len(before.splitlines())] == before.splitlines()
    assert lines[-len(after.splitlines()) :] == after.splitlines()
    assert len(before) > 1_500
    assert len(after) > 1_500
    cut_lines = len(lines) - len(before.splitlines()) - len(after.splitlines())
    assert f"{cut_lines:,} lines" in notice
    assert str(saved_file(tmp_path / "output")) in notice


def test_the_full_output_is_saved_for_the_user_only(tmp_path: Path) -> None:
    pieces = [f"{number} é " * 50 for number in range(500)]
    output = CapturedOutput(OutputFolder(tmp_path / "output"), limit=3_000)
    for piece in pieces:
        output.add(piece)
    output.close()
    path = saved_file(tmp_path / "output")
    assert path.read_text("utf-8") == "".join(pieces)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_a_single_long_line_is_cut(tmp_path: Path) -> None:
    output = CapturedOutput(OutputFolder(tmp_path / "output"), limit=5_000)
    output.add("x" * 200_000)
    output.close()
    assert len(output.text()) <= 5_000


def test_saved_output_is_limited_and_a_notice_says_so(tmp_path: Path) -> None:
    output = CapturedOutput(OutputFolder(tmp_path / "output"), limit=2_000, disk_limit=10_000)
    for number in range(1_000):
        output.add(f"{number:99}\n")
    output.close()
    assert saved_file(tmp_path / "output").stat().st_size == 10_000
    assert "has only the beginning" in output.text()
    assert output.text().endswith("999\n")


def test_output_survives_a_directory_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "output").write_text("in the way")
    output = CapturedOutput(OutputFolder(tmp_path / "output"), limit=2_000)
    output.add("x\n" * 5_000)
    output.close()
    assert "could not be saved" in output.text()


def test_memory_is_bounded(tmp_path: Path) -> None:
    output = CapturedOutput(OutputFolder(tmp_path / "output"), limit=1_500, disk_limit=1_000)
    for _ in range(5_000):
        output.add("y" * 1_000)
    output.close()
    strings = [value for value in vars(output).values() if isinstance(value, str | list)]
    assert sum(len("".join(value)) for value in strings) < 10_000
