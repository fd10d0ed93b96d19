"""`kimi-tui fleet`: runs a list of tasks, shows their progress, and reports their results."""

import os
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Annotated

import typer

from kimi_tui.base.errors import UsageError
from kimi_tui.base.exit_codes import ExitCode
from kimi_tui.base.message_text import msg
from kimi_tui.base.paths import data_dir
from kimi_tui.base.terminal_text import sanitize, sanitize_line
from kimi_tui.cli.bootstrap import open_log
from kimi_tui.cli.commands.runner import new_app, print_line
from kimi_tui.cli.run_paths import current_dir, ensure_data_dir
from kimi_tui.config.loader import read_config, settings_of
from kimi_tui.config.own_program import PROGRAM
from kimi_tui.fleet.attempt import RunOptions
from kimi_tui.fleet.backends.backend import Backend
from kimi_tui.fleet.fleet_database import FleetDatabase
from kimi_tui.fleet.fleet_driver import DriverOptions, DriverOutcome, FleetDriver
from kimi_tui.fleet.fleet_setup import create_backend, read_config_files, remote_environment
from kimi_tui.fleet.fleet_task import TaskFile, read_task_file
from kimi_tui.fleet.live_table import LiveTable, watch_progress
from kimi_tui.fleet.progress_lines import ProgressLines, StderrWriter
from kimi_tui.fleet.report.html_report import render_html
from kimi_tui.fleet.report.markdown_report import render_markdown
from kimi_tui.fleet.report.run_summary import RunSummary, compare_runs, summarize_run
from kimi_tui.fleet.run_budgets import RunBudgets, check_prices
from kimi_tui.fleet.task_gates import TaskGates
from kimi_tui.fleet.task_opener import open_task, start_command
from kimi_tui.frontend.fleet.progress import database_of, find_fleets, read_progress
from kimi_tui.frontend.text.fleet_progress import summary_lines
from kimi_tui.i18n.translate import tr

app = new_app("Run many tasks headless, watch them and report the results.")

_Run = Annotated[Path, typer.Argument(metavar="RUN", help="Task file or database of a fleet.")]


