"""What the program writes is for its user alone, however careless the umask."""

import os
import signal
import stat
import sys
from pathlib import Path

import pytest

from tests.e2e.program import Program, script, tool_call
from tests.e2e.screen import Screen
from tests.patience import PATIENCE_S


def test_everything_in_the_share_dir_is_private_whatever_the_umask(program: Program) -> None:
    program.script(
        script(
            tool_call("c1", "Bash", command="seq 1 60000; echo changed > file.txt"),
            tool_call("c2", "Bash", command="sleep 300", run_in_background=True),
        ),
        script("text: done"),
    )
    with (program.share_dir / "config.toml").open("a") as config:
        config.write("\n[checkpoints]\nfiles = true\n")
    (program.share_dir / "config.toml").chmod(0o644)  # as an editor leaves it
    program.umask = 0
    running = program.start("--print", "--yolo", "-p", "go")
    _, errors = running.communicate(timeout=PATIENCE_S)
    assert running.returncode == 0, errors
    written = assert_private(program)
    assert {"context.jsonl", "wire.jsonl", "state.json", "kimi-tui.log", "bash-1.log", "store"} <= written


def test_what_the_app_writes_is_private_whatever_the_umask(program: Program) -> None:
    program.script("text: I see")
    program.umask = 0
    screen = Screen(program)
    screen.until("Ask anything")
    screen.type("look")
    screen.press("enter")
    screen.until("I see")
    screen.type("not sent")
    screen.until("not sent")
    os.kill(screen.pid, signal.SIGTERM)
    screen.exit_code()
    screen.close()
    written = assert_private(program)
    assert {"drafts", "user-history"} <= written
    assert any("not sent" in file.read_text() for file in program.share_dir.glob("drafts/*.json"))


def assert_private(program: Program) -> set[str]:
    """That nobody else may read what is in the share dir; the names of all that is there."""
    modes = {
        str(path.relative_to(program.share_dir)): stat.S_IMODE(path.lstat().st_mode)
        for path in program.share_dir.rglob("*")
    }
    wide = {name: oct(mode) for name, mode in modes.items() if mode & 0o077}
    assert wide == {}
    return {name.rpartition("/")[2] for name in modes}


SPY = r"""
import os, pathlib, sys

def fields(pid):
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()

seen, parents = {}, {}
for each in pathlib.Path("/proc").iterdir():
    if each.name.isdigit():
        try:
            parents[int(each.name)] = int(fields(each.name)[1])
        except OSError:
            pass
program = os.getpid()
for _ in range(int(sys.argv[2])):
    program = parents[program]
for pid in parents:
    above = pid
    while above in parents and above != program:
        above = parents[above]
    if above == program:
        try:
            line = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
            environment = pathlib.Path(f"/proc/{pid}/environ").read_bytes() if pid != program else b""
        except OSError:
            continue
        with open(sys.argv[1], "ab") as out:
            out.write(line + b"\n" + environment + b"\n")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="processes tell of themselves in /proc")
def test_no_process_that_we_start_is_told_the_models_key(program: Program) -> None:
    """Neither what the model has run, nor hooks, nor helpers: not as an argument, not in the environment."""
    spy, seen = program.home / "spy.py", program.home / "seen"
    spy.write_text(SPY)
    key, token = "unguessable-key-of-the-model", "unguessable-token-of-the-user"
    program.env = {"MOON": key, "GITHUB_TOKEN": token}
    look = f"{sys.executable} {spy} {seen}"
    program.script(
        script(
            tool_call("c1", "Bash", command=f"{look}-bash 2; true"),
            tool_call("c2", "Grep", pattern="x"),
        ),
        script("text: done"),
    )
    text = (program.share_dir / "config.toml").read_text()
    text = text.replace('type = "scripted"', 'type = "scripted"\napi_key = "env:MOON"', 1)
    hook = f'[[hooks]]\nevent = "PreToolUse"\nmatcher = "Bash"\ncommand = "{look}-hook 2; true"\n'
    (program.share_dir / "config.toml").write_text(f"{text}\n{hook}")
    program.run("--print", "--yolo", "-p", "go")

    for name in ("bash", "hook"):
        told = Path(f"{seen}-{name}").read_bytes()
        assert str(spy).encode() in told
        assert key.encode() not in told, name
        assert token.encode() in told, "what else the user has set is there, as in other shells"


def test_secrets_of_config_and_environment_stay_out_of_the_log(program: Program) -> None:
    key, token = "unguessable-key-of-the-config", "unguessable-token-of-the-environment"
    program.env = {"MY_TOKEN": token}
    program.configure(
        f"""
        default_model = "m"
        [providers.p]
        type = "openai"
        base_url = "http://127.0.0.1:9/{key}"
        api_key = "{key}"
        [models.m]
        provider = "p"
        model = "x-{token}"
        max_context_size = 1000
        [loop_control]
        max_retries_per_step = 1
        """
    )
    program.run("--print", "-p", "hello", "--debug")
    logged = (program.share_dir / "logs" / "kimi-tui.log").read_text()
    assert logged
    assert key not in logged
    assert token not in logged
