"""Commands in bounded workspaces: without network, other processes, and files outside of the policy."""

import asyncio
import os
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.workspaces.bounded_env import BoundedEnv

PYTHON = f"{sys.executable} -ISc"


async def test_effects_of_a_bounded_command_are_known_and_nothing_changes(bounded_env: BoundedEnv) -> None:
    (bounded_env.work / "a").write_text("a\n")
    ran = await bounded_env.run("echo b >> a; mkdir d; echo c > d/c; cat a; exit 3")
    assert (ran.status, ran.output, ran.reason) == (3, "a\nb\n", "")
    assert {Path(effect.path).name for effect in ran.effects.items} == {"a", "d", "c"}
    assert (bounded_env.work / "a").read_text() == "a\n"
    assert ran.report.n_network_attempts == 0


async def test_everything_outside_of_the_work_dir_is_read_only(bounded_env: BoundedEnv) -> None:
    (bounded_env.outside / "file").write_text("mine\n")
    ran = await bounded_env.run(f"cd {bounded_env.outside}; cat file; echo x > file; echo x > new; rm file")
    assert ran.output.startswith("mine\n")
    assert [path.name for path in bounded_env.outside.iterdir()] == ["file"]
    assert (bounded_env.outside / "file").read_text() == "mine\n"


async def test_temporary_files_are_private(bounded_env: BoundedEnv) -> None:
    ran = await bounded_env.run("mktemp /tmp/bounded-XXXXXX; echo $TMPDIR; ls /tmp | wc -l")
    name = ran.output.split()[0]
    assert not os.path.lexists(name)
    assert (bounded_env.temp / Path(name).name).exists()


@pytest.mark.parametrize(
    "command",
    [
        "exec 3<>/dev/tcp/192.0.2.1/80",
        "exec 3<>/dev/udp/192.0.2.1/53 && echo x >&3",
        "exec 3<>/dev/udp/127.0.0.53/53 && echo x >&3 && read -t 0.2 -u 3",
        f"{PYTHON} 'import socket; socket.create_connection((\"2001:db8::1\", 80))'",
        f"{PYTHON} 'import socket; socket.getaddrinfo(\"example.org\", 80)'",
        "ls; (exec 3<>/dev/tcp/192.0.2.1/80); true",
    ],
)
async def test_attempts_to_reach_the_network_are_counted(command: str, bounded_env: BoundedEnv) -> None:
    ran = await bounded_env.run(command)
    assert ran.report.n_network_attempts > 0


SERVER = """
import socket, threading
server = socket.create_server((HOST, 0), family=FAMILY)
threading.Thread(target=lambda: server.accept()[0].sendall(b"hello")).start()
with socket.create_connection((HOST, server.getsockname()[1])) as client:
    print(client.recv(5))
one, two = (socket.socket(FAMILY, socket.SOCK_DGRAM) for _ in range(2))
one.bind((HOST, 0)); two.sendto(b"x", one.getsockname()); print(one.recv(1))
"""


@pytest.mark.parametrize(
    ("host", "family"), [("127.0.0.1", "AF_INET"), ("localhost", "AF_INET"), ("::1", "AF_INET6")]
)
async def test_a_server_that_talks_to_itself_is_no_attempt(
    host: str, family: str, bounded_env: BoundedEnv
) -> None:
    if family == "AF_INET6" and not Path("/proc/net/if_inet6").exists():
        pytest.skip("no IPv6 here")
    script = SERVER.replace("HOST", repr(host)).replace("FAMILY", f"socket.{family}")
    (bounded_env.work / "server.py").write_text(script)
    ran = await bounded_env.run(f"{sys.executable} -I server.py")
    assert ran.output == "b'hello'\nb'x'\n"
    assert ran.report.n_network_attempts == 0


