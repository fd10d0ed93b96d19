"""Generated project with many files of realistic sizes, and edits of them."""

import os
import random
import time
from pathlib import Path

from benchmarks.sample_text import markdown

FILES_A_FOLDER = 20
FOLDERS_A_FOLDER = 50
_MEDIAN_BYTES = 3_000
_SPREAD = 0.9
_MAX_BYTES = 60_000
_OLD_S = 3600
"""Age of the files. A file that was just changed may have to be read twice."""
_IGNORED = ["__pycache__/", "*.py[cod]", ".venv/", "build/", "dist/", "*.egg-info/", "*.log", ".DS_Store"]


def make_project(root: Path, n_files: int) -> None:
    """Write the files of a git repository, with a log-normal distribution of sizes (4.5 KB on average)."""
    rng = random.Random(n_files)
    text = markdown(30_000).encode()
    (root / ".git").mkdir(parents=True)
    (root / ".gitignore").write_text("\n".join(_IGNORED) + "\n")
    modified = time.time() - _OLD_S
    for number in range(n_files):
        folder = number // FILES_A_FOLDER
        directory = root / f"package{folder // FOLDERS_A_FOLDER}" / f"part{folder % FOLDERS_A_FOLDER}"
        if number % FILES_A_FOLDER == 0:
            directory.mkdir(parents=True)
        size = min(_MAX_BYTES, round(_MEDIAN_BYTES * rng.lognormvariate(0, _SPREAD)))
        start = rng.randrange(len(text) - size)
        file = directory / f"module{number}.py"
        file.write_bytes(b"# module %d\n" % number + text[start : start + size])
        os.utime(file, (modified, modified))


def sample_files(root: Path, count: int) -> list[Path]:
    """Return `count` files from all parts of the project."""
    files = sorted(root.glob("package*/part*/module*.py"))
    return files[:: max(1, len(files) // count)][:count]


def edit(file: Path, number: int) -> None:
    """Change a line in the middle of a file and add one."""
    lines = file.read_text().split("\n")
    lines[len(lines) // 2 : len(lines) // 2 + 1] = [f"changed {number} by the agent", "and a line more"]
    file.write_text("\n".join(lines))
