"""`kimi-tui fleet run` with the real program, on local processes."""

import os
import signal
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from kimi_tui.fleet.fleet_database import FleetDatabase
from kimi_tui.frontend.fleet.progress import read_progress
from kimi_tui.llm.metering.gate import CallRequest
from kimi_tui.llm.metering.ledger import SpendingLedger
from tests.e2e.program import FinishedRun
from tests.e2e.scenarios import wait_for
from tests.e2e.test_providers import connect
from tests.fleet.fleets import Fleet, write_script
from tests.llm.servers import Fault, serving


def query(fleet: Fleet, sql: str) -> list:
    with closing(sqlite3.connect(fleet.database)) as database:
        return database.execute(sql).fetchall()


def test_a_task_ends_with_a_result_a_patch_a_bundle_and_a_verdict(fleet):
    fleet.configure(*write_script("b.txt", "new\n"))
    fleet.write(
        [{"prompt": "write b.txt", "source": fleet.source(a_txt="old\n"), "check": "grep -q new b.txt"}]
    )
    done = fleet.program.run("fleet", "run", "tasks.jsonl", "--yolo")
    assert (done.exit_code, "1 of 1 done: 1 passed, 0 failed" in done.stdout) == (0, True), done
    with closing(FleetDatabase(fleet.database)) as database:
        result = database.result("1")
    assert result.result["outcome"] == "finished"
    assert "+++ b/b.txt\n@@ -0,0 +1 @@\n+new" in result.patch
    assert result.check["verdict"] == "passed"
    assert result.bundle.startswith(b"PK")
    assert not (fleet.program.work_dir / "src" / "b.txt").exists()


def test_every_bad_task_is_reported_and_the_others_run(fleet):
    fleet.configure(
        *write_script("ok.txt", "x"),
        "for: hang\ntext: Hi.",
        "for: fail\ntext: Hi.",
        "for: stop\nerror: 400 no",
    )
    fleet.write(
        [
            {"id": "ok", "prompt": "write ok.txt"},
            "{broken",
            {"id": "typo", "promt": "x"},
            {"id": "gone", "prompt": "write ok.txt", "source": "missing"},
            {"id": "repo", "prompt": "write ok.txt", "source": {"git": "missing.git"}},
            {"id": "hang", "prompt": "hang", "check": "sleep 1000", "limits": {"check_time": 0.2}},
            {"id": "fail", "prompt": "fail", "check": "echo wrong; exit 3"},
            {"id": "stop", "prompt": "stop"},
        ]
    )
    done = fleet.program.run("fleet", "run", "tasks.jsonl", "--yolo", "-j", "4")
    assert done.exit_code == 1
    assert "Line 2: not valid JSON" in done.stderr
    assert "Line 3: prompt: Field required; promt: Extra inputs" in done.stderr
    failures = dict(query(fleet, "SELECT task, failure FROM results"))
    assert failures == {
        "ok": "",
        "gone": "source missing",
        "repo": "source missing",
        "hang": "check timed out",
        "fail": "check failed",
        "stop": "agent failed",
    }
    assert "wrong" in query(fleet, "SELECT problem FROM results WHERE task = 'fail'")[0][0]


def test_files_of_the_source_are_not_imported_by_the_program(fleet):
    fleet.configure(*write_script("b.txt", "x"))
    source = fleet.source(json_py="raise SystemExit('imported')", typer_py="raise SystemExit('imported')")
    fleet.write([{"prompt": "write b.txt", "source": source}])
    done = fleet.program.run("fleet", "run", "tasks.jsonl", "--yolo")
    assert done.exit_code == 0, done


def test_a_denied_call_is_a_failure_of_its_own(fleet):
    fleet.configure(*write_script("b.txt", "x"))
    fleet.write([{"prompt": "write b.txt"}])
    assert fleet.program.run("fleet", "run", "tasks.jsonl").exit_code == 1
    assert query(fleet, "SELECT failure FROM results") == [("call denied",)]


def test_a_repository_is_cloned_at_the_commit(fleet):
    repository = fleet.program.work_dir / "repo"
    repository.mkdir()
    for command in (
        "git init -q -b main && echo one > f && git add f",
        "git -c user.name=x -c user.email=x@x commit -qm 1 && git tag first",
        "echo two > f && git -c user.name=x -c user.email=x@x commit -qam 2",
    ):
        subprocess.run(command, shell=True, cwd=repository, check=True)
    fleet.configure(*write_script("b.txt", "x"))
    fleet.write(
        [
            {"prompt": "write b.txt", "source": {"git": "repo", "commit": "first"}, "check": "grep one f"},
            {"prompt": "write b.txt", "source": {"git": "repo"}, "check": "grep two f"},
        ]
    )
    done = fleet.program.run("fleet", "run", "tasks.jsonl", "--yolo", "--folder", str(fleet.program.home))
    assert done.exit_code == 0, done


