"""Program that starts commands in mount namespaces of their own. `SupervisorClient` talks to it.

It is a process of its own, since entering a user namespace requires a process with a single thread, and a
small one, since it forks for each command. It imports nothing but the standard library, and runs without
`site`.

The client sends messages of one byte over a socket, each with two descriptors: a file with the views in
JSON, and a socket, the channel of one namespace with these views. Messages on a channel are JSON, too:

- `{"mounted": true, "pid": 12}`, or `{"error": 2}` with an error number: the views are mounted in the
  namespace of that process, or can't be
- from the client `{"start": true}`, with a file that describes the command and with its output, answered by
  `{"pid": 12}` or `{"error": 2}`; an "observe" in that file has it start in a network namespace of its own,
  if "offline" is true, and lists files in "watched"
- `{"status": 0}`: the command has ended, with a status as in `subprocess`
- from the client `{"finish": 0.5}`, answered by `{"remaining": 1}`: how many of the command's processes
  still run after that time, in seconds; after "observe" also with `"network"`, the namespace's counters by
  name, and `"opened"`, the indices of watched files that were opened

When the client closes the channel, or is killed, all processes of the command are killed, and its namespace
ends.
"""

import ctypes
import fcntl
import json
import os
import select
import signal
import socket
import struct
import sys
import time
from contextlib import suppress
from typing import Any, NoReturn

CLONE_NEWNS = 0x00020000
CLONE_NEWUSER = 0x10000000
CLONE_NEWNET = 0x40000000
MS_REC = 16384
MS_SLAVE = 1 << 19
MS_RDONLY, MS_NOSUID, MS_NODEV = 1, 2, 4
PR_SET_CHILD_SUBREAPER = 36
SIOCSIFFLAGS, IFF_UP = 0x8914, 1
IN_OPEN, IN_ONESHOT, IN_Q_OVERFLOW = 0x20, 0x80000000, 0x4000
KEYCTL_JOIN_SESSION_KEYRING = 1
_KEYCTL_NUMBERS = {"x86_64": 250, "aarch64": 219, "riscv64": 219, "ppc64le": 271, "s390x": 280}
"""Numbers of the system call by machine."""
_MAX_MESSAGE = 1 << 16
_POLL_S = 0.005
_NAMESPACE_GRACE_S = 0.1
"""How long the first process of a PID namespace may take to notice that the command has ended."""


class _Kernel:
    """System calls for which Python has no function."""

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)

    def unshare(self, flags: int) -> None:
        self._check(self._libc.unshare(flags))

    def mount(self, source: str, target: str, kind: str, flags: int, options: str) -> None:
        self._check(
            self._libc.mount(
                os.fsencode(source),
                os.fsencode(target),
                kind.encode(),
                ctypes.c_ulong(flags),
                options.encode(),
            )
        )

    def adopt_orphans(self) -> None:
        self._check(self._libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))

    def watch_opens(self, paths: list[str]) -> tuple[int, list[int]]:
        """Return an inotify descriptor, and for each path its watch: -1 if it can't be watched."""
        notifier = self._libc.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK)
        add = self._libc.inotify_add_watch
        return notifier, [
            add(notifier, os.fsencode(path), ctypes.c_uint32(IN_OPEN | IN_ONESHOT)) for path in paths
        ]

    def leave_session_keyring(self) -> None:
        """Enter a new session keyring: programs find the keys of the old one in it."""
        if number := _KEYCTL_NUMBERS.get(os.uname().machine):
            self._libc.syscall(ctypes.c_long(number), ctypes.c_long(KEYCTL_JOIN_SESSION_KEYRING), None)

    def _check(self, result: int) -> None:
        if result != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))


def main() -> None:
    """Set up the namespaces, report the result to the client, and serve it until it closes its socket."""
    client = socket.socket(fileno=int(sys.argv[1]))
    client.set_inheritable(False)
    kernel = _Kernel()
    try:
        _enter_namespaces(kernel, sys.argv[2])
    except OSError as error:
        _send(client, {"error": error.errno or 0})
        return
    _send(client, {"ready": True})
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # ended children are reaped by the kernel
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        message, descriptors, _, _ = socket.recv_fds(client, 1, 2)
        if not message:
            return
        for descriptor in descriptors:
            os.set_inheritable(descriptor, False)
        if os.fork() == 0:
            client.close()
            _supervise(kernel, *descriptors)
        for descriptor in descriptors:
            os.close(descriptor)