@app.command()
def run(
    tasks: Annotated[Path, typer.Argument(metavar="TASKS", help="File with one task per line, as JSON.")],
    database: Annotated[
        Path | None, typer.Option("--run", metavar="FILE", help="Database. Default: TASKS with .fleet.db.")
    ] = None,
    on: Annotated[
        str, typer.Option("--on", metavar="BACKEND", help="local, ray or ray://HOST:PORT.")
    ] = "local",
    workers: Annotated[
        int | None, typer.Option("--workers", "-j", metavar="N", help="Run N tasks at the same time.")
    ] = None,
    cpus: Annotated[float, typer.Option("--cpus", metavar="N", help="Reserve N CPUs per task on Ray.")] = 1.0,
    max_cost: Annotated[
        float | None, typer.Option("--max-cost", metavar="USD", help="Limit the cost of the fleet.")
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option("--only", metavar="ID", help="Run only this task; repeatable.")
    ] = None,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Run failed tasks again.")] = False,
    retries: Annotated[
        int,
        typer.Option("--retries", metavar="N", help="Repeat a task up to N times after temporary failures."),
    ] = 2,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check the tasks and run nothing.")] = False,
    model: Annotated[
        str | None, typer.Option("--model", "-m", metavar="NAME", help="Use model NAME for all tasks.")
    ] = None,
    agent: Annotated[
        str | None, typer.Option("--agent", "-a", metavar="NAME", help="Use agent NAME for all tasks.")
    ] = None,
    demo: Annotated[bool, typer.Option("--demo", help="Use the offline demo model.")] = False,
    yolo: Annotated[
        bool, typer.Option("--yolo", "-y", help="Approve everything that no ask or deny rule covers.")
    ] = False,
    sandbox: Annotated[bool, typer.Option("--sandbox", help="Run commands in the sandbox.")] = False,
    allow: Annotated[
        list[str] | None, typer.Option("--allow", metavar="RULE", help="Add an allow rule; repeatable.")
    ] = None,
    deny: Annotated[
        list[str] | None, typer.Option("--deny", metavar="RULE", help="Add a deny rule; repeatable.")
    ] = None,
    mcp_config_file: Annotated[
        list[Path] | None,
        typer.Option("--mcp-config-file", metavar="FILE", help="Read MCP servers only from FILE."),
    ] = None,
    folder: Annotated[
        Path | None, typer.Option("--folder", metavar="DIR", help="Create the tasks' directories in DIR.")
    ] = None,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the tasks' directories.")] = False,
) -> int:
    """Run the tasks in a file. Repeat the command to continue."""
    _check_numbers(
        {
            "--workers": (workers, 1),
            "--cpus": (cpus, 0.01),
            "--max-cost": (max_cost, 0),
            "--retries": (retries, 0),
        }
    )
    file = read_task_file(tasks)
    _report_invalid(file)
    options = RunOptions(
        demo=demo,
        model=model,
        agent=agent,
        yolo=yolo,
        sandbox=sandbox or None,
        allow=tuple(allow or ()),
        deny=tuple(deny or ()),
        mcp_config_files=tuple(str(path.expanduser().resolve()) for path in mcp_config_file or ()),
    )
    settings = settings_of(read_config(data_dir=ensure_data_dir(), work_dir=current_dir()))
    check_prices(file.tasks, options, settings, max_cost)
    selected = _select(file, only)
    if dry_run:
        _print_plan(selected if selected is not None else [task.id for task in file.tasks], file)
        return ExitCode.FAILED if file.invalid else ExitCode.DONE
    open_log(data_dir())
    path = (database or database_of(tasks)).absolute()
    budgets = RunBudgets(
        ledger=str(path),
        max_cost=max_cost,
        per_day=settings.budget.per_day,
        day_ledger=str(data_dir() / "spending.db"),
    )
    driver_options = DriverOptions(
        run_options=options,
        config_files=read_config_files(data_dir()),
        environment=remote_environment(),
        only=selected,
        retries=retries,
        folder=str(folder.expanduser().resolve()) if folder is not None else "",
        keeps_folders=keep,
    )
    with closing(FleetDatabase(path, creates=True)) as opened:
        opened.add_tasks(file.tasks)
        opened.set_meta("max_cost", max_cost)
        opened.set_meta("invalid_lines", len(file.invalid))
        if retry_failed:
            opened.reset_failed(selected)
        backend = create_backend(on, workers=workers, cpus_per_task=cpus)
        with closing(TaskGates(budgets, file.tasks, on if backend.is_remote else "")) as gates:
            outcome = _drive(opened, backend, driver_options, gates)
    return _report_outcome(outcome, path, file)


@app.command()
def watch(run_: _Run) -> None:
    """Show the progress of a fleet until it's done."""
    path = database_of(run_)
    if sys.stdout.isatty():
        with suppress(KeyboardInterrupt):
            watch_progress(path)
    else:
        typer.echo("\n".join(summary_lines(read_progress(path))))


@app.command("list")
def list_() -> None:
    """List the fleets of this directory."""
    fleets = find_fleets(current_dir())
    for path in fleets:
        progress = read_progress(path)
        typer.echo(f"{sanitize_line(path.name)}  {summary_lines(progress)[0]}")
    if not fleets:
        typer.echo(tr("No fleets in this directory."), err=True)


def _drive(
    database: FleetDatabase, backend: Backend, options: DriverOptions, gates: TaskGates
) -> DriverOutcome:
    """Run a driver until it's done or a signal stops it."""
    table: LiveTable | None = None
    if sys.stderr.isatty():
        table = LiveTable(database.path)
        observer = ProgressLines(table)
    else:
        observer = ProgressLines(StderrWriter())
    driver = FleetDriver(database, backend, options, gates=gates, observer=observer)
    previous = {
        number: signal.signal(number, lambda *_: driver.stop()) for number in (signal.SIGINT, signal.SIGTERM)
    }
    if table is not None:
        table.start()
    try:
        return driver.run()
    finally:
        if table is not None:
            table.close()
        for number, handler in previous.items():
            signal.signal(number, handler)


def _select(file: TaskFile, only: Sequence[str] | None) -> list[str] | None:
    if not only:
        return None
    selected = [task_id.strip() for value in only for task_id in value.split(",") if task_id.strip()]
    known = {task.id for task in file.tasks}
    for task_id in selected:
        if task_id not in known:
            raise UsageError(
                msg("--only {id}: no such task.", id=sanitize_line(task_id)),
                hint="Use --dry-run to list the tasks.",
            )
    return selected


