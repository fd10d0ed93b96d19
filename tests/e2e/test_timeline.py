"""The timeline as a person uses it, with real files and a scripted model."""

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
    with (program.share_dir / "config.toml").open("a") as config:
        config.write("\n[checkpoints]\nfiles = true\n")
    (program.work_dir / "README.md").write_text("readme\n")
    opened = Screen(program, "--yolo", columns=120, lines=36)
    opened.until("Ask anything")
    yield opened
    opened.close()


def click(screen: Screen, text: str) -> None:
    """Click where the screen shows `text`."""
    lines = screen.rest().split("\n")
    row = next(y for y, line in enumerate(lines) if text in line)
    place = f"{lines[row].index(text) + 1};{row + 1}"
    screen.type(f"\x1b[<0;{place}M\x1b[<0;{place}m")


def test_going_back_and_forth_by_keys_and_by_mouse(program: Program, screen: Screen) -> None:
    screen.type("change it")
    screen.press("enter")
    screen.until("it is changed")
    screen.type("talk")
    screen.press("enter")
    screen.until("nothing but talk")
    (program.work_dir / "user.txt").write_text("mine\n")

    screen.type(F3)
    screen.until("5 checkpoints")
    screen.type(END)
    screen.until("back to before this")
    screen.press("enter")
    screen.until(lambda text: "README.md" in text and "user.txt" in text)
    assert "2 messages stay on a branch" in screen.rest()
    assert (program.work_dir / "bash.txt").exists()
    screen.press("enter")
    screen.until(lambda text: "❯ change it" in text and "went back to checkpoint 0" in text)
    assert (program.work_dir / "README.md").read_text() == "readme\n"
    assert not (program.work_dir / "bash.txt").exists()

    click(screen, "/undo takes it back")
    screen.until(lambda text: "enter undo" in text and "bash.txt" in text)
    click(screen, "enter undo")
    screen.until(lambda text: "undid the jump" in text and "nothing but talk" in text)
    screen.until(lambda text: "enter undo" not in text)
    assert (program.work_dir / "README.md").read_text() == "readme\nchanged\n"
    assert (program.work_dir / "bash.txt").read_text() == "new\n"

    screen.type("/redo")
    screen.press("enter")
    screen.until("enter redo")
    screen.press("enter")
    screen.until("redid the jump")
    assert not (program.work_dir / "bash.txt").exists()

    screen.until(lambda text: "10 after redoing" in text and "11 checkpoints" in text)
    click(screen, "2 turns")
    screen.until("go on with it")
    click(screen, "go on with it")
    screen.until("enter switch")
    click(screen, "enter switch")
    screen.until(lambda text: "switched branches" in text and "nothing but talk" in text)
    assert (program.work_dir / "bash.txt").read_text() == "new\n"
    assert (program.work_dir / "user.txt").read_text() == "mine\n"