def _enter_namespaces(kernel: _Kernel, mode: str) -> None:
    """Enter a new mount namespace, and a user namespace with the same user if `mode` is "user"."""
    if mode == "user":
        uid, gid = os.geteuid(), os.getegid()
        kernel.unshare(CLONE_NEWUSER | CLONE_NEWNS)
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{uid} {uid} 1")
        _write("/proc/self/gid_map", f"{gid} {gid} 1")
    else:
        kernel.unshare(CLONE_NEWNS)
    kernel.mount("", "/", "", MS_REC | MS_SLAVE, "")


def _write(path: str, text: str) -> None:
    file = os.open(path, os.O_WRONLY)
    try:
        os.write(file, text.encode())
    finally:
        os.close(file)


def _supervise(kernel: _Kernel, request_file: int, channel_file: int) -> NoReturn:
    """Mount views and run a command in them, until the client closes the channel."""
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        channel = socket.socket(fileno=channel_file)
        try:
            kernel.adopt_orphans()
            _mount_views(kernel, json.loads(_read_all(request_file)))
        except OSError as error:
            _send(channel, {"error": error.errno or 0})
        else:
            _send(channel, {"mounted": True, "pid": os.getpid()})
            _serve_channel(kernel, channel)
    finally:
        os._exit(0)


def _read_all(file: int) -> bytes:
    os.lseek(file, 0, os.SEEK_SET)
    with os.fdopen(file, "rb") as stream:
        return stream.read()


