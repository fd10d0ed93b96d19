"""The database of a fleet: one result per task, whoever writes."""

import sqlite3
from contextlib import closing

import pytest

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.fleet.attempt import AttemptResult, RunOptions
from kimi_tui.fleet.backends.backend import BackendEvent
from kimi_tui.fleet.fleet_database import FleetDatabase
from kimi_tui.fleet.fleet_driver import DriverOptions, FleetDriver
from kimi_tui.fleet.fleet_task import FleetTask

TASKS = tuple(FleetTask(id=name, prompt="p") for name in "ab")


@pytest.fixture
def database(tmp_path):
    with closing(FleetDatabase(tmp_path / "x.fleet.db", creates=True)) as database:
        database.add_tasks(TASKS)
        yield database


def test_a_second_result_of_a_task_is_ignored(database):
    assert database.claim(None).task.id == "a"
    result = AttemptResult(task_id="a", number=1)
    assert database.record_result(result)
    assert not database.record_result(result)
    assert database.counts() == {"pending": 1, "running": 0, "done": 1}


def test_the_tasks_of_a_dead_driver_become_pending(database, dead_pid):
    database.claim(None)
    with closing(sqlite3.connect(database.path)) as other:
        other.execute("UPDATE tasks SET driver = ?, process = '1 2' WHERE id = 'a'", (f"{dead_pid} 5",))
        other.commit()
    assert not database.record_result(AttemptResult(task_id="a", number=1))
    assert database.release_dead_drivers() == ["1 2"]
    assert database.claim(None).attempt == 2


class Gates:
    def gate_of(self, task):
        return ""


class Observer:
    def __init__(self):
        self.problems = []

    def report_start(self, count):
        pass

    def report_attempt(self, result, *, is_retried):
        pass

    def report_problem(self, text):
        self.problems.append(text)


class Backend:
    """Returns a result for every job at the next poll."""

    is_remote = False
    slots = 1

    def __init__(self):
        self.results: list[BackendEvent] = []

    def submit(self, job):
        self.results.append(AttemptResult(task_id=job.task.id, number=job.number))

    def poll(self, timeout_s):
        results, self.results = self.results, []
        return results

    def close(self):
        pass


class FullDisk(FleetDatabase):
    """Can't store the first results."""

    failures = 1

    def record_result(self, result):
        if self.failures:
            self.failures -= 1
            raise KimiTuiError("No space left on device.", hint="Free some.")
        return super().record_result(result)


def test_a_result_survives_a_full_disk(tmp_path, monkeypatch):
    monkeypatch.setattr("kimi_tui.fleet.fleet_driver._FULL_DISK_RETRY_S", 0.01)
    observer = Observer()
    with closing(FullDisk(tmp_path / "x.fleet.db", creates=True)) as database:
        database.add_tasks(TASKS)
        options = DriverOptions(run_options=RunOptions(), config_files={})
        outcome = FleetDriver(database, Backend(), options, gates=Gates(), observer=observer).run()
        assert outcome.reason == "done"
        assert database.counts()["done"] == 2
    assert observer.problems == ["No space left on device. Free some."]
