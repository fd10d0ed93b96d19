"""Fleets under faults: `python -m tests.fleet.rounds`, the long form of the tests of fleets.

Runs tasks on local processes and on a Ray cluster of several nodes, kills nodes and drivers, and checks that
every task has exactly one result, that both backends give the same results, and that the cost limit holds.
Without Ray, only the local part runs.
"""

import argparse
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tests.e2e.program import Program, script, tool_call
from tests.fleet.fleets import Fleet

KINDS = {
    "add a test": tool_call(
        "1", "WriteFile", path="test_added.py", content="def test_it():\n    assert True\n"
    ),
    "rename the package": tool_call("1", "Bash", command="mv package renamed"),
    "upgrade the API": tool_call("1", "WriteFile", path="package/VERSION", content="2\n"),
}
CHECKS = {
    "add a test": "python3 -m py_compile test_added.py",
    "rename the package": "test -d renamed && ! test -e package",
    "upgrade the API": "grep -q 2 package/VERSION",
}
CALL_USD = 0.01
"""Cost of a model call: 100 output tokens."""
MAX_SOURCE_BYTES = 300_000


def main() -> int:
    """Run the rounds that the command line asks for. Return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=6)
    parser.add_argument("--nodes", type=int, default=4)
    parser.add_argument("--node-every", type=float, default=15.0, help="seconds between two killed nodes")
    parser.add_argument("--driver-kills", type=int, default=1)
    parser.add_argument("--baseline", action="store_true", help="measure bare Ray tasks as well")
    parser.add_argument("--no-ray", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="fleet-rounds-") as folder:
        round_ = Round(Path(folder), arguments.tasks)
        local = round_.run("local", kills=arguments.driver_kills)
        round_.check_budget()
        if arguments.no_ray or find_spec("ray") is None:
            print("ray: skipped, it isn't installed (pip install 'kimi-tui[ray]')")
            return 0
        with ray_cluster(arguments.nodes) as cluster:
            with killing_nodes(cluster, arguments.node_every):
                ray = round_.run("ray", kills=arguments.driver_kills, address=cluster.address)
            assert ray == local, "ray and local give different results"
            if arguments.baseline:
                round_.measure(cluster.address)
    return 0


class Round:
    """The tasks of one call of the program, run on each backend."""

    def __init__(self, folder: Path, tasks: int) -> None:
        self._tasks = tasks
        self._fleet = Fleet(Program(folder))
        self._sources = copy_sources(folder / "sources", min(tasks, 100))
        scripts = [
            script(f"for: {kind}", "usage: output=100", step)
            for kind, call in KINDS.items()
            for step in (call, "text: Done.")
        ]
        self._fleet.configure(*scripts)
        self._fleet.write([self._task(number) for number in range(tasks)])

    def run(self, backend: str, *, kills: int, address: str = "") -> dict[str, tuple[str, str]]:
        """Run all tasks, with `kills` killed drivers. Return failure and patch by task."""
        database = self._fleet.program.work_dir / f"{backend}.fleet.db"
        started = time.monotonic()
        for kill in range(kills):
            self._run_until_killed(backend, database, (kill + 1) * self._tasks // (kills + 2), address)
        self._drive(backend, database, address).wait()
        seconds = time.monotonic() - started
        with closing(sqlite3.connect(database)) as results:
            rows = results.execute("SELECT task, failure, patch FROM results").fetchall()
            spent = results.execute("SELECT SUM(usd) FROM spending WHERE budget = 'fleet run'").fetchone()[0]
            left = results.execute("SELECT COUNT(*) FROM reservations").fetchone()[0]
            repeated = results.execute("SELECT COUNT(*) - COUNT(DISTINCT task) FROM attempts").fetchone()[0]
        assert len(rows) == len({task for task, *_ in rows}) == self._tasks, f"{len(rows)} results"
        assert {failure for _, failure, _ in rows} == {""}, rows
        assert left == 0, "reservations are left"
        rate = self._tasks / seconds * 60
        print(
            f"{backend}: {self._tasks} tasks, {self._tasks} results, {repeated} repeated attempts recorded, "
            f"${spent:.2f} spent, {seconds:.0f} s, {rate:.1f} tasks/min, {kills} drivers killed"
        )
        return {task: (failure, patch) for task, failure, patch in rows}

    def check_budget(self) -> None:
        """Run the tasks with a budget for half of their calls."""
        database = self._fleet.program.work_dir / "budget.fleet.db"
        limit = self._tasks * CALL_USD
        code = self._drive("local", database, "", "--max-cost", str(limit)).wait()
        assert code == 3, code
        with closing(sqlite3.connect(database)) as results:
            spent = results.execute("SELECT SUM(usd) FROM spending WHERE budget = 'fleet run'").fetchone()[0]
        assert limit <= spent + 1e-9, spent
        assert spent <= limit + CALL_USD + 1e-9, (spent, limit)
        print(f"budget: ${spent:.2f} of ${limit:.2f} spent, {round((spent - limit) / CALL_USD)} calls over")

    def measure(self, address: str) -> None:
        """Print the throughput of a fleet and of bare Ray tasks that start the same process."""
        started = time.monotonic()
        self._drive("ray", self._fleet.program.work_dir / "measured.fleet.db", address).wait()
        fleet_s = time.monotonic() - started
        code = BARE.format(tasks=self._tasks, address=address, prompt="add a test")
        environment = {**os.environ, **self._fleet.program.environment()}
        bare = subprocess.run(
            [sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True
        )
        bare_s = float(bare.stdout.split()[-1])
        print(
            f"throughput: fleet {fleet_s:.0f} s, bare Ray tasks {bare_s:.0f} s, ratio {bare_s / fleet_s:.2f}"
        )

    def _task(self, number: int) -> dict[str, Any]:
        kind = list(KINDS)[number % len(KINDS)]
        return {
            "id": f"t{number}",
            "prompt": f"{kind}, please",
            "source": str(self._sources[number % len(self._sources)]),
            "check": CHECKS[kind],
        }

    def _drive(self, backend: str, database: Path, address: str, *more: str) -> "subprocess.Popen[bytes]":
        program = self._fleet.program
        environment = {**program.environment(), **({"RAY_ADDRESS": address} if address else {})}
        command = [
            sys.executable,
            "-m",
            "kimi_tui",
            "fleet",
            "run",
            "tasks.jsonl",
            "--yolo",
            "--run",
            str(database),
        ]
        log = (program.home / f"{backend}.log").open("ab")
        return subprocess.Popen(
            [*command, "--on", backend, *more],
            cwd=program.work_dir,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )

    def _run_until_killed(self, backend: str, database: Path, results: int, address: str) -> None:
        driver = self._drive(backend, database, address)
        while driver.poll() is None and count_results(database) < max(results, 1):
            time.sleep(0.2)
        os.kill(driver.pid, signal.SIGKILL)
        driver.wait()


BARE = """
import subprocess, sys, tempfile, time, os
import ray
ray.init(address={address!r}, log_to_driver=False)
environment = dict(os.environ)

