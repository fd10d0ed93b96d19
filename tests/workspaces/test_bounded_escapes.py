"""Commands that try to leave the bounds of their workspace."""

import asyncio
import ctypes
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.workspaces.bounded_env import BoundedEnv

PYTHON = f"{sys.executable} -ISc"
KEY_NAME = "kimi-tui-test-key"
LIBC = "import ctypes; libc = ctypes.CDLL(None, use_errno=True)"
SYSCALLS = {"x86_64": {"add_key": 248, "request_key": 249}, "aarch64": {"add_key": 217, "request_key": 218}}

WRITES = {
    "the working directory of a process": 'echo x > "/proc/$OUTSIDE_PID/cwd/escaped"',
    "the root of a process": 'echo x > "/proc/$OUTSIDE_PID/root/$OUTSIDE/escaped"',
    "a descriptor of a process": 'echo x > "/proc/$OUTSIDE_PID/fd/9/escaped"',
    "the root of the first process": 'echo x > "/proc/1/root/$OUTSIDE/escaped"',
    "descriptors of all processes": 'for f in /proc/[0-9]*/fd/*; do echo x > "$f/escaped"; done',
    "all roots": 'for p in /proc/[0-9]*; do echo x > "$p/root/$OUTSIDE/escaped"; done',
    "the namespace of a process": 'nsenter -t "$OUTSIDE_PID" -m touch "$OUTSIDE/escaped"',
    "the namespace of the first process": 'nsenter -t 1 -a touch "$OUTSIDE/escaped"',
    "the user namespace of a process": 'nsenter -t "$OUTSIDE_PID" -U -m touch "$OUTSIDE/escaped"',
    "unmounting the view": 'umount -l "$WORK"; umount "$WORK"; echo x > "$WORK/escaped"',
    "unmounting in another namespace": (
        'unshare -Urm sh -c \'umount -l "$WORK"; umount -l "$OUTSIDE"; touch "$OUTSIDE/escaped"\''
    ),
    "a bind mount of a parent": (
        "unshare -Urm sh -c 'mkdir -p b; mount --bind \"$AREA\" b; touch b/outside/escaped b/work/escaped'"
    ),
    "a recursive bind mount": (
        "unshare -Urm sh -c 'mkdir -p b; mount --rbind / b; touch \"b$OUTSIDE/escaped\"'"
    ),
    "remounting as writable": (
        "mount -o remount,rw /; unshare -Urm sh -c 'mount -o remount,rw,bind /; touch \"$OUTSIDE/escaped\"'"
    ),
    "a new proc": ("unshare -Urmpf sh -c 'mkdir -p p; mount -t proc p p; touch p/1/root/$OUTSIDE/escaped'"),
    "chroot": 'unshare -Ur chroot / sh -c \'touch "$OUTSIDE/escaped"\'; chroot / touch "$OUTSIDE/escaped"',
    "a setuid program": (
        "cp /bin/sh s; chown 0 s; chmod 6755 s; ./s -pc 'touch \"$OUTSIDE/escaped\"'; "
        'su -c "touch $OUTSIDE/escaped"; sudo -n touch "$OUTSIDE/escaped"'
    ),
    "a device": (
        "device=$(stat -c '%Hd %Ld' \"$OUTSIDE\"); mknod d b $device; echo x > d; "
        "unshare -Ur mknod e b $device; echo x > e"
    ),
    "the layer": 'touch "$LAYERS/escaped"; find "$LAYERS" -mindepth 1 -exec touch {}/escaped ";"',
    "a hard link": 'ln "$OUTSIDE/file" link; echo x >> link; chmod 777 "$OUTSIDE/file"',
    "a symbolic link": 'ln -s "$OUTSIDE" link; echo x > link/escaped; echo x >> link/file',
    "a swapped parent": 'cd "$WORK"; mv "$AREA/outside" "$AREA/o"; ln -s "$WORK" "$AREA/outside"',
    "shared memory": "echo x > /dev/shm/kimi-tui-escaped; touch /dev/mqueue/kimi-tui-escaped",
    "cgroups": "mkdir /sys/fs/cgroup/kimi-tui-escaped; echo 1 > /sys/fs/cgroup/cgroup.procs",
    "temporary files": "echo x > /tmp/kimi-tui-escaped; echo x > /var/tmp/kimi-tui-escaped",
    "the home directory": 'echo x >> "$HOME_DIR/.bashrc"; mkdir -p "$HOME_DIR/.config/autostart"',
    "io_uring or handles": (
        f"{PYTHON} '{LIBC}; print(libc.syscall(304, -100, 0, 0))'; touch \"$OUTSIDE/../outside/escaped\""
    ),
    "signals": 'kill -9 "$OUTSIDE_PID"; kill -9 -1; kill -9 "$PPID"',
    "ptrace": (
        f"{PYTHON} '{LIBC}; import os; print(libc.ptrace(16, int(os.environ[\"OUTSIDE_PID\"]), 0, 0))'"
    ),
    "its own descriptors": 'for f in /proc/self/fd/*; do echo x > "$f/../escaped"; done',
}