def test_failed_tasks_run_again_on_request_and_passed_ones_do_not(fleet):
    fleet.configure("for: flaky\ntext: Hi.", *write_script("b.txt", "x"))
    marker = fleet.program.home / "marker"
    fleet.write(
        [
            {"id": "flaky", "prompt": "flaky", "check": f"test -f {marker}"},
            {"id": "good", "prompt": "write b.txt"},
        ]
    )
    run = ("fleet", "run", "tasks.jsonl", "--yolo")
    assert fleet.program.run(*run).exit_code == 1
    marker.touch()
    assert fleet.program.run(*run).exit_code == 1
    assert fleet.program.run(*run, "--retry-failed").exit_code == 0
    assert query(fleet, "SELECT task, attempts FROM results ORDER BY task") == [("flaky", 2), ("good", 1)]


def test_a_temporary_failure_is_repeated(fleet):
    fleet.configure("error: 503 busy", more="[loop_control]\nmax_retries_per_step = 1\n")
    fleet.write([{"prompt": "anything"}])
    done = fleet.program.run("fleet", "run", "tasks.jsonl", "--retries", "1")
    assert "↻ 1 runs again: temporary failure" in done.stderr
    assert query(fleet, "SELECT failure, attempts FROM results") == [("temporary failure", 2)]


def test_only_and_dry_run_select_tasks(fleet):
    fleet.configure(*write_script("b.txt", "x"))
    fleet.write([{"id": name, "prompt": "write b.txt"} for name in "abc"])
    planned = fleet.program.run("fleet", "run", "tasks.jsonl", "--only", "a,c", "--dry-run")
    assert planned.stdout.splitlines()[-1] == "Tasks: 2."
    assert not fleet.database.exists()
    fleet.program.run("fleet", "run", "tasks.jsonl", "--only", "b", "--yolo")
    assert query(fleet, "SELECT task FROM results") == [("b",)]
    assert fleet.program.run("fleet", "run", "tasks.jsonl", "--only", "x").exit_code == 2


def test_a_changed_task_needs_another_database(fleet):
    fleet.configure(*write_script("b.txt", "x"))
    fleet.write([{"id": "a", "prompt": "write b.txt"}])
    fleet.program.run("fleet", "run", "tasks.jsonl", "--yolo")
    fleet.write([{"id": "a", "prompt": "something else"}])
    refused = fleet.program.run("fleet", "run", "tasks.jsonl", "--yolo")
    assert (refused.exit_code, "Task a has changed" in refused.stderr) == (2, True)


def test_the_cost_limit_stops_the_fleet_and_a_higher_one_continues_it(fleet):
    fleet.configure(*write_script("b.txt", "x", usage=10_000))
    fleet.write([{"id": name, "prompt": "write b.txt"} for name in "abcd"])
    run = ("fleet", "run", "tasks.jsonl", "--yolo", "-j", "2", "--max-cost")
    stopped = fleet.program.run(*run, "3")  # a task has two calls of a dollar each
    assert stopped.exit_code == 3, stopped
    assert "Cost limit of the fleet reached" in stopped.stdout
    progress = read_progress(fleet.database)
    assert 3 <= progress.spent_usd <= 4
    assert progress.done_count + progress.pending == 4
    assert fleet.program.run(*run, "100").exit_code == 0
    assert read_progress(fleet.database).passed == 4


def test_the_limit_of_a_task_ends_only_that_task(fleet):
    fleet.configure(*write_script("b.txt", "x", usage=10_000))
    fleet.write(
        [
            {"id": "a", "prompt": "write b.txt", "limits": {"max_cost": 0.5}},
            {"id": "b", "prompt": "write b.txt"},
        ]
    )
    fleet.program.run("fleet", "run", "tasks.jsonl", "--yolo")
    assert dict(query(fleet, "SELECT task, failure FROM results")) == {"a": "limit reached", "b": ""}


def test_a_limit_needs_a_price(fleet):
    fleet.program.script("text: hi")
    fleet.write([{"prompt": "hi"}])
    refused = fleet.program.run("fleet", "run", "tasks.jsonl", "--max-cost", "1")
    assert (refused.exit_code, "has no price" in refused.stderr) == (2, True)


def test_the_budget_of_the_day_counts_for_sessions_and_fleets(fleet):
    fleet.configure(
        *write_script("b.txt", "x", usage=10_000),
        "usage: output=10000\ntext: hi",
        more="[budget]\nper_day = 2\n",
    )
    fleet.write([{"prompt": "write b.txt"}])
    assert fleet.program.run("-p", "hi").exit_code == 0
    spent = fleet.program.run("fleet", "run", "tasks.jsonl", "--yolo")
    assert (spent.exit_code, "Cost limit of the day reached" in spent.stdout) == (3, True)
    refused = fleet.program.run("-p", "hi", "--output-format", "json")
    assert (refused.exit_code, refused.result["error"]["kind"]) == (3, "SharedBudgetSpent")