def _check_numbers(numbers: Mapping[str, tuple[float | None, float]]) -> None:
    """Check that every number that was given is large enough. Raises UsageError."""
    for option, (value, least) in numbers.items():
        if value is not None and value < least:
            raise UsageError(
                msg("{option} must be at least {least}.", option=option, least=least),
                hint="Use a larger number.",
            )


def _report_invalid(file: TaskFile) -> None:
    for line in file.invalid:
        typer.echo(
            tr("Line {number}: {problem}", number=line.number, problem=sanitize_line(line.problem)), err=True
        )
    if not file.tasks:
        raise UsageError(
            "The file has no valid task.",
            hint='Write one JSON object per line, such as {"prompt": "fix the bug", "source": "."}.',
        )


def _print_plan(selected: Sequence[str], file: TaskFile) -> None:
    chosen = set(selected)
    for task in file.tasks:
        if task.id in chosen:
            source = next(iter(task.source.model_dump().values())) if task.source is not None else "-"
            typer.echo(sanitize_line(f"{task.id}  {source}  {task.prompt}"))
    print_line(msg("Tasks: {count}.", count=len(chosen)))


def _report_outcome(outcome: DriverOutcome, path: Path, file: TaskFile) -> int:
    progress = read_progress(path)
    typer.echo("\n".join(summary_lines(progress)))
    match outcome.reason:
        case "interrupted":
            print_line(msg("Interrupted. Run the same command again to continue."))
            return ExitCode.INTERRUPTED
        case "budget":
            print_line(outcome.problem)
            return ExitCode.LIMIT
        case _:
            return ExitCode.FAILED if progress.failed_count or file.invalid else ExitCode.DONE


_TaskId = Annotated[str, typer.Argument(metavar="TASK", help="ID of a task.")]


@app.command("open")
def open_(
    run_: _Run,
    task: _TaskId,
    folder: Annotated[
        Path | None, typer.Option("--folder", metavar="DIR", help="Directory to restore the files in.")
    ] = None,
    restore_only: Annotated[bool, typer.Option("--no-start", help="Restore the session only.")] = False,
) -> None:
    """Open a task as a session, read-only while it runs."""
    with closing(FleetDatabase(database_of(run_))) as opened:
        target = folder.expanduser().absolute() if folder is not None else None
        session = open_task(opened, task, target)
    variable = f"KIMI_SHARE_DIR={session.data_dir} " if session.data_dir is not None else ""
    command = start_command(session)
    if restore_only:
        typer.echo(sanitize_line(f"cd {session.work_dir} && {variable}kimi-tui {' '.join(command)}"))
        return
    os.chdir(session.work_dir)
    if session.data_dir is not None:
        os.environ["KIMI_SHARE_DIR"] = str(session.data_dir)
    os.execv(PROGRAM[0], [*PROGRAM, *command])


@app.command()
def patch(run_: _Run, task: _TaskId) -> None:
    """Print the changes of a task as a git patch."""
    with closing(FleetDatabase(database_of(run_))) as opened:
        result = opened.result(task)
    if result is None:
        raise UsageError(
            msg("Task {id} has no result yet.", id=task), hint="Open it once it runs or is done."
        )
    typer.echo(sanitize(result.patch) if sys.stdout.isatty() else result.patch, nl=False)


@app.command()
def report(
    run_: _Run,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Write Markdown, or HTML to FILE.html."),
    ] = None,
    compare: Annotated[
        Path | None, typer.Option("--compare", metavar="RUN", help="Compare with an earlier run.")
    ] = None,
) -> None:
    """Report pass rate, cost, time and tokens."""
    summary = _summarize(run_)
    comparison = compare_runs(_summarize(compare), summary) if compare is not None else None
    is_html = output is not None and output.suffix in (".html", ".htm")
    text = render_html(summary, comparison) if is_html else render_markdown(summary, comparison)
    if output is None:
        typer.echo(text, nl=False)
        return
    try:
        output.write_text(text, "utf-8")
    except OSError as error:
        raise UsageError(
            msg("Can't write {path}: {reason}.", path=output, reason=error.strerror or error),
            hint="Choose another file.",
        ) from error
    print_line(msg("Wrote {path}.", path=output))


def _summarize(run_: Path) -> RunSummary:
    with closing(FleetDatabase(database_of(run_))) as opened:
        return summarize_run(opened)