@pytest.fixture
def outside_pid(bounded_env: BoundedEnv) -> Iterator[int]:
    """Return a process of the user's, in the work dir, with a folder outside as descriptor 9."""
    process = subprocess.Popen(
        ["bash", "-c", f"exec 9< '{bounded_env.outside}'; exec sleep 600"], cwd=bounded_env.work
    )
    yield process.pid
    assert process.poll() is None
    process.kill()
    process.wait()


@pytest.mark.parametrize("escape", WRITES)
async def test_nothing_outside_changes(escape: str, bounded_env: BoundedEnv, outside_pid: int) -> None:
    env = bounded_env
    (env.outside / "file").write_text("mine\n")
    (env.outside / "file").chmod(0o644)
    before = _state(env)
    names = {
        "OUTSIDE_PID": outside_pid,
        "OUTSIDE": env.outside,
        "AREA": env.env.folder,
        "WORK": env.work,
        "LAYERS": env.env.data / "workspaces",
        "HOME_DIR": env.home,
    }
    exports = "".join(f"export {name}='{value}'\n" for name, value in names.items())
    ran = await env.run(f"exec 2>&1\n{exports}{WRITES[escape]}\ntrue")
    assert _state(env) == before, ran.output
    for effect in ran.effects.items:
        assert Path(effect.path).is_relative_to(env.work)
        assert not os.path.lexists(effect.path)


def _state(env: BoundedEnv) -> dict[str, tuple[int, int, bytes]]:
    """Return everything below the test's folder, except for what the program and commands may change."""
    state: dict[str, tuple[int, int, bytes]] = {}
    for folder, folders, files in os.walk(env.env.folder):
        if Path(folder) == env.env.folder:
            folders[:] = [name for name in folders if name not in ("data", "temp")]
        for name in (*folders, *files):
            path = Path(folder, name)
            info = path.lstat()
            state[str(path)] = (info.st_mode, info.st_nlink, path.read_bytes() if path.is_file() else b"")
    for name in ("/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/sys/fs/cgroup"):
        path = Path(name, "kimi-tui-escaped")
        state[str(path)] = (int(os.path.lexists(path)), 0, b"")
    return state


async def test_a_command_has_no_capabilities_and_can_gain_none(bounded_env: BoundedEnv) -> None:
    ran = await bounded_env.run("grep -E '^(Cap(Prm|Eff|Bnd|Inh|Amb)|NoNewPrivs)' /proc/self/status")
    values = dict(line.split(":\t") for line in ran.output.splitlines())
    assert values.pop("NoNewPrivs") == "1"
    assert {int(value, 16) for value in values.values()} == {0}