def _mount_views(kernel: _Kernel, request: dict[str, Any]) -> None:
    """Mount an overlay at each root, and hide the directory of the layers."""
    kernel.unshare(CLONE_NEWNS)
    flags = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC
    opened = []
    for view in request["views"]:
        names = ("upper", "work", *(["prepared"] if view["prepared"] else []), "root")
        layers = [os.open(view[name], flags) for name in names]
        opened.append((view, [f"/proc/self/fd/{layer}" for layer in layers]))
    for view, (upper, work, *lower) in opened:
        places = f"lowerdir={':'.join(lower)},upperdir={upper},workdir={work}"
        kernel.mount("overlay", view["root"], "overlay", 0, f"{places},{request['options']}")
    for hidden in request["hidden"]:
        kernel.mount("tmpfs", hidden, "tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV, "size=4k,mode=0555")


class _Observer:
    """Observes what a command does besides writing to the views."""

    def __init__(self, kernel: _Kernel, offline: bool, watched: list[str]) -> None:
        """Enter a network namespace that connects to nothing, if `offline`. Raises OSError."""
        self._offline = offline
        if offline:
            kernel.unshare(CLONE_NEWNET)
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
                fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sH22x", b"lo", IFF_UP))
        self._notifier, self._watches = kernel.watch_opens(watched)
        self._unwatched = [
            index
            for index, watch in enumerate(self._watches)
            if watch < 0 and os.path.lexists(watched[index])
        ]

    def report(self) -> dict[str, Any]:
        """Return the counters of the network namespace, and which watched files were opened."""
        return {"network": _read_network_counters() if self._offline else {}, "opened": self._opened()}

    def _opened(self) -> list[int]:
        """Return the indices of files that were opened, or can't be watched although they exist."""
        opened: set[int] = set()
        while self._notifier >= 0:
            try:
                data = os.read(self._notifier, 1 << 16)
            except OSError:
                break
            offset = 0
            while offset < len(data):
                watch, mask, _, n_name = struct.unpack_from("iIII", data, offset)
                offset += 16 + n_name
                if mask & IN_Q_OVERFLOW:
                    return list(range(len(self._watches)))
                if mask & IN_OPEN:
                    opened.add(watch)
        found = [index for index, watch in enumerate(self._watches) if watch in opened]
        return [*found, *self._unwatched]


def _read_network_counters() -> dict[str, int]:
    """Return counters such as `IpOutNoRoutes`, in `/proc/net/snmp` and `/proc/net/snmp6`."""
    counters: dict[str, int] = {}
    with suppress(OSError), open("/proc/self/net/snmp", encoding="ascii") as file:
        lines = file.read().splitlines()
        for names, values in zip(lines[::2], lines[1::2], strict=False):
            group, _, rest = names.partition(": ")
            numbers = map(int, values.split()[1:])
            counters |= {
                f"{group}{name}": number for name, number in zip(rest.split(), numbers, strict=False)
            }
    with suppress(OSError), open("/proc/self/net/snmp6", encoding="ascii") as file:
        counters |= {name: int(value) for name, value in map(str.split, file)}
    return counters


def _start_command(kernel: _Kernel, request: dict[str, Any], output: int) -> int:
    """Start the command and return its process. Raises OSError if it can't be executed."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        if request.get("observe"):
            kernel.leave_session_keyring()
        _execute(request, output, writer)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        failure = stream.read()
    if failure:
        os.waitpid(pid, 0)
        raise OSError(int(failure), os.strerror(int(failure)))
    return pid


def _execute(request: dict[str, Any], output: int, failures: int) -> NoReturn:
    """Become the command, as a child of `subprocess` does."""
    try:
        os.setsid()
        for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.chdir(request["cwd"])
        os.execve(request["argv"][0], request["argv"], request["environment"])
    except OSError as error:
        os.write(failures, str(error.errno or 0).encode())
    finally:
        os._exit(127)


def _serve_channel(kernel: _Kernel, channel: socket.socket) -> None:
    """Run the client's command, and kill its processes when the client closes the channel."""
    poll = select.poll()
    poll.register(channel, select.POLLIN)
    commands: dict[int, int] = {}
    observer: _Observer | None = None
    while True:
        for file, _ in poll.poll():
            if file in commands:
                poll.unregister(file)
                _, status = os.waitpid(commands.pop(file), 0)
                if observer is not None:
                    _count_remaining(_NAMESPACE_GRACE_S)
                _try_send(channel, {"status": os.waitstatus_to_exitcode(status)})
                continue
            message, descriptors = _receive(channel)
            if message is None:
                _kill_children()
                return
            if "start" in message:
                pid, observer = _answer_start(kernel, channel, *descriptors)
                if pid is not None:
                    process = os.pidfd_open(pid)
                    commands[process] = pid
                    poll.register(process, select.POLLIN)
            else:
                remaining = _count_remaining(float(message["finish"]))
                report = observer.report() if observer is not None else {}
                _try_send(channel, {"remaining": remaining, **report})


def _answer_start(
    kernel: _Kernel, channel: socket.socket, request_file: int, output: int
) -> tuple[int | None, _Observer | None]:
    """Start a command. Return its process, or None if it can't be executed, and its observer."""
    observer = None
    try:
        os.set_inheritable(request_file, False)
        os.set_inheritable(output, False)
        request = json.loads(_read_all(request_file))
        if observe := request.get("observe"):
            observer = _Observer(kernel, observe["offline"], observe["watched"])
        pid = _start_command(kernel, request, output)
    except OSError as error:
        _send(channel, {"error": error.errno or 0})
        return None, observer
    finally:
        os.close(output)
    _send(channel, {"pid": pid})
    return pid, observer


def _receive(channel: socket.socket) -> tuple[dict[str, Any] | None, list[int]]:
    """Return the client's message and descriptors; None if it has closed the channel."""
    try:
        data, descriptors, _, _ = socket.recv_fds(channel, _MAX_MESSAGE, 2)
    except ConnectionError:
        return None, []
    message: dict[str, Any] | None = json.loads(data or b"null")
    return message, descriptors


def _count_remaining(grace_s: float) -> int:
    """Return how many children are still running after at most `grace_s` seconds."""
    deadline = time.monotonic() + grace_s
    while _reap_children():
        if time.monotonic() >= deadline:
            return max(len(_children()), 1)
        time.sleep(_POLL_S)
    return 0


def _reap_children() -> bool:
    """Reap what has ended, and return whether anything is left: children, or orphans of children."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def _children() -> list[int]:
    own = os.getpid()
    with suppress(OSError), open(f"/proc/{own}/task/{own}/children", "rb") as file:
        return [int(number) for number in file.read().split()]
    return [pid for pid in map(int, filter(str.isdecimal, os.listdir("/proc"))) if _parent_of(pid) == own]


def _parent_of(pid: int) -> int:
    with suppress(OSError), open(f"/proc/{pid}/stat", "rb") as file:
        return int(file.read().rpartition(b")")[2].split()[1])
    return 0


def _kill_children() -> None:
    """Kill the command's processes, and their children: those become children of this process."""
    while True:
        for pid in _children():
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def _try_send(channel: socket.socket, message: dict[str, Any]) -> None:
    with suppress(OSError):
        _send(channel, message)


def _send(channel: socket.socket, message: dict[str, Any]) -> None:
    channel.send(json.dumps(message).encode("ascii"))


if __name__ == "__main__":
    main()
