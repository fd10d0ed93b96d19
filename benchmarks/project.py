"""A project of many files, as large as those of a program's source, and changes to them."""

import os
import random
import time
from pathlib import Path

from benchmarks.words import markdown

FILES_A_FOLDER = 20
FOLDERS_A_FOLDER = 50
_MEDIAN_BYTES = 3_000
_SPREAD = 0.9
_MOST_BYTES = 60_000
_OLD_S = 3600
"""How long ago the files were written: one that changed just now is read twice by who is careful."""
_IGNORED = ["__pycache__/", "*.py[cod]", ".venv/", "build/", "dist/", "*.egg-info/", "*.log", ".DS_Store"]


def make_project(root: Path, n_files: int) -> None:
    """Write a git repository's files, by a log-normal distribution of sizes (4.5 KB on average)."""
    rng = random.Random(n_files)
    text = markdown(30_000).encode()
    (root / ".git").mkdir(parents=True)
    (root / ".gitignore").write_text("\n".join(_IGNORED) + "\n")
    then = time.time() - _OLD_S
    for number in range(n_files):
        folder = number // FILES_A_FOLDER
        place = root / f"package{folder // FOLDERS_A_FOLDER}" / f"part{folder % FOLDERS_A_FOLDER}"
        if number % FILES_A_FOLDER == 0:
            place.mkdir(parents=True)
        size = min(_MOST_BYTES, round(_MEDIAN_BYTES * rng.lognormvariate(0, _SPREAD)))
        start = rng.randrange(len(text) - size)
        file = place / f"module{number}.py"
        file.write_bytes(b"# module %d\n" % number + text[start : start + size])
        os.utime(file, (then, then))


def some_files(root: Path, count: int) -> list[Path]:
    """`count` of a project's files, from everywhere in it."""
    files = sorted(root.glob("package*/part*/module*.py"))
    return files[:: max(1, len(files) // count)][:count]


def edit(file: Path, number: int) -> None:
    """Change a line in the middle of a file and add one, as an edit does."""
    lines = file.read_text().split("\n")
    lines[len(lines) // 2 : len(lines) // 2 + 1] = [f"changed {number} by the agent", "and a line more"]
    file.write_text("\n".join(lines))
