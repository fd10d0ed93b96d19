"""Random command lines that run first, compared with a real bash by the files that they leave.

An answer "yes" leaves the same files as bash does, and the question has listed each change. "No" leaves
everything as it was.
"""

import os
import random
import shutil
import subprocess
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from kimi_tui.wire.commands import Prompt
from kimi_tui.wire.events import TurnEnd
from kimi_tui.wire.requests import ApprovalRequest
from tests.engine.fake_front_end import FakeFrontEnd, SessionEnv, bash, script
from tests.engine.test_run_first import create_repository, trial_home
from tests.workspaces.tree_state import EntryState, read_tree, tree_differences

__all__ = ["trial_home"]

SEEDS = int(os.environ.get("KIMI_TUI_COMMAND_LINES", "4"))
LINES_PER_SEED = 8
NAMES = (
    "a", "b", "sub/c", "sub/deep/d", "'x y'", "$n", "new", "sub", "l", "{p,q}", "sub/*", ".hidden",
    "\"$(echo e)\"",
)  # fmt: skip
SIMPLE = (
    "echo {t} > {f}", "echo {t} >> {f}", "printf '{t}' | tee {f} >/dev/null", "cat {f}", "rm {f}",
    "rm -rf {f}", "mkdir -p {f}", "cp {f} {g}", "cp -r {f} {g}", "mv {f} {g}", "ln -s {f} {g}",
    "ln {f} {g}", "chmod {m} {f}", "touch {f}", "truncate -s 3 {f}", "sed -i s/o/0/ {f}",
    "sort -o {f} {f}", "find . -name '{t}' -not -path './.git/*' -delete", "git add -A",
    "git status --short", "git stash -q", "git mv {f} {g}", "git rm -q --cached {f}", "grep -r {t} .",
    "ls -R", "wc {f}", "test -e {f}", "n={t}", "cd sub && touch z", "dd if={f} of={g} status=none",
    "install -m 600 {f} {g}", "rmdir {f}", "exec > {f}; echo x", "set -C",
    "python3 -c \"open('{t}','w').write('x')\"", "read v < {f}; echo $v > {g}",
    "cat <<E > {f}\n{t} $n\nE", "> {f}", ": > {f} > {g}",
)  # fmt: skip
JOINS = ("; ", " && ", " || ", "\n", " | ")
WRAPS = (
    "{}", "{}", "{}", "( {} )", "{{ {}; }}", "for i in 1 2; do {}; done", "if true; then {}; fi", "! {}",
    "bash -c {!r}", "eval {!r}",
)  # fmt: skip


def random_line(rng: random.Random) -> str:
    """Return a command line of one to four commands on files of the project."""
    parts = []
    for _ in range(rng.choice((1, 1, 2, 3, 4))):
        command = rng.choice(SIMPLE)
        for key, values in (
            ("{t}", ("one", "two", "o")),
            ("{f}", NAMES),
            ("{g}", NAMES),
            ("{m}", ("600", "755", "+x")),
        ):
            command = command.replace(key, rng.choice(values))
        parts.append(rng.choice(WRAPS).format(command))
    line = parts[0]
    for part in parts[1:]:
        line += rng.choice(JOINS) + part
    return line


def create_project(folder: Path) -> None:
    (folder / "sub" / "deep").mkdir(parents=True)
    for name in ("a", "b", "sub/c", "sub/deep/d", "x y"):
        (folder / name).write_text(f"one\ntwo {name}\n")
    create_repository(folder)


def run_in_bash(line: str, folder: Path) -> None:
    subprocess.run(
        ["bash", "-c", line],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )


def files_of(folder: Path, started_ns: int) -> dict[bytes, EntryState]:
    """Return the state of all files, except for git's, whose objects and times depend on the moment."""
    tree = read_tree(os.fsencode(folder), started_ns)
    return {path: state for path, state in tree.items() if not path.startswith(b".git")}


def listed(request: ApprovalRequest) -> set[str]:
    assert request.effects is not None
    return {file.path.rstrip("/") for file in request.effects.files}


def changed_paths(before: Mapping[bytes, EntryState], after: Mapping[bytes, EntryState]) -> set[str]:
    """Return the paths that differ. A new hard link changes only its own path, unless content differs."""
    old, new = ({path: replace(it, links=()) for path, it in each.items()} for each in (before, after))
    return {os.fsdecode(path) for path in {*old, *new} if old.get(path) != new.get(path)}


def with_hard_links(names: set[str], tree: Mapping[bytes, EntryState]) -> set[str]:
    """Return `names`, and the other names of these files."""
    states = (tree.get(os.fsencode(name)) for name in names)
    return names | {os.fsdecode(path) for state in states if state for path in state.links}


async def run_line(front: FakeFrontEnd, answer: str) -> list[ApprovalRequest]:
    asked: list[ApprovalRequest] = []
    front.send(Prompt("go"))
    while True:
        event = await front.wait_for(object, where=lambda it: isinstance(it, ApprovalRequest | TurnEnd))
        if not isinstance(event, ApprovalRequest):
            return asked
        asked.append(event)
        front.answer(event, "approve" if answer == "yes" else "reject", "" if answer == "yes" else "no")


@pytest.mark.parametrize("seed", range(SEEDS))
async def test_random_command_lines_leave_what_bash_leaves_or_nothing(
    trial_home: SessionEnv, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for role in ("AUTHOR", "COMMITTER"):
        for field, value in (("NAME", "a"), ("EMAIL", "a@b"), ("DATE", "2024-01-01T00:00:00Z")):
            monkeypatch.setenv(f"GIT_{role}_{field}", value)
    started_ns = time.time_ns()
    create_project(trial_home.work_dir)
    copy = trial_home.path / "copy"
    shutil.copytree(trial_home.work_dir, copy, symlinks=True)
    rng = random.Random(seed)
    lines = [random_line(rng) for _ in range(LINES_PER_SEED)]
    scripts = []
    for number, line in enumerate(lines):
        scripts += [script(bash(f"c{number}", line)), "text: done"]
    trial_home.script(*scripts)
    async with trial_home.open_session() as front:
        for line in lines:
            answer = rng.choice(("yes", "no"))
            before = files_of(trial_home.work_dir, started_ns)
            asked = await run_line(front, answer)
            after = files_of(trial_home.work_dir, started_ns)
            changed = changed_paths(before, after)
            if answer == "no":
                assert not changed, (line, changed)
                continue
            run_in_bash(line, copy)
            assert not tree_differences(files_of(copy, started_ns), after), line
            if all(request.effects is not None for request in asked):
                shown = with_hard_links(set().union(*map(listed, asked)), after)
                parents = {str(parent) for name in {*shown, *changed} for parent in Path(name).parents}
                assert changed - shown - parents == set(), line