def test_a_rate_limit_makes_the_calls_of_other_workers_wait(fleet):
    fault = Fault.status_is(429, headers={"Retry-After": "60"})
    with serving("openai", [fault]) as server:
        connect(fleet.program, "openai", server.base_url)
        with (fleet.program.data_dir / "config.toml").open("a") as file:
            file.write("\n[loop_control]\nmax_retries_per_step = 1\n")
        fleet.write([{"prompt": "anything"}])
        fleet.program.run("fleet", "run", "tasks.jsonl", "--retries", "0")
        (service,) = query(fleet, "SELECT service FROM rates")[0]
        assert server.base_url.startswith(service)
    with closing(SpendingLedger(fleet.database)) as ledger:
        calls = [CallRequest(call_id=name, service=service, estimate_usd=0) for name in ("one", "two")]
        waits = [ledger.reserve(call, ()).wait_s for call in calls]
    assert 10 < waits[0] < waits[1]


@pytest.fixture
def slow(fleet):
    """A fleet of two tasks whose first call takes as long as a file is missing."""
    fleet.configure("delay: 600\ntext: Too late.", more="")
    fleet.write([{"id": name, "prompt": "wait"} for name in "ab"])
    return fleet


def running_processes(fleet: Fleet) -> list[int]:
    try:
        rows = query(fleet, "SELECT process FROM tasks WHERE state = 'running' AND process IS NOT NULL")
    except sqlite3.OperationalError:  # not created yet
        return []
    return [int(process.split()[0]) for (process,) in rows]


def test_another_driver_takes_over_from_a_killed_one(slow):
    first = slow.program.start("fleet", "run", "tasks.jsonl", "-j", "2")
    wait_for(lambda: len(running_processes(slow)) == 2)
    left = running_processes(slow)
    os.kill(first.pid, signal.SIGKILL)
    first.communicate()
    slow.configure("text: Hi.")
    done = slow.program.run("fleet", "run", "tasks.jsonl")
    assert (done.exit_code, "Took over 2 tasks" in done.stderr) == (0, True), done
    assert query(slow, "SELECT COUNT(*), COUNT(DISTINCT task) FROM results") == [(2, 2)]
    for process in left:
        wait_for(lambda process=process: not Path(f"/proc/{process}").exists())


def test_a_running_task_opens_read_only_from_the_directory_of_its_attempt(slow):
    driver = slow.program.start("fleet", "run", "tasks.jsonl", "-j", "1")
    opened: list[FinishedRun] = []

    def open_task() -> bool:
        opened.append(slow.program.run("fleet", "open", "tasks.jsonl", "a", "--no-start"))
        return opened[-1].exit_code == 0

    wait_for(lambda: running_processes(slow))
    wait_for(open_task)
    command = opened[-1].stdout
    assert "kimi-fleet-a" in command
    assert "KIMI_SHARE_DIR=" in command
    assert command.endswith(" --read-only\n")
    os.kill(driver.pid, signal.SIGINT)
    driver.communicate(timeout=100)


def test_two_drivers_share_a_database_and_no_task_has_two_results(fleet):
    fleet.configure(*write_script("b.txt", "x"))
    fleet.write([{"prompt": "write b.txt", "id": f"t{number}"} for number in range(6)])
    run = ("fleet", "run", "tasks.jsonl", "--yolo", "-j", "1")
    drivers = [fleet.program.start(*run) for _ in range(2)]
    for driver in drivers:
        driver.communicate(timeout=100)
        assert driver.returncode == 0
    assert query(fleet, "SELECT COUNT(*) FROM results") == [(6,)]
    assert query(fleet, "SELECT COUNT(*) FROM attempts") == [(6,)]


def test_a_killed_process_is_repeated_and_an_interrupted_fleet_continues_later(slow):
    driver = slow.program.start("fleet", "run", "tasks.jsonl", "-j", "1")
    wait_for(lambda: running_processes(slow))
    (first,) = running_processes(slow)
    os.killpg(first, signal.SIGKILL)
    wait_for(lambda: running_processes(slow) not in ([], [first]))
    os.kill(driver.pid, signal.SIGINT)
    stdout, _ = driver.communicate(timeout=100)
    assert (driver.returncode, b"Run the same command again" in stdout) == (130, True)
    assert query(slow, "SELECT failure FROM attempts") == [("process died",)]
    slow.configure("text: Hi.")
    assert slow.program.run("fleet", "run", "tasks.jsonl").exit_code == 0


def test_a_bundle_continues_its_session_at_a_checkpoint(fleet):
    fleet.configure(*write_script("b.txt", "one\n"))
    fleet.program.run("-p", "write b.txt", "--yolo", "--bundle", "../s.kimi.zip")
    fleet.configure("for: go on\ntext: I continue.")
    fleet.write(
        [
            {
                "id": "end",
                "prompt": "go on",
                "source": {"bundle": "../s.kimi.zip"},
                "check": "grep one b.txt",
            },
            {
                "id": "start",
                "prompt": "go on",
                "source": {"bundle": "../s.kimi.zip", "checkpoint": 0},
                "check": "! test -e b.txt",
            },
        ]
    )
    done = fleet.program.run("fleet", "run", "tasks.jsonl", "--yolo")
    assert done.exit_code == 0, done
