"""Bad input and failing parts: each is reported, nothing is lost, and the other tasks run."""

import os
import random
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest

from kimi_tui.base.errors import UsageError
from kimi_tui.fleet.attempt_folder import attempt_folder
from kimi_tui.fleet.fleet_task import read_task_file
from tests.e2e.scenarios import wait_for
from tests.fleet.fleets import Fleet, write_script
from tests.fleet.test_fleet_run import query, running_processes


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"{broken", "not valid JSON"),
        (b"\xff\xfe", "not valid JSON"),
        (b"\x00", "not valid JSON"),
        (b"[1]", "Input should be a valid dictionary"),
        (b"null", "Input should be a valid dictionary"),
        (b'{"prompt": ""}', "prompt: String should have at least 1 character"),
        (b'{"prompt": 1}', "prompt: Input should be a valid string"),
        (b'{"prompt": "x", "id": "../up"}', "id: String should match pattern"),
        (b'{"prompt": "x", "source": {"git": ""}}', "git: String should have at least 1 character"),
        (b'{"prompt": "x", "limits": {"max_time": 0}}', "max_time: Input should be greater than 0"),
        (b'{"prompt": "x", "limits": {"max_cost": -1}}', "max_cost: Input should be greater than 0"),
        (b'{"prompt": "x", "id": "good"}', "occurs twice"),
        (b"[" * 100_000, "not valid JSON"),
    ],
    ids=str,
)
def test_an_invalid_line_is_reported_and_the_others_are_read(
    line: bytes, problem: str, tmp_path: Path
) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_bytes(b'{"prompt": "p", "id": "good"}\r\n' + line + b'\n\n# note\n{"prompt": "q"}')
    file = read_task_file(path)
    assert [task.id for task in file.tasks] == ["good", "5"]
    (invalid,) = file.invalid
    assert invalid.number == 2
    assert problem in invalid.problem


