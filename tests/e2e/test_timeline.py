"""The timeline in everyday use, with real files and a scripted model."""

from collections.abc import Iterator

import pytest

from tests.e2e.program import Program, script, tool_call
from tests.e2e.screen import Screen

F3 = "\x1bOR"
END = "\x1b[F"


@pytest.fixture
def screen(program: Program) -> Iterator[Screen]:
    program.script(
        script(tool_call("c1", "Bash", command="echo changed >> README.md; echo new > bash.txt")),
        script("text: it is changed"),
        script("text: nothing but talk"),
    )
    with (program.data_dir / "config.toml").open("a") as config:
        config.write("\n[checkpoints]\nfiles = true\n")
    (program.work_dir / "README.md").write_text("readme\n")
    opened = Screen(program, "--yolo", columns=120, lines=36)
    opened.wait_for("Ask anything")
    yield opened
    opened.close()


def click(screen: Screen, text: str) -> None:
    """Click on `text`, once the screen is idle."""
    lines = screen.wait_until_idle().split("\n")
    row = next(y for y, line in enumerate(lines) if text in line)
    position = f"{lines[row].index(text) + 1};{row + 1}"
    screen.type(f"\x1b[<0;{position}M\x1b[<0;{position}m")


def test_revert_undo_redo_and_switch_by_keyboard_and_mouse(program: Program, screen: Screen) -> None:
    screen.type("change it")
    screen.press("enter")
    screen.wait_for("it is changed")
    screen.type("talk")
    screen.press("enter")
    screen.wait_for("nothing but talk")
    (program.work_dir / "user.txt").write_text("mine\n")

    screen.type(F3)
    screen.wait_for("5 checkpoints")
    screen.type(END)
    screen.wait_for("revert to before this")
    screen.press("enter")
    screen.wait_for(lambda text: "README.md" in text and "user.txt" in text)
    assert "2 messages kept on a branch" in screen.wait_until_idle()
    assert (program.work_dir / "bash.txt").exists()
    screen.press("enter")
    screen.wait_for(lambda text: "❯ change it" in text and "Reverted to checkpoint 0" in text)
    assert (program.work_dir / "README.md").read_text() == "readme\n"
    assert not (program.work_dir / "bash.txt").exists()

    click(screen, "Undo with /undo")
    screen.wait_for(lambda text: "enter undo" in text and "bash.txt" in text)
    click(screen, "enter undo")
    screen.wait_for(lambda text: "Revert undone" in text and "nothing but talk" in text)
    screen.wait_for(lambda text: "enter undo" not in text)
    assert (program.work_dir / "README.md").read_text() == "readme\nchanged\n"
    assert (program.work_dir / "bash.txt").read_text() == "new\n"

    screen.type("U")  # the pane has kept the focus
    screen.wait_for("enter redo")
    screen.press("enter")
    screen.wait_for("Revert redone")
    assert not (program.work_dir / "bash.txt").exists()

    screen.wait_for(lambda text: "10 after redo" in text and "11 checkpoints" in text)
    click(screen, "2 turns")
    screen.wait_for("switch to it")
    click(screen, "switch to it")
    screen.wait_for("enter switch")
    click(screen, "enter switch")
    screen.wait_for(lambda text: "Switched to checkpoint" in text and "nothing but talk" in text)
    assert (program.work_dir / "bash.txt").read_text() == "new\n"
    assert (program.work_dir / "user.txt").read_text() == "mine\n"
