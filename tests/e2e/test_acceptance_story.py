"""The acceptance story of time travel, told to the real program on a screen, by keys and by mouse."""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.e2e.program import Program, script, tool_call
from tests.e2e.screen import Screen

F3 = "\x1bOR"
END = "\x1b[F"
COMMAND = "echo changed >> README.md; echo new > bash.txt"
BEFORE = {
    "README.md": "readme\nchanged\n",
    "a.py": "print(1)\nprint(2)\n",
    "bash.txt": "new\n",
    "user.txt": "mine\n",
}
REVERTED = {"README.md": "readme\n", "a.py": "print(1)\nprint(2)\n", "user.txt": "mine\n"}


@pytest.fixture
def told(program: Program) -> Program:
    program.script(
        script(tool_call("c1", "WriteFile", path="a.py", content="print(1)\n")),
        script("text: the file is there"),
        script(tool_call("c2", "Bash", command=COMMAND)),
        script("text: it is changed"),
        script("text: nothing but talk"),
    )
    with (program.share_dir / "config.toml").open("a") as config:
        config.write("\n[checkpoints]\nfiles = true\n")
    (program.work_dir / "README.md").write_text("readme\n")
    return program


def files_of(program: Program) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted(program.work_dir.iterdir()) if path.is_file()}


def fingerprint(folder: Path) -> dict[str, tuple[str, int]]:
    """Every file below a folder, by its digest and time."""
    return {
        str(path): (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns)
        for path in folder.rglob("*")
        if path.is_file()
    }


def say(screen: Screen, text: str, answer: str, *, by_mouse: bool = False) -> None:
    screen.type(text)
    screen.until(f"❯ {text}")
    if by_mouse:
        click(screen, "↵ send")
    else:
        screen.press("enter")
    screen.until(answer)
    screen.rest()


def click(screen: Screen, text: str, *, times: int = 1) -> None:
    """Click where the screen shows `text`, once it has stopped moving."""
    lines = screen.rest().split("\n")
    row = next(y for y, line in enumerate(lines) if text in line)
    place = f"{lines[row].index(text) + 1};{row + 1}"
    screen.type(f"\x1b[<0;{place}M\x1b[<0;{place}m" * times)


def tell_the_story(screen: Screen, program: Program, *, by_mouse: bool = False) -> None:
    screen.until("Ask anything")
    say(screen, "write a.py", "the file is there", by_mouse=by_mouse)
    say(screen, "run something", "it is changed")
    (program.work_dir / "user.txt").write_text("mine\n")
    with (program.work_dir / "a.py").open("a") as file:
        file.write("print(2)\n")
    say(screen, "talk", "nothing but talk")
    assert files_of(program) == BEFORE


def assert_the_plan_is_shown(plan: str) -> None:
    lines = [" ".join(line.split()) for line in plan.split("\n")]
    for words in ("[✔] restore README.md", "[ ] conflict a.py", "[✔] delete bash.txt", "[ ] keep user.txt"):
        assert any(words in line for line in lines), words
    assert "− changed" in plan  # the diff of the first file
    assert f"$ {COMMAND[:30]}" in plan


def test_by_keys_in_a_git_repository(told: Program) -> None:
    identity = ("-c", "user.name=you", "-c", "user.email=you@example.org")
    for command in (("init", "-q"), ("add", "."), (*identity, "commit", "-qm", "start")):
        subprocess.run(["git", *command], cwd=told.work_dir, check=True)
    git_before = fingerprint(told.work_dir / ".git")
    screen = Screen(told, "--yolo", columns=120, lines=40)
    try:
        tell_the_story(screen, told)
        screen.type(F3)
        screen.until("checkpoints")
        screen.rest()
        screen.type(END)
        screen.until("#0 you: write a.py")
        screen.press("enter")
        screen.until("user.txt")
        assert_the_plan_is_shown(screen.rest())
        assert files_of(told) == BEFORE  # nothing happens before it is wanted
        screen.press("enter")
        screen.until("went back to checkpoint 0")
        assert "❯ write a.py" in screen.rest()
        assert files_of(told) == REVERTED

        (told.work_dir / "user.txt").write_text("mine, newer\n")
        screen.type(F3)  # the prompt has the words of then; the pane has the keys
        screen.until("esc leave")
        screen.type("u")
        screen.until("bash.txt")
        undo = " ".join(screen.rest().split())
        assert "[✔] recreate bash.txt" in undo
        assert "user.txt" not in undo or "[ ] keep user.txt" in undo
        screen.press("enter")
        screen.until("undid the jump")
        assert files_of(told) == BEFORE | {"user.txt": "mine, newer\n"}
    finally:
        screen.close()
    assert fingerprint(told.work_dir / ".git") == git_before


def test_by_mouse_where_there_is_no_git(told: Program) -> None:
    programs = told.home / "bin"
    programs.mkdir()
    for name in ("bash", "sh", "echo", "cat", "env"):
        if found := shutil.which(name):
            (programs / name).symlink_to(found)
    told.env["PATH"] = str(programs)
    assert shutil.which("git", path=os.fspath(programs)) is None
    screen = Screen(told, "--yolo", columns=80, lines=24)
    try:
        tell_the_story(screen, told, by_mouse=True)
        click(screen, "f3 timeline")
        screen.until("checkpoints")
        click(screen, "0 write a.py", times=2)
        screen.until("user.txt")
        assert_the_plan_is_shown(screen.rest())
        assert files_of(told) == BEFORE
        click(screen, "go back  esc")
        screen.until("went back to checkpoint 0")
        assert files_of(told) == REVERTED
        click(screen, "/undo")
        screen.until("recreate")
        click(screen, "undo  esc")
        screen.until("undid the jump")
        assert files_of(told) == BEFORE
    finally:
        screen.close()