@pytest.mark.parametrize("name", ["missing.jsonl", "."])
def test_a_file_that_can_not_be_read_is_an_error(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Can't read"):
        read_task_file(tmp_path / name)


def test_a_check_that_hangs_is_killed_with_all_its_children(fleet: Fleet) -> None:
    fleet.configure(*write_script("b.txt", "x"))
    pids = fleet.program.home / "pids"
    start = f"sh -c 'echo $$ >> {pids}; exec sleep 1000'"
    check = f"{start} & setsid {start} & {start}"
    fleet.write(
        [
            {"id": "hang", "prompt": "write b.txt", "check": check, "limits": {"check_time": 1}},
            {"id": "good", "prompt": "write b.txt"},
        ]
    )
    done = fleet.program.run("fleet", "run", "tasks.jsonl", "--yolo", "-j", "2")
    assert "✗ hang check timed out" in done.stderr
    assert dict(query(fleet, "SELECT task, failure FROM results")) == {"hang": "check timed out", "good": ""}
    started = [int(pid) for pid in pids.read_text().split()]
    assert len(started) == 3
    wait_for(lambda: not any(is_running(pid) for pid in started))


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_what_a_killed_driver_left_is_removed_by_the_next_one(fleet: Fleet, tmp_path: Path) -> None:
    pids, folder = tmp_path / "pids", tmp_path / "attempts"
    fleet.configure("for: wait\ntext: Hi.")
    check = f"setsid sh -c 'echo $$ >> {pids}; exec sleep 1000' & sleep 1000"
    fleet.write([{"id": "a", "prompt": "wait", "check": check}])
    run = ("fleet", "run", "tasks.jsonl", "--folder", str(folder))
    driver = fleet.program.start(*run)
    wait_for(pids.exists)
    wait_for(pids.read_text)
    os.kill(driver.pid, signal.SIGKILL)
    driver.communicate()
    (left,) = folder.glob("kimi-fleet-a*")
    with attempt_folder("b", str(folder), keeps=False):
        assert not left.exists()
        assert not is_running(int(pids.read_text()))


def test_the_directory_of_a_running_attempt_is_not_removed(tmp_path: Path) -> None:
    with (
        attempt_folder("a", str(tmp_path), keeps=False) as first,
        attempt_folder("b", str(tmp_path), keeps=True) as second,
    ):
        assert first.exists()
    with attempt_folder("c", str(tmp_path), keeps=False):
        assert (first.exists(), second.exists()) == (False, True)


@contextmanager
def killing(fleet: Fleet, every_s: float) -> Iterator[list[int]]:
    """Kill a process of a running attempt again and again, at any point of its life."""
    stop, killed = threading.Event(), list[int]()

    def run() -> None:
        while not stop.wait(random.uniform(0, 2 * every_s)):
            for pid in running_processes(fleet)[:1]:
                with suppress(ProcessLookupError):
                    os.killpg(pid, signal.SIGKILL)
                    killed.append(pid)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield killed
    finally:
        stop.set()
        thread.join()


def test_a_process_that_dies_at_any_point_costs_an_attempt_and_no_result(fleet: Fleet) -> None:
    fleet.configure(*write_script("b.txt", "x"))
    fleet.write(
        [{"id": f"t{number}", "prompt": "write b.txt", "check": "test -e b.txt"} for number in range(6)]
    )
    driver = fleet.program.start("fleet", "run", "tasks.jsonl", "--yolo", "-j", "2", "--retries", "1000")
    with killing(fleet, 0.4) as killed:
        # On a busy machine, all tasks may be done before the fifth kill.
        wait_for(lambda: len(killed) >= 5 or driver.poll() is not None)
    stdout, stderr = driver.communicate(timeout=200)
    assert killed
    assert (driver.returncode, b"6 of 6 done: 6 passed" in stdout) == (0, True), stderr
    assert query(fleet, "SELECT COUNT(*), COUNT(DISTINCT task) FROM results") == [(6, 6)]
    assert query(fleet, "SELECT DISTINCT failure FROM attempts WHERE failure != ''") == [("process died",)]
    assert query(fleet, "SELECT COUNT(*) FROM reservations") == [(0,)]


SMALL_DISK = """
mount -t tmpfs -o size={size}k none {disk}
head -c {filler}k /dev/zero > {disk}/filler
{run} > {log} 2>&1 &
driver=$!
for i in $(seq 600); do grep -q 'is full\\|disk full' {log} && break; sleep 0.1; done
rm {disk}/filler
wait $driver
cat {log}
cp {disk}/x.fleet.db* {copy} 2>/dev/null
true
"""


@pytest.fixture
def namespace() -> list[str]:
    """A command that runs another one where it may mount file systems."""
    command = ["unshare", "--user", "--map-root-user", "--mount"]
    if sys.platform != "linux" or shutil.which("unshare") is None:
        pytest.skip("mounting a small disk needs Linux and unshare")
    if subprocess.run(
        [*command, "mount", "-t", "tmpfs", "none", "/mnt"], check=False, capture_output=True
    ).returncode:
        pytest.skip("user namespaces aren't allowed here")
    return command


def run_on_small_disk(
    fleet: Fleet, namespace: list[str], *options: str, size: int, filler: int
) -> tuple[str, dict[str, str]]:
    """Run a fleet with a disk of `size` KB, of which `filler` are used until a problem is reported.

    Return the log and the failures of the tasks.
    """
    home = fleet.program.home
    disk, copy = home / "disk", home / "copy"
    for folder in (disk, copy):
        folder.mkdir()
    run = [sys.executable, "-m", "kimi_tui", "fleet", "run", "tasks.jsonl", "--yolo", "-j", "2", *options]
    script = SMALL_DISK.format(
        disk=disk, run=shlex.join(run), log=home / "log", copy=copy, size=size, filler=filler
    )
    done = subprocess.run(
        [*namespace, "bash", "-c", script], cwd=fleet.program.work_dir, env=fleet.program.environment(),
        capture_output=True, text=True, timeout=200, check=False,
    )  # fmt: skip
    database = copy / "x.fleet.db" if (copy / "x.fleet.db").exists() else fleet.database
    with closing(sqlite3.connect(database)) as results:
        return done.stdout, dict(results.execute("SELECT task, failure FROM results").fetchall())


def test_attempts_on_a_full_disk_fail_as_such_and_the_others_run(fleet: Fleet, namespace: list[str]) -> None:
    fleet.configure(*write_script("b.txt", "x"))
    fleet.source("big", a_txt="x" * 9_000_000)
    fleet.write(
        [
            {"id": "big", "prompt": "write b.txt", "source": "big"},
            *({"id": f"t{number}", "prompt": "write b.txt"} for number in range(3)),
        ]
    )
    disk = str(fleet.program.home / "disk")
    log, failures = run_on_small_disk(fleet, namespace, "--folder", disk, "-j", "1", size=8000, filler=10)
    assert "✗ big disk full" in log, log
    assert failures == {"big": "disk full", "t0": "", "t1": "", "t2": ""}, log
    assert fleet.program.run("fleet", "run", "tasks.jsonl", "--yolo", "--retry-failed").exit_code == 0


def test_a_database_on_a_full_disk_keeps_all_results(fleet: Fleet, namespace: list[str]) -> None:
    fleet.configure(*write_script("b.txt", "x" * 400_000))
    fleet.write([{"id": f"t{number}", "prompt": "write b.txt"} for number in range(4)])
    database = str(fleet.program.home / "disk" / "x.fleet.db")
    log, failures = run_on_small_disk(fleet, namespace, "--run", database, size=16_000, filler=15_500)
    assert "is full" in log, log
    assert failures == dict.fromkeys(("t0", "t1", "t2", "t3"), ""), log


def test_two_drivers_one_of_which_is_killed_give_each_task_one_result(fleet: Fleet) -> None:
    fleet.configure(*write_script("b.txt", "x"))
    fleet.write([{"prompt": "write b.txt", "id": f"t{number}"} for number in range(8)])
    run = ("fleet", "run", "tasks.jsonl", "--yolo", "-j", "1")
    first, second = (fleet.program.start(*run) for _ in range(2))
    wait_for(lambda: running_processes(fleet))
    time.sleep(random.uniform(0, 1))
    os.kill(first.pid, signal.SIGKILL)
    first.communicate()
    stdout, _ = second.communicate(timeout=200)
    assert (second.returncode, b"8 of 8 done: 8 passed" in stdout) == (0, True)
    assert query(fleet, "SELECT COUNT(*), COUNT(DISTINCT task) FROM results") == [(8, 8)]