@ray.remote(num_cpus=1)
def run():
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "kimi_tui", "-p", {prompt!r}, "--yolo", "--output-format", "json"]
        data = os.path.join(folder, "data")
        os.mkdir(data, 0o700)
        with open(os.path.join(data, "config.toml"), "w") as file:
            file.write(open(os.path.join(environment["KIMI_SHARE_DIR"], "config.toml")).read())
        subprocess.run(
            command, cwd=folder, env={{**environment, "KIMI_SHARE_DIR": data}}, stdin=subprocess.DEVNULL,
            capture_output=True, check=True,
        )

started = time.monotonic()
ray.get([run.remote() for _ in range({tasks})])
print(time.monotonic() - started)
"""


def count_results(database: Path) -> int:
    """Return the number of results, or 0 if the database doesn't exist yet."""
    try:
        with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True, timeout=30)) as results:
            return int(results.execute("SELECT COUNT(*) FROM results").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


def copy_sources(folder: Path, count: int) -> list[Path]:
    """Return copies of the source trees of installed packages, each as `package` in a folder of its own."""
    packages = []
    for path in sorted(Path(sysconfig.get_path("purelib")).iterdir()):
        if path.is_dir() and (path / "__init__.py").exists() and len(packages) < count:
            size = sum(file.stat().st_size for file in path.rglob("*.py"))
            if size <= MAX_SOURCE_BYTES:
                packages.append(path)
    sources = []
    for package in packages:
        target = folder / package.name
        shutil.copytree(package, target / "package", ignore=shutil.ignore_patterns("__pycache__", "*.so"))
        sources.append(target)
    return sources


@contextmanager
def ray_cluster(nodes: int) -> Iterator[Any]:
    """Start a local cluster with a head without CPUs, and `nodes` with one CPU each."""
    from ray.cluster_utils import Cluster

    os.environ.setdefault("RAY_raylet_start_wait_time_s", "120")  # on a busy machine
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    try:
        for _ in range(nodes):
            cluster.add_node(num_cpus=1)
        yield cluster
    finally:
        cluster.shutdown()


@contextmanager
def killing_nodes(cluster: Any, every_s: float) -> Iterator[None]:
    """Kill a node and start another one, every so often."""
    stop, kills = threading.Event(), []

    def run() -> None:
        while not stop.wait(every_s):
            node = random.choice(list(cluster.worker_nodes))
            cluster.remove_node(node, allow_graceful=False)
            kills.append(time.monotonic())
            cluster.add_node(num_cpus=1)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
        print(f"ray: {len(kills)} nodes killed")


if __name__ == "__main__":
    sys.exit(main())