async def test_a_refused_connection_to_this_machine_is_an_attempt_only_of_a_command_that_fails(
    bounded_env: BoundedEnv,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        connect = f"(exec 3<>/dev/tcp/127.0.0.1/{server.getsockname()[1]})"
        assert (await bounded_env.run(f"{connect}; true")).report.n_network_attempts == 0
        failed = await bounded_env.run(connect)
        assert failed.status != 0
        assert failed.report.n_network_attempts == 1


async def test_a_policy_with_network_allows_it(bounded_env: BoundedEnv) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        command = f"exec 3<>/dev/tcp/127.0.0.1/{server.getsockname()[1]} && echo connected"
        ran = await bounded_env.run(command, policy=bounded_env.build_policy(network=True))
    assert ran.output == "connected\n"
    assert ran.report.n_network_attempts == 0


async def test_watched_files_that_are_opened_are_reported(bounded_env: BoundedEnv) -> None:
    work = bounded_env.work
    names = ("read", "copied", "linked", "moved", "appended", "through link", "listed", "removed", "hard")
    for name in names:
        (work / name).write_text("secret\n")
    (work / "link").symlink_to("through link")
    os.link(work / "hard", work / "other name")
    watched = [work / name for name in (*names, "missing")]
    ran = await bounded_env.run(
        "cat read > /dev/null; cp copied copy; ln linked l && cat l; mv moved m && cat m; "
        "echo x >> appended; cat link 'other name'; ls -l listed; stat listed; rm removed; test -e missing",
        watched=watched,
    )
    opened = {path.name for path in ran.report.opened}
    assert opened - {"removed"} == {
        "read", "copied", "linked", "moved", "appended", "through link", "hard",
    }  # fmt: skip
    assert (await bounded_env.run("ls -la; stat *", watched=watched)).report.opened == ()


@pytest.mark.parametrize(
    "command",
    [
        "ln secret l; cat l; rm l",
        "ln secret l; rm secret; cat l; rm l",
        "ln -s secret l; cat l; rm l",
        "ln d/secret l; rm -r d; cat l; rm l",
        "mv d e; cat e/secret; mv e d",
        f"{PYTHON} 'import mmap; f = open(\"secret\"); print(mmap.mmap(f.fileno(), 0, prot=1)[:])'",
        "exec 3< secret; cat <&3",
        "chmod 0 secret; chmod 600 secret; cp secret c; rm c",
        "find . -name 's*t' -exec cat {} +",
        "tar cf - . | wc -c",
        "rsync -a . /tmp/copy || cp -a . /tmp/copy",
        "unshare -Ur cat secret d/secret || cat secret d/secret",
    ],
)
async def test_no_other_way_to_read_a_watched_file_is_missed(command: str, bounded_env: BoundedEnv) -> None:
    (bounded_env.work / "d").mkdir()
    watched = [bounded_env.work / "secret", bounded_env.work / "d" / "secret"]
    for path in watched:
        path.write_text("secret\n")
    ran = await bounded_env.run(command, watched=watched)
    assert ran.report.opened


async def test_secret_variables_are_hidden(bounded_env: BoundedEnv, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DB_PASSWORD", "hunter2")
    monkeypatch.setenv("PLAIN", "visible")
    ran = await bounded_env.run("echo $DB_PASSWORD; echo $PLAIN; env")
    assert "hunter2" not in ran.output
    assert "visible" in ran.output


async def test_processes_that_outlive_the_command_are_reported_and_killed(bounded_env: BoundedEnv) -> None:
    ran = await bounded_env.run("setsid sh -c 'sleep 7422' > /dev/null 2>&1 & setsid sleep 7422 & sleep 0.1")
    assert "processes running" in ran.reason
    async with asyncio.timeout(20):
        while any(b"7422" in line for line in _command_lines()):
            await asyncio.sleep(0.01)


async def test_ended_jobs_are_not_reported(bounded_env: BoundedEnv) -> None:
    ran = await bounded_env.run("sleep 0.01 & true")
    assert ran.reason == ""


def _command_lines() -> list[bytes]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(path.read_bytes())
        except OSError:
            continue
    return found


async def test_a_command_in_a_subdirectory_finds_its_repository(bounded_env: BoundedEnv) -> None:
    (bounded_env.work / "sub").mkdir()
    ran = await bounded_env.run("pwd; touch here", cwd=bounded_env.work / "sub")
    assert ran.output.strip() == str(bounded_env.work / "sub")
    assert {str(bounded_env.work / "sub" / "here")} <= {effect.path for effect in ran.effects.items}


async def test_sockets_of_this_machine_are_out_of_reach(bounded_env: BoundedEnv) -> None:
    path = bounded_env.outside / "s"
    async with _unix_server(str(path)) as connected:
        client = (
            f"{PYTHON} 'import socket; socket.socket(socket.AF_UNIX).connect(NAME); print(\"connected\")'"
        )
        for name in (repr(str(path)).replace("'", '"'), '"\\0bounded-test"'):
            ran = await bounded_env.run(client.replace("NAME", name))
            assert "connected" not in ran.output, name
        assert connected == []


@asynccontextmanager
async def _unix_server(path: str) -> AsyncIterator[list[str]]:
    """Listen at a path and at an abstract name. Yields the list of the connections."""
    connected: list[str] = []

    def accept(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connected.append("connection")
        writer.close()

    abstract = socket.socket(socket.AF_UNIX)
    abstract.bind("\0bounded-test")
    first = await asyncio.start_unix_server(accept, path)
    second = await asyncio.start_unix_server(accept, sock=abstract)
    async with first, second:
        yield connected
