"""Files that the program writes are private to the user whatever the umask, and secrets don't leak."""

import os
import signal
import stat
import sys
from pathlib import Path

import pytest

from tests.e2e.program import Program, script, tool_call
from tests.e2e.screen import Screen
from tests.timeouts import TEST_TIMEOUT_S


def test_everything_in_the_data_directory_is_private_whatever_the_umask(program: Program) -> None:
    program.script(
        script(
            tool_call("c1", "Bash", command="seq 1 60000; echo changed > file.txt"),
            tool_call("c2", "Bash", command="sleep 300", run_in_background=True),
        ),
        script("text: done"),
    )
    with (program.data_dir / "config.toml").open("a") as config:
        config.write("\n[checkpoints]\nfiles = true\n")
    (program.data_dir / "config.toml").chmod(0o644)  # as editors create it
    program.umask = 0
    running = program.start("--print", "--yolo", "-p", "go")
    _, errors = running.communicate(timeout=TEST_TIMEOUT_S)
    assert running.returncode == 0, errors
    written = assert_private(program)
    assert {"context.jsonl", "wire.jsonl", "state.json", "kimi-tui.log", "bash-1.log", "store"} <= written


def test_drafts_and_history_of_the_app_are_private_whatever_the_umask(program: Program) -> None:
    program.script("text: I see")
    program.umask = 0
    screen = Screen(program)
    screen.wait_for("Ask anything")
    screen.type("look")
    screen.press("enter")
    screen.wait_for("I see")
    screen.type("not sent")
    screen.wait_for("not sent")
    os.kill(screen.pid, signal.SIGTERM)
    screen.exit_code()
    screen.close()
    written = assert_private(program)
    assert {"drafts", "user-history"} <= written
    assert any("not sent" in file.read_text() for file in program.data_dir.glob("drafts/*.json"))


def assert_private(program: Program) -> set[str]:
    """Assert that no other user can read the data directory. Return the names of everything in it."""
    modes = {
        str(path.relative_to(program.data_dir)): stat.S_IMODE(path.lstat().st_mode)
        for path in program.data_dir.rglob("*")
    }
    too_open = {name: oct(mode) for name, mode in modes.items() if mode & 0o077}
    assert too_open == {}
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
while b"supervisor.py" in pathlib.Path(f"/proc/{program}/cmdline").read_bytes():
    program = parents[program]  # the command runs in a workspace
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


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_no_child_process_gets_the_api_key(program: Program) -> None:
    """Neither commands of the model, hooks nor helpers get it, as an argument or in the environment."""
    spy, seen = program.home / "spy.py", program.home / "seen"
    spy.write_text(SPY)
    key, token = "unguessable-key-of-the-model", "unguessable-token-of-the-user"
    program.env = {"MOON": key, "GITHUB_TOKEN": token}
    spy_command = f"{sys.executable} {spy} {seen}"
    program.script(
        script(
            tool_call("c1", "Bash", command=f"{spy_command}-bash 2; true"),
            tool_call("c2", "Grep", pattern="x"),
        ),
        script("text: done"),
    )
    text = (program.data_dir / "config.toml").read_text()
    text = text.replace('type = "scripted"', 'type = "scripted"\napi_key = "env:MOON"', 1)
    hook = f'[[hooks]]\nevent = "PreToolUse"\nmatcher = "Bash"\ncommand = "{spy_command}-hook 2; true"\n'
    (program.data_dir / "config.toml").write_text(f"{text}\n{hook}")
    program.run("--print", "--yolo", "-p", "go")

    for name in ("bash", "hook"):
        observed = Path(f"{seen}-{name}").read_bytes()
        assert str(spy).encode() in observed
        assert key.encode() not in observed, name
        assert token.encode() in observed, "the user's other variables are passed, as in any shell"


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
    logged = (program.data_dir / "logs" / "kimi-tui.log").read_text()
    assert logged
    assert key not in logged
    assert token not in logged
