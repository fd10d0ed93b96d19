"""Fleets under faults: `python -m tests.fleet.rounds`, the long form of the tests of fleets.

Runs tasks on local processes and on a Ray cluster of several nodes, kills nodes and drivers, and checks that
every task has exactly one result, that both backends give the same results, and that the cost limit holds.
Without Ray, only the local part runs.
"""

import argparse
import ast
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing, contextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tests.e2e.program import Program, script, tool_call
from tests.fleet.fleets import Fleet

_TEST = """import ast, pathlib

for path in pathlib.Path().rglob("*.py"):
    ast.parse(path.read_bytes())
"""
_RENAME = (
    "old=$(ls -d */ | head -n 1 | tr -d /); mv $old new_$old; "
    'grep -rlE --include="*.py" "(from|import) $old\\b" . '
    '| xargs -r sed -i -E "s/(from|import) $old\\b/\\1 new_$old/g"'
)
_OPTIONAL = r"Optional\[([A-Za-z]+)\]"
_UPGRADE = (
    f"grep -rlE --include='*.py' '{_OPTIONAL}' . | xargs -r sed -i -E 's/{_OPTIONAL}/\\1 | None/g'; "
    "echo 2 > API_VERSION"
)
KINDS = {
    "add a test": tool_call("1", "WriteFile", path="test_syntax.py", content=_TEST),
    "rename the package": tool_call("1", "Bash", command=_RENAME),
    "upgrade the API": tool_call("1", "Bash", command=_UPGRADE),
}
CHECKS = {
    "add a test": "python3 test_syntax.py",
    "rename the package": "test -d new_{name} && ! test -e {name} && "
    "! grep -rqE --include='*.py' '(from|import) {name}\\b' .",
    "upgrade the API": f"grep -q 2 API_VERSION && ! grep -rqE --include='*.py' '{_OPTIONAL}' .",
}
Results = dict[str, tuple[str, str]]
"""Failure and patch by task."""
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
    parser.add_argument("--measure", type=int, default=0, help="tasks to compare with bare Ray tasks")
    parser.add_argument("--local", type=int, default=0, help="run only the first tasks locally; 0: all")
    parser.add_argument("--no-ray", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="fleet-rounds-") as folder:
        run_gate(Path(folder) / "gate")
        round_ = Round(Path(folder), arguments.tasks)
        if arguments.no_ray or find_spec("ray") is None:
            round_.run("local", kills=arguments.driver_kills)
            print("ray: skipped, it isn't installed (pip install 'kimi-tui[ray]')")
            return 0
        with ray_cluster(arguments.nodes) as cluster:
            if arguments.measure:
                round_.measure(arguments.measure, cluster.address)
            run = partial(round_.run, "ray", address=cluster.address, workers=arguments.nodes)
            ray = run_while_nodes_die(
                cluster, arguments.nodes, arguments.node_every, partial(run, kills=arguments.driver_kills)
            )
        local = round_.run("local", kills=arguments.driver_kills, count=arguments.local)
        for task, result in local.items():
            assert ray[task] == result, f"{task} differs:\nlocal {result}\nray {ray[task]}"
        print(f"ray and local: the same verdict and patch for {len(local)} tasks")
    return 0


