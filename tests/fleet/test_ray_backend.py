"""The backend on Ray: errors of its tasks, and fleets through the client server of a cluster."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kimi_tui.fleet.attempt import AttemptJob, AttemptResult
from kimi_tui.fleet.backends.ray_backend import RayBackend
from kimi_tui.fleet.fleet_task import FleetTask
from tests.e2e.scenarios import wait_for
from tests.fleet.fleets import Fleet, write_script
from tests.ports import unused_port
from tests.timeouts import TEST_TIMEOUT_S

has_ray_client = find_spec("ray") is not None and find_spec("grpc") is not None
needs_ray = pytest.mark.skipif(not has_ray_client, reason="Ray isn't installed (pip install 'kimi-tui[ray]')")
REMOTE_TRACEBACK = """\x1b[36mray::_run_remotely()\x1b[39m (pid=5871, ip=192.0.2.2)
  File "/srv/ray_backend.py", line 6, in _run_remotely
    import_everything()
ValueError: the node has kimi-tui 0.1
It can't read this job."""


class FakeRayError(Exception):
    """Stands for ray.exceptions.RayError."""


class FakeRayTaskError(FakeRayError):
    """Stands for ray.exceptions.RayTaskError: the task raised an exception."""


class FakeRay:
    """A Ray client whose tasks all fail with one error."""

    exceptions = SimpleNamespace(RayError=FakeRayError, RayTaskError=FakeRayTaskError)

    def __init__(self, error: FakeRayError) -> None:
        self._error = error

    def remote(self, **_options: object) -> Any:
        return lambda _function: SimpleNamespace(remote=lambda *_arguments: "reference")

    def put(self, _value: object) -> str:
        return "stored"

    def wait(self, references: list[str], **_options: object) -> tuple[list[str], list[str]]:
        return references, []

    def get(self, _reference: str) -> object:
        raise self._error


def result_after(error: FakeRayError) -> AttemptResult:
    backend = RayBackend(FakeRay(error), workers=1, cpus_per_task=1)
    backend.submit(AttemptJob(task=FleetTask(id="a", prompt="go"), number=1))
    (event,) = backend.poll(0)
    assert isinstance(event, AttemptResult)
    return event


def test_an_exception_in_a_task_is_an_internal_error_with_its_type_and_message(
    caplog: pytest.LogCaptureFixture,
) -> None:
    result = result_after(FakeRayTaskError(REMOTE_TRACEBACK))
    assert (result.failure, result.problem) == ("internal error", "ValueError: the node has kimi-tui 0.1")
    assert "in _run_remotely" in caplog.text
    assert "It can't read this job." in caplog.text


def test_a_task_whose_worker_died_is_a_process_that_died() -> None:
    result = result_after(FakeRayError("The worker died unexpectedly.\nMore about it"))
    assert (result.failure, result.problem) == ("process died", "The worker died unexpectedly.")


@pytest.fixture(scope="module")
def head() -> Iterator[str]:
    """The address of the client server of a Ray head on this machine."""
    folder = Path(tempfile.mkdtemp(prefix="ray"))  # short: a socket's path has 107 bytes at most
    ray = Path(sys.executable).with_name("ray")
    environment = {
        **os.environ,
        "RAY_raylet_start_wait_time_s": "120",  # on a busy machine
        "RAY_worker_niceness": "0",
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }
    with unused_port() as port, unused_port() as client_port:
        pass
    started = subprocess.Popen(
        [
            ray, "start", "--head", "--block", "--num-cpus=2", f"--port={port}",
            f"--ray-client-server-port={client_port}", "--include-dashboard=false", "--disable-usage-stats",
            "--object-store-memory=100000000", f"--temp-dir={folder}",
            "--min-worker-port=0", "--max-worker-port=0",
        ],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        wait_for(lambda: accepts_connections(client_port))
        yield f"ray://127.0.0.1:{client_port}"
    finally:
        started.terminate()
        started.wait(TEST_TIMEOUT_S)
        shutil.rmtree(folder, ignore_errors=True)


def accepts_connections(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


@needs_ray
def test_a_fleet_runs_on_a_cluster_that_is_reached_through_its_client_server(fleet: Fleet, head: str) -> None:
    fleet.configure(*write_script("b.txt", "new\n"))
    fleet.write(
        [
            {
                "id": "ok",
                "prompt": "write b.txt",
                "source": fleet.source(a_txt="old\n"),
                "check": "grep -q new b.txt",
            },
            {"id": "wrong", "prompt": "write b.txt", "check": "exit 3"},
        ]
    )
    done = fleet.program.run("fleet", "run", "tasks.jsonl", "--yolo", "--on", head, timeout=TEST_TIMEOUT_S)
    assert "2 of 2 done: 1 passed, 1 failed" in done.stdout, done
    assert done.exit_code == 1
    patch = fleet.program.run("fleet", "patch", "tasks.jsonl", "ok")
    assert "+++ b/b.txt\n@@ -0,0 +1 @@\n+new" in patch.stdout


@needs_ray
def test_an_address_without_a_client_server_is_reported(fleet: Fleet) -> None:
    fleet.configure(*write_script("b.txt", "new\n"))
    fleet.write([{"id": "ok", "prompt": "write b.txt"}])
    with unused_port() as port:
        address = f"ray://127.0.0.1:{port}"
        done = fleet.program.run("fleet", "run", "tasks.jsonl", "--yolo", "--on", address)
    assert done.exit_code == 1
    assert f"Can't connect to Ray at {address}" in done.stderr
    assert "Traceback" not in done.stderr
