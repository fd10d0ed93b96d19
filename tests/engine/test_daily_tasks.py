"""Twenty small tasks of daily work: how many questions they need when commands run first."""

import subprocess
from pathlib import Path

import pytest

from kimi_tui.wire.commands import Prompt, SetAcceptEdits
from kimi_tui.wire.events import TurnEnd
from kimi_tui.wire.requests import ApprovalRequest
from tests.engine.fake_front_end import FakeFrontEnd, SessionEnv, bash, script
from tests.engine.test_run_first import git, trial_home

__all__ = ["trial_home"]

TEST = "python3 -m unittest -q"
TASKS: dict[str, list[str]] = {
    "fix a test": [
        "git status --short",
        TEST,
        "grep -rn total shop",
        "sed -i 's/- tax/+ tax/' shop/cart.py",
        TEST,
    ],
    "add a feature": ["cat shop/cart.py", "printf 'def empty():\\n    return []\\n' >> shop/cart.py", TEST],
    "rename a function": [
        "grep -rln add_item .",
        "sed -i s/add_item/add/ shop/cart.py",
        "git diff --stat",
        TEST,
    ],
    "upgrade a dependency": ["cat requirements.txt", "sed -i s/==1.0/==1.1/ requirements.txt", "git diff"],
    "commit": [
        "git status",
        "git diff",
        "git add -A && git commit -qm 'Edit the cart'",
        "git log --oneline",
    ],
    "review": ["git show --stat HEAD", "git show HEAD", "wc -l shop/*.py", "git log -3 --oneline"],
    "find a bug": ["grep -n tax shop/cart.py", "python3 -c 'import shop.cart; print(shop.cart.total([1]))'"],
    "add a test": ["ls", "cp test_cart.py test_empty.py", TEST],
    "format": ["sed -i 's/[ ]*$//' shop/cart.py", "git diff --check", TEST],
    "count lines": ["find . -name '*.py' -not -path './.git/*' | xargs wc -l", "du -sh shop"],
    "explain the code": ["ls -R shop", "head -50 shop/cart.py", "git log --stat -1"],
    "move a module": ["mkdir -p shop/util", "touch shop/util/__init__.py", "git status --short", TEST],
    "remove a file that the agent created": ["rm test_empty.py", "git status --short", TEST],
    "remove a file of the user's": ["grep -rn notes .  || true", "rm notes.txt", "git status --short"],
    "write a script": ["mkdir -p bin", "printf 'echo hi\\n' > bin/hi", "chmod +x bin/hi", "bin/hi"],
    "generate data": ["python3 -c \"open('data.csv','w').write('a,b')\"", "cat data.csv", "wc -c data.csv"],
    "check types": ["python3 -m compileall -q shop", "python3 -m py_compile shop/cart.py", TEST],
    "compare branches": ["git branch -a", "git rev-parse HEAD", "git diff HEAD~1 --stat"],
    "document": ["cat README.md", "printf '\\n## Usage\\n' >> README.md", "git diff README.md"],
    "commit again": ["git diff --stat", "git add -A && git commit -qm 'Add scripts'", "git status --short"],
}


def create_project(home: SessionEnv) -> None:
    folder = home.work_dir
    (folder / "shop").mkdir()
    (folder / "shop" / "__init__.py").touch()
    (folder / "shop" / "cart.py").write_text(
        "def add_item(cart, item):\n    return [*cart, item]\n\n\n"
        "def total(cart, tax=0):\n    return sum(cart) - tax\n"
    )
    (folder / "test_cart.py").write_text(
        "import unittest\nfrom shop.cart import total\n\n\nclass Total(unittest.TestCase):\n"
        "    def test_total(self):\n        self.assertEqual(total([1, 2], 1), 4)\n"
    )
    (folder / "requirements.txt").write_text("left==1.0\n")
    (folder / "README.md").write_text("# Shop\n")
    (folder / "notes.txt").write_text("mine\n")
    (folder / ".gitignore").write_text("__pycache__/\n")
    git(folder, "init", "-q")
    for name in ("name", "email"):
        git(folder, "config", f"user.{name}", "a")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def is_allowed_by_mode(path: str, after: dict[str, bytes]) -> bool:
    """Return whether accept edits mode allows the change of `path`: no deletion, not git's data."""
    return path in after and not path.startswith(".git/")


async def run_turn(front: FakeFrontEnd) -> list[ApprovalRequest]:
    """Run a turn, approve what it asks, and return the requests."""
    asked: list[ApprovalRequest] = []
    front.send(Prompt("go"))
    while True:
        message = await front.wait_for(object, where=lambda it: isinstance(it, ApprovalRequest | TurnEnd))
        if not isinstance(message, ApprovalRequest):
            return asked
        asked.append(message)
        front.answer(message, "approve")


async def count_questions(home: SessionEnv) -> int:
    create_project(home)
    scripts: list[str] = []
    for commands in TASKS.values():
        scripts += [script(bash(f"c{len(scripts)}{n}", text)) for n, text in enumerate(commands)]
        scripts.append("text: done")
    home.script(*scripts)
    n_questions = 0
    created: set[str] = set()
    async with home.open_session() as front:
        front.send(SetAcceptEdits(True))
        for name in TASKS:
            before = files_of(home.work_dir)
            asked = await run_turn(front)
            after = files_of(home.work_dir)
            n_questions += len(asked)
            shown = {file.path for it in asked if it.effects is not None for file in it.effects.files}
            ran_before = any(it.effects is None for it in asked)
            changed = {path for path in {*before, *after} if before.get(path) != after.get(path)}
            for path in changed - created:
                is_shown = path in shown or (path.startswith(".git/") and ".git" in shown) or ran_before
                assert is_shown or is_allowed_by_mode(path, after), (name, path)
            created |= {path for path in after if path not in before}
        failed = [name for name, result in front.results.items() if result.return_value.is_error]
    log = subprocess.run(
        ["git", "log", "--format=%s"], cwd=home.work_dir, check=True, capture_output=True, text=True
    )
    assert log.stdout.split("\n")[:2] == ["Add scripts", "Edit the cart"], failed
    assert not home.file("notes.txt").exists()
    return n_questions


@pytest.mark.slow
async def test_daily_tasks_need_at_most_a_fifth_of_the_questions(
    trial_home: SessionEnv, tmp_path: Path
) -> None:
    (tmp_path / "before").mkdir()
    asked_first = SessionEnv(tmp_path / "before")
    n_before = await count_questions(asked_first)
    n_after = await count_questions(trial_home)
    assert n_before == sum(map(len, TASKS.values()))
    assert n_after * 5 <= n_before, (n_after, n_before)
