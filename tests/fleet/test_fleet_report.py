"""Reports and reopened tasks of a fleet."""

import re

from tests.fleet.fleets import write_script


def run_twice(fleet):
    """Run two tasks twice; the second run fixes one and breaks the other."""
    marker = fleet.program.home / "marker"
    fleet.configure(*write_script("b.txt", "new\n"))
    fleet.write(
        [
            {"id": "one", "prompt": "write b.txt <b>", "check": f"test -e {marker}"},
            {"id": "two", "prompt": "write b.txt", "check": f"! test -e {marker}"},
        ]
    )
    run = ("fleet", "run", "tasks.jsonl", "--yolo")
    fleet.program.run(*run)
    marker.touch()
    fleet.program.run(*run, "--run", "later.fleet.db")
    return fleet.program


def test_a_report_compares_two_runs_in_markdown_and_html(fleet):
    program = run_twice(fleet)
    report = program.run("fleet", "report", "later.fleet.db", "--compare", "tasks.jsonl")
    assert "| Passed | 1 of 2 (50.0%) |" in report.stdout
    assert "Fixed: one.\nBroken: two." in report.stdout
    assert "| two | check failed |" in report.stdout
    program.run("fleet", "report", "later.fleet.db", "--compare", "tasks.jsonl", "-o", "r.html")
    page = (program.work_dir / "r.html").read_text()
    assert page.count("<svg") == 4
    assert "write b.txt &lt;b&gt;" in page
    assert "<script" not in page
    assert not re.search(r'(?:src|href)="', page)


def test_a_finished_task_opens_as_a_session_that_resumes(fleet):
    program = run_twice(fleet)
    opened = program.run("fleet", "open", "tasks.jsonl", "two", "--no-start")
    assert opened.exit_code == 0, opened
    folder = program.work_dir / "tasks-two"
    assert (folder / "b.txt").read_text() == "new\n"
    session = opened.stdout.split()[-1]
    program.script("text: I go on.")
    assert program.run("-p", "more", "--session", session).stdout == "I go on.\n"
    assert program.run("fleet", "open", "tasks.jsonl", "two", "--no-start").stdout == opened.stdout
    patch = program.run("fleet", "patch", "tasks.jsonl", "two")
    assert "+++ b/b.txt" in patch.stdout
    assert program.run("fleet", "open", "tasks.jsonl", "none", "--no-start").exit_code == 2