def run_gate(folder: Path) -> None:
    """Run the example of a release gate with the demo model."""
    program = Program(folder)
    script = Path(__file__).parents[2] / "examples" / "release-gate" / "gate.sh"
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**program.environment(), "PATH": path, "GATE_DIR": str(folder / "results")}
    subprocess.run([script, "round"], env=environment, check=True, capture_output=True)
    print("gate: 20 tasks passed", flush=True)


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

    def run(
        self,
        backend: str,
        *,
        kills: int,
        address: str = "",
        workers: int = os.cpu_count() or 1,
        count: int = 0,
    ) -> Results:
        """Run all tasks or the first `count`, with `kills` killed drivers. Return failure and patch by task.

        First with a budget for about half of the calls, then with one for all.
        """
        database = self._database(backend)
        count = count or self._tasks
        only = ("--only", ",".join(f"t{number}" for number in range(count)))
        started = time.monotonic()
        for kill in range(kills):
            results = (kill + 1) * count // (2 * kills + 2)
            self._run_until_killed(self._drive(backend, database, address, *only), database, results)
        limit = count * CALL_USD
        code = self._drive(backend, database, address, *only, "--max-cost", str(limit)).wait()
        assert code == 3, code
        stopped = spent_usd(database)
        assert limit <= stopped + 1e-9, stopped
        assert stopped <= limit + workers * CALL_USD + 1e-9, (stopped, limit)
        code = self._drive(backend, database, address, *only).wait()
        assert code == 0, code
        seconds = time.monotonic() - started
        with closing(sqlite3.connect(database)) as file:
            rows = file.execute("SELECT task, failure, patch FROM results").fetchall()
            left = file.execute("SELECT COUNT(*) FROM reservations").fetchone()[0]
            repeated = file.execute("SELECT COUNT(*) - COUNT(DISTINCT task) FROM attempts").fetchone()[0]
        assert len(rows) == len({task for task, *_ in rows}) == count, f"{len(rows)} results"
        assert {failure for _, failure, _ in rows} == {""}, [row for row in rows if row[1]]
        assert left == 0, "reservations are left"
        rate = count / seconds * 60
        print(
            f"{backend}: {count} tasks, {len(rows)} results, {repeated} repeated attempts recorded, "
            f"{seconds:.0f} s, {rate:.1f} tasks/min, {kills} drivers killed; "
            f"stopped at ${stopped:.2f} of ${limit:.2f}, ${spent_usd(database):.2f} in the end",
            flush=True,
        )
        return {task: (failure, patch) for task, failure, patch in rows}

    def measure(self, tasks: int, address: str) -> None:
        """Print the throughput of a fleet and of bare Ray tasks that start the same process, in turn.

        The tasks have no check, which is another process. A short run before starts Ray's workers.
        """
        self._fleet.write([self._task(number, has_check=False) for number in range(max(tasks, 8))])
        few = ",".join(f"t{number}" for number in range(8))
        self._drive("ray", self._database("warm"), address, "--only", few).wait()
        only = ",".join(f"t{number}" for number in range(tasks))
        fleet_s = bare_s = 0.0
        for turn in range(2):
            started = time.monotonic()
            self._drive("ray", self._database(f"measured{turn}"), address, "--only", only).wait()
            fleet_s += time.monotonic() - started
            code = BARE.format(tasks=tasks, address=address, prompts=[f"{kind}, please" for kind in KINDS])
            environment = {**os.environ, **self._fleet.program.environment()}
            started = time.monotonic()
            subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True)
            bare_s += time.monotonic() - started
        self._fleet.write([self._task(number) for number in range(self._tasks)])
        print(
            f"throughput, twice {tasks} tasks: fleet {fleet_s:.0f} s, bare Ray tasks {bare_s:.0f} s, "
            f"ratio {bare_s / fleet_s:.2f}",
            flush=True,
        )

    def _database(self, name: str) -> Path:
        return self._fleet.program.work_dir / f"{name}.fleet.db"

    def _task(self, number: int, *, has_check: bool = True) -> dict[str, Any]:
        kind = list(KINDS)[number % len(KINDS)]
        source = self._sources[number // len(KINDS) % len(self._sources)]
        return {
            "id": f"t{number}",
            "prompt": f"{kind}, please",
            "source": str(source),
            **({"check": CHECKS[kind].replace("{name}", source.name)} if has_check else {}),
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

    def _run_until_killed(self, driver: "subprocess.Popen[bytes]", database: Path, results: int) -> None:
        while driver.poll() is None and count_results(database) < max(results, 1):
            time.sleep(0.2)
        os.kill(driver.pid, signal.SIGKILL)
        driver.wait()


BARE = """
import os, shutil, subprocess, sys, tempfile
import ray
ray.init(address={address!r}, log_to_driver=False)
environment = dict(os.environ)

@ray.remote(num_cpus=1)
def run(prompt):
    with tempfile.TemporaryDirectory() as folder:
        work, data = os.path.join(folder, "work"), os.path.join(folder, "data")
        os.mkdir(work)
        os.mkdir(data, 0o700)
        shutil.copy(os.path.join(environment["KIMI_SHARE_DIR"], "config.toml"), data)
        command = [sys.executable, "-P", "-m", "kimi_tui", "-p", prompt, "--yolo", "--output-format", "json"]
        command += ["--bundle", os.path.join(folder, "session.zip"), "--max-time", "3600"]
        subprocess.run(
            command, cwd=work, env={{**environment, "KIMI_SHARE_DIR": data}}, stdin=subprocess.DEVNULL,
            capture_output=True,
        )

prompts = {prompts!r}
ray.get([run.remote(prompts[number % len(prompts)]) for number in range({tasks})])
"""


def count_results(database: Path) -> int:
    """Return the number of results, or 0 if the database doesn't exist yet."""
    try:
        with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True, timeout=30)) as results:
            return int(results.execute("SELECT COUNT(*) FROM results").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


def spent_usd(database: Path) -> float:
    """Return what a fleet has spent, with attempts that were lost."""
    with closing(sqlite3.connect(database)) as file:
        row = file.execute("SELECT SUM(usd) FROM spending WHERE budget = 'fleet run'").fetchone()
    return float(row[0])


def copy_sources(folder: Path, count: int) -> list[Path]:
    """Return copies of the source trees of installed packages, each in a folder of its own."""
    sources: list[Path] = []
    for package in sorted(Path(sysconfig.get_path("purelib")).iterdir()):
        if len(sources) < count and is_small_package(package):
            target = folder / package.name
            shutil.copytree(
                package, target / package.name, ignore=shutil.ignore_patterns("__pycache__", "*.so")
            )
            sources.append(target)
    return sources


def is_small_package(path: Path) -> bool:
    """Return whether `path` is a package whose files are few and can be parsed."""
    if not path.is_dir() or not (path / "__init__.py").exists():
        return False
    files = list(path.rglob("*.py"))
    if sum(file.stat().st_size for file in files) > MAX_SOURCE_BYTES:
        return False
    try:
        for file in files:
            ast.parse(file.read_bytes())
    except SyntaxError:  # of a template
        return False
    return True


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


def add_node(cluster: Any) -> None:
    """Add a node. On a busy machine, it may not start in time; the caller tries again."""
    try:
        cluster.add_node(num_cpus=1)
    except Exception as error:  # of Ray, without a type
        print(f"ray: a node didn't start: {error}", flush=True)


def run_while_nodes_die(cluster: Any, nodes: int, every_s: float, run: Callable[[], Results]) -> Results:
    """Run in a thread. Kill a node and start another one, every so often, in this thread as Ray requires."""
    kills = 0
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(run)
        while not wait([running], timeout=every_s).done:
            if cluster.worker_nodes:
                cluster.remove_node(random.choice(list(cluster.worker_nodes)), allow_graceful=False)
                kills += 1
            while len(cluster.worker_nodes) < nodes and not running.done():
                add_node(cluster)
    print(f"ray: {kills} nodes killed")
    return running.result()


if __name__ == "__main__":
    sys.exit(main())
