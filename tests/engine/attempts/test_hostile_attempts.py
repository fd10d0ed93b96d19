"""Random commands of attempts that try to change files outside of their workspace."""

import os
import random
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from kimi_tui.wire.attempts import AttemptChanges, AttemptOptions, ReadAttempt, StartAttempts
from tests.engine.attempts.test_attempts import rewrite, run_attempts
from tests.engine.engine_client import session, text_reply, tool_calls
from tests.workspaces.workspace_env import TreeEntry, read_tree

RUNS = int(os.environ.get("KIMI_TUI_HOSTILE_RUNS", "12"))
RUNS_PER_ATTEMPT = 25
PYTHON = f"{sys.executable} -ISc"

WAYS = {
    "the path": "T={target}",
    "a relative path": "T=$(realpath --relative-to=. {target})",
    "a new symbolic link": "ln -sfn {folder} way$N; T=way$N/{name}",
    "a symbolic link of the project": "T=link/{name}",
    "a chain of symbolic links": "ln -sfn / r$N; ln -sfn r$N{folder} s$N; T=s$N/{name}",
    "a hard link": "ln -f {target} hard$N || cp -l {target} hard$N; T=hard$N",
    "its own root": "T=/proc/self/root{target}",
    "the root of its parent": "T=/proc/$PPID/root{target}",
    "the first process": "T=/proc/1/root{target}",
    "the directory of another process": (
        "T={target}; for p in /proc/[0-9]*; do test -e $p/cwd/../{tail} && T=$p/cwd/../{tail}; done"
    ),
    "a descriptor": "exec 8< {folder}; T=/proc/self/fd/8/{name}",
    "a bind mount": "mkdir -p m$N; mount --bind {folder} m$N; T=m$N/{name}",
    "the directory of before": "cd {folder} && cd - > /dev/null; T=$OLDPWD/{name}",
}
"""How a command reaches a file. Each sets T."""
METHODS = {
    "overwrite": "echo evil > $T",
    "append": "echo evil >> $T",
    "tee": "echo evil | tee $T",
    "copy": "cp /etc/hostname $T",
    "move": "echo evil > e$N; mv -f e$N $T",
    "dd": "echo evil | dd of=$T",
    "sed": "sed -i s/mine/evil/ $T",
    "delete": "rm -rf $T",
    "move away": "mv $T gone$N",
    "truncate": "truncate -s 0 $T",
    "mode": "chmod 777 $T",
    "time": "touch -d 2001-01-01 $T",
    "attribute": "setfattr -n user.evil -v 1 $T",
    "new file beside it": "echo evil > $(dirname $T)/evil$N",
    "new link in its place": "ln -sfn /etc/hostname $T",
    "archive": "mkdir -p t$N; echo evil > t$N/$(basename $T); tar -C t$N -c . | tar -C $(dirname $T) -x",
    "Python": PYTHON + ' \'import sys; open(sys.argv[1], "w").write("evil")\' $T',
    "rename in Python": "echo evil > e$N; " + PYTHON + " 'import os, sys; os.replace(*sys.argv[1:])' e$N $T",
}
"""What a command does to the file at $T."""
WRAPPERS = {
    "a shell": "bash {script}",
    "the background": "nohup setsid bash {script} > /dev/null 2>&1 & sleep 0.2",
    "a trap": "trap 'bash {script}' EXIT",
    "make": "printf 'all:\\n\\t@bash {script}\\n' > M$N; make -f M$N",
    "find": "find {script} -exec bash {{}} \\;",
    "a namespace": "unshare -Urm bash {script}",
    "an unmounted view": "umount -l $PWD; umount -l /tmp; bash {script}",
    "Python": PYTHON + ' \'import subprocess; subprocess.run(["bash", "{script}"])\'',
    "a new session": (
        PYTHON + ' \'import os; os.fork() or (os.setsid(), os.execlp("bash", "bash", "{script}"))\'; '
        "sleep 0.2"
    ),
}
"""How a command runs a script."""


def draw_command(number: int, targets: Sequence[Path], chance: random.Random) -> str:
    """Return a command that tries to change one of `targets`, and notes in the work dir that it ran."""
    target = chance.choice(targets)
    values = {
        "target": target,
        "folder": target.parent,
        "name": target.name,
        "tail": f"{target.parent.name}/{target.name}",
    }
    way = WAYS[chance.choice(list(WAYS))].format(**values)
    method = METHODS[chance.choice(list(METHODS))]
    script = f"script{number}"
    text = f"N={number}\n{way}\n{method}\n"
    wrapper = WRAPPERS[chance.choice(list(WRAPPERS))].format(script=script)
    return f"cat > {script} <<'END'\n{text}END\nexport N={number}\necho {number} >> ran\n{wrapper}; true"


def read_all(folders: Sequence[Path]) -> list[dict[str, TreeEntry]]:
    """Return the content, modes and times of all files."""
    return [read_tree(folder, times=True) for folder in folders]


async def test_hostile_attempts_change_nothing_outside(
    work_dir: Path, data_dir: Path, tmp_path: Path
) -> None:
    outside, home = tmp_path / "outside", tmp_path / "home"
    for path in (work_dir / "a.txt", work_dir / "d" / "b.txt", outside / "secret", home / ".bashrc"):
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine\n")
    (work_dir / "link").symlink_to(outside)
    folders = (work_dir, outside, home)
    async with session(work_dir, data_dir, text_reply("hello")) as client:
        await client.ask("hello")
        (config,) = (tmp_path / "share").glob("*.json")
        targets = [path for folder in folders for path in folder.rglob("*") if path.is_file()] + [config]
        before = read_all(folders)
        for first in range(0, RUNS, RUNS_PER_ATTEMPT):
            numbers = range(first, min(first + RUNS_PER_ATTEMPT, RUNS))
            commands = [draw_command(number, targets, random.Random(number)) for number in numbers]
            calls = tool_calls(*(("Bash", {"command": command, "timeout": 60}) for command in commands))
            rewrite(data_dir, calls, text_reply("ok"))
            scripts = config.read_bytes()
            ended = await run_attempts(client, StartAttempts(attempts=(AttemptOptions(),)))
            attempt = ended.attempts[-1]
            if not attempt.is_bounded:
                pytest.skip("bubblewrap can't limit commands here")
            assert attempt.state == "finished", attempt
            assert read_all(folders) == before, f"runs {numbers}"
            assert config.read_bytes() == scripts, f"runs {numbers}"
            changes = await client.run_command(ReadAttempt(attempt.number), AttemptChanges)
            (ran,) = [file for file in changes.files if file.path == "ran"]
            assert ran.diff is not None
            assert ran.diff.new_text.split() == [str(number) for number in numbers]
            client.events.clear()