@pytest.mark.parametrize("name", ["kernel/core_pattern", "kernel/modprobe", "vm/overcommit_memory"])
async def test_settings_of_the_kernel_are_read_only(name: str, bounded_env: BoundedEnv) -> None:
    ran = await bounded_env.run(
        f"cd /proc/sys; cp {name} /tmp/value; cat /tmp/value > {name} && echo changed"
    )
    assert "changed" not in ran.output


async def test_a_command_sees_no_other_processes(bounded_env: BoundedEnv, outside_pid: int) -> None:
    ran = await bounded_env.run("cat /proc/[0-9]*/cmdline | tr '\\0' ' '; readlink /proc/self/ns/pid")
    assert "sleep 600" not in ran.output
    assert str(Path("/proc/self/ns/pid").readlink()) not in ran.output


async def test_a_command_has_no_terminal(bounded_env: BoundedEnv) -> None:
    script = (
        "import fcntl, os, termios\n"
        "names = ['/dev/tty', *(f'/proc/self/fd/{n}' for n in range(10)), '/dev/pts/0', '/dev/console']\n"
        "for name in names:\n"
        "    try:\n"
        "        fcntl.ioctl(os.open(name, os.O_RDWR | os.O_NOCTTY), termios.TIOCSTI, b'x')\n"
        "        print('typed')\n"
        "    except OSError: pass\n"
    )
    (bounded_env.work / "type.py").write_text(script)
    ran = await bounded_env.run(f"{sys.executable} -IS type.py; ps -o tty= -p $$ 2> /dev/null")
    assert "typed" not in ran.output
    assert "pts/" not in ran.output


async def test_keys_of_the_session_are_out_of_reach(bounded_env: BoundedEnv) -> None:
    numbers = SYSCALLS.get(os.uname().machine)
    if numbers is None:
        pytest.skip("system call numbers of this machine aren't known")
    # the session keyring is the one that programs inherit
    libc = ctypes.CDLL(None, use_errno=True)
    key = libc.syscall(numbers["add_key"], b"user", KEY_NAME.encode(), b"secret", 6, ctypes.c_long(-3))
    if key < 0:
        pytest.skip("no kernel keyrings here")
    find = f'{LIBC}; print("found", libc.syscall({numbers["request_key"]}, b"user", b"{KEY_NAME}", None, 0))'
    own = subprocess.run([sys.executable, "-ISc", find], capture_output=True, text=True, check=True)
    ran = await bounded_env.run(f"{PYTHON} '{find}'; cat /proc/keys")
    assert own.stdout.split() == ["found", str(key)]
    assert "found -1" in ran.output
    assert KEY_NAME not in ran.output


async def test_hidden_paths_are_empty(bounded_env: BoundedEnv) -> None:
    ssh = bounded_env.home / ".ssh"
    ssh.mkdir()
    (ssh / "id_rsa").write_text("secret\n")
    (bounded_env.work / "keys").mkdir()
    (bounded_env.work / "keys" / "key").write_text("secret\n")
    policy = bounded_env.build_policy(hidden=(bounded_env.work / "keys",))
    ran = await bounded_env.run(
        f"cat {ssh}/* keys/*; ls -A {ssh} keys; unshare -Urm sh -c 'umount -l keys; cat keys/*'",
        policy=policy,
    )
    assert "secret" not in ran.output


async def test_the_supervisor_has_no_socket_that_a_command_could_use(bounded_env: BoundedEnv) -> None:
    ran = await bounded_env.run("ls -l /proc/self/fd /proc/[0-9]*/fd; grep -c . /proc/net/unix")
    assert "socket:" not in ran.output
    assert ran.output.splitlines()[-1] == "1"  # only the title


async def test_survivors_cannot_write_after_the_run(bounded_env: BoundedEnv) -> None:
    late = bounded_env.work / "late"
    await bounded_env.run(
        f"setsid sh -c 'for n in 1 2 3 4 5 6 7 8; do sleep 0.1; echo x >> {late}; done' > /dev/null 2>&1 &"
    )
    await asyncio.sleep(1)
    assert not late.exists()
