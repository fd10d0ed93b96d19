"""The acceptance story of the timeline in the real program on a screen, by keyboard and by mouse."""

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
REVERTED = {"README.md": "readme\n", "a.py": "print(2)\n", "user.txt": "mine\n"}


@pytest.fixture
def scripted_program(program: Program) -> Program:
    program.script(
        script(tool_call("c1", "WriteFile", path="a.py", content="print(1)\n")),
        script("text: the file is there"),
        script(tool_call("c2", "Bash", command=COMMAND)),
        script("text: it is changed"),
        script("text: no changes this time"),
    )
    with (program.data_dir / "config.toml").open("a") as config:
        config.write("\n[checkpoints]\nfiles = true\n")
    (program.work_dir / "README.md").write_text("readme\n")
    return program


def files_of(program: Program) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted(program.work_dir.iterdir()) if path.is_file()}


def fingerprint(directory: Path) -> dict[str, tuple[str, int]]:
    """Return the digest and modification time of every file in a directory."""
    return {
        str(path): (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns)
        for path in directory.rglob("*")
        if path.is_file()
    }


def send_prompt(screen: Screen, text: str, response: str, *, by_mouse: bool = False) -> None:
    screen.type(text)
    screen.wait_for(f"❯ {text}")
    if by_mouse:
        click(screen, "↵ send")
    else:
        screen.press("enter")
    screen.wait_for(response)
    screen.wait_until_idle()


def click(screen: Screen, text: str, *, times: int = 1) -> None:
    """Click on `text`, once the screen is idle."""
    lines = screen.wait_until_idle().split("\n")
    row = next(y for y, line in enumerate(lines) if text in line)
    position = f"{lines[row].index(text) + 1};{row + 1}"
    screen.type(f"\x1b[<0;{position}M\x1b[<0;{position}m" * times)


def run_story(screen: Screen, program: Program, *, by_mouse: bool = False) -> None:
    screen.wait_for("Ask anything")
    send_prompt(screen, "write a.py", "the file is there", by_mouse=by_mouse)
    send_prompt(screen, "run something", "it is changed")
    (program.work_dir / "user.txt").write_text("mine\n")
    with (program.work_dir / "a.py").open("a") as file:
        file.write("print(2)\n")
    send_prompt(screen, "talk", "no changes this time")
    assert files_of(program) == BEFORE


def assert_the_plan_is_shown(plan: str) -> None:
    lines = [" ".join(line.split()) for line in plan.split("\n")]
    for row in ("[✔] restore README.md", "[✔] merge a.py", "[✔] delete bash.txt", "[ ] keep user.txt"):
        assert any(row in line for line in lines), row
    assert "− changed" in plan  # the diff of the first file
    assert f"$ {COMMAND[:30]}" in plan


def test_revert_and_undo_by_keyboard_in_a_git_repository(scripted_program: Program) -> None:
    identity = ("-c", "user.name=you", "-c", "user.email=you@example.org")
    for command in (("init", "-q"), ("add", "."), (*identity, "commit", "-qm", "start")):
        subprocess.run(["git", *command], cwd=scripted_program.work_dir, check=True)
    git_before = fingerprint(scripted_program.work_dir / ".git")
    screen = Screen(scripted_program, "--yolo", columns=120, lines=40)
    try:
        run_story(screen, scripted_program)
        screen.type(F3)
        screen.wait_for("checkpoints")
        screen.wait_until_idle()
        screen.type(END)
        screen.wait_for("#0 you: write a.py")
        screen.press("enter")
        screen.wait_for("user.txt")
        assert_the_plan_is_shown(screen.wait_until_idle())
        assert files_of(scripted_program) == BEFORE  # nothing changes before the user confirms
        screen.press("enter")
        screen.wait_for("Reverted to checkpoint 0")
        assert "❯ write a.py" in screen.wait_until_idle()
        assert files_of(scripted_program) == REVERTED

        (scripted_program.work_dir / "user.txt").write_text("mine, newer\n")
        screen.type("u")  # the prompt isn't empty, but the pane has the focus
        screen.wait_for("bash.txt")
        undo = " ".join(screen.wait_until_idle().split())
        assert "[✔] recreate bash.txt" in undo
        assert "user.txt" not in undo or "[ ] keep user.txt" in undo
        screen.press("enter")
        screen.wait_for("Revert undone")
        assert files_of(scripted_program) == BEFORE | {"user.txt": "mine, newer\n"}
    finally:
        screen.close()
    assert fingerprint(scripted_program.work_dir / ".git") == git_before


def test_revert_and_undo_by_mouse_without_git(scripted_program: Program) -> None:
    programs = scripted_program.home / "bin"
    programs.mkdir()
    for name in ("bash", "sh", "echo", "cat", "env"):
        if path := shutil.which(name):
            (programs / name).symlink_to(path)
    scripted_program.env["PATH"] = str(programs)
    assert shutil.which("git", path=os.fspath(programs)) is None
    screen = Screen(scripted_program, "--yolo", columns=80, lines=24)
    try:
        run_story(screen, scripted_program, by_mouse=True)
        click(screen, "f3 timeline")
        screen.wait_for("checkpoints")
        click(screen, "0 write a.py", times=2)
        screen.wait_for("user.txt")
        assert_the_plan_is_shown(screen.wait_until_idle())
        assert files_of(scripted_program) == BEFORE
        click(screen, "revert  esc")
        screen.wait_for("after revert to 0")
        assert files_of(scripted_program) == REVERTED
        click(screen, "u undo")
        screen.wait_for("recreate")
        click(screen, "undo  esc")
        screen.wait_for("after undo")
        assert files_of(scripted_program) == BEFORE
    finally:
        screen.close()
