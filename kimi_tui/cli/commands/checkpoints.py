"""`kimi-tui checkpoints`: lists checkpoints, reverts to them and manages their disk space."""

import asyncio
import json
import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, get_args

import typer

from kimi_tui.base.errors import SessionError, UsageError
from kimi_tui.base.json_codec import to_jsonable
from kimi_tui.base.message_text import msg
from kimi_tui.base.paths import data_dir
from kimi_tui.cli.commands.diff_output import (
    print_comparison,
    print_content,
    print_patch,
    print_plan,
    print_saved_versions,
)
from kimi_tui.cli.commands.runner import new_app, print_line
from kimi_tui.cli.commands.session_access import (
    PlanCommand,
    RevertCommand,
    checkpoint_settings,
    comparison_of,
    find_session,
    last_prompt_checkpoint,
    load_tree,
    open_session_for_command,
    open_workspaces,
    patch_of,
    read_saved_file,
)
from kimi_tui.cli.run_paths import current_dir
from kimi_tui.cli.startup_prompts import confirm
from kimi_tui.engine.timeline.commands import format_branch, format_checkpoint
from kimi_tui.engine.timeline.publisher import build_node
from kimi_tui.engine.timeline.service import snapshot_limits
from kimi_tui.frontend.text.bisect import progress_text, result_text
from kimi_tui.history.snapshots.limits import MB
from kimi_tui.history.snapshots.project_store import ProjectStore
from kimi_tui.history.step_summary import summarize_step
from kimi_tui.i18n.translate import tr
from kimi_tui.wire.bisect import BisectProgress, BisectResult
from kimi_tui.wire.commands import (
    PlanRevert,
    PlanSwitch,
    Redo,
    Revert,
    SwitchBranch,
    Undo,
)
from kimi_tui.wire.event_sender import EventList
from kimi_tui.wire.events import Event
from kimi_tui.wire.file_choice_options import parse_file_choices
from kimi_tui.wire.timeline import RevertScope

app = new_app("List checkpoints, revert to them and free disk space.")
SessionOption = Annotated[
    str | None, typer.Option("--session", "-S", metavar="ID", help="Use session ID instead of the last one.")
]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Show the preview without changing anything.")]
YesOption = Annotated[bool, typer.Option("-y", "--yes", help="Don't ask for confirmation.")]
OnlyOption = Annotated[
    list[str] | None,
    typer.Option("--only", metavar="FILE", help="Change only FILE; repeatable."),
]
ChooseOption = Annotated[
    list[str] | None,
    typer.Option(
        "--choose",
        metavar="FILE=CHOICE",
        help="For a file that you also changed: mine, checkpoint, both or merge; repeatable.",
    ),
]
HunksOption = Annotated[
    list[str] | None,
    typer.Option("--hunks", metavar="FILE=1,3", help="Change only these hunks of FILE; repeatable."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the preview and the result as JSON objects.")]
_SCOPES: tuple[RevertScope, ...] = get_args(RevertScope)


@app.command("list")
def list_checkpoints(
    session_id: SessionOption = None,
    everywhere: Annotated[bool, typer.Option("--all", help="Include checkpoints of other branches.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object per line.")] = False,
) -> None:
    """List the checkpoints of a session, newest first."""
    session = find_session(session_id)
    conversation, tree = load_tree(session)
    summary = summarize_step(conversation.messages_since_checkpoint)  # not part of a checkpoint yet
    current_branch = [tree.nodes[checkpoint.uid] for checkpoint in tree.current_branch]
    for node in reversed(list(tree.nodes.values()) if everywhere else current_branch):
        row = build_node(node, session.state.names, summary=summary if node.branch is None else None)
        if as_json:
            typer.echo(json.dumps(to_jsonable(row), ensure_ascii=False))
        else:
            print_line(format_checkpoint(row))
    if not tree.nodes and not as_json:
        typer.echo(tr("No checkpoints yet."), err=True)


@app.command()
def branches(session_id: SessionOption = None) -> None:
    """List the branches created by reverts, /clear and compaction."""
    _, tree = load_tree(find_session(session_id))
    own_branches = tree.own_branches()
    for branch in reversed(own_branches):
        print_line(format_branch(branch))
    if not own_branches:
        typer.echo(tr("No branches yet."), err=True)


@app.command()
def diff(
    before: Annotated[
        int | None,
        typer.Argument(metavar="N", help="First checkpoint. Default: the checkpoint of your last prompt."),
    ] = None,
    after: Annotated[
        int | None, typer.Argument(metavar="M", help="Second checkpoint. Default: the current files.")
    ] = None,
    session_id: SessionOption = None,
    patch: Annotated[bool, typer.Option("--patch", "-p", help="Print a patch for git apply.")] = False,
) -> None:
    """Show file changes between two checkpoints, or since one."""
    session = find_session(session_id)
    first = last_prompt_checkpoint(session) if before is None else before
    if patch:
        print_patch(asyncio.run(patch_of(session, first, after)))
    else:
        print_comparison(asyncio.run(comparison_of(session, first, after)))


@app.command()
def show(
    number: Annotated[int, typer.Argument(metavar="N", help="Checkpoint.")],
    path: Annotated[str, typer.Argument(metavar="FILE", help="File, as in `diff` and in previews.")],
    session_id: SessionOption = None,
) -> None:
    """Print a file as it was at a checkpoint."""
    print_content(read_saved_file(find_session(session_id), number, path))


@app.command()
def bisect(
    command: Annotated[
        list[str],
        typer.Argument(
            metavar="-- COMMAND", help="Command to run. Exit code 0 passes, 125 skips, others fail."
        ),
    ],
    session_id: SessionOption = None,
) -> None:
    """Find the step that made a command fail, or pass."""
    line = command[0] if len(command) == 1 else shlex.join(command)
    result = asyncio.run(_run_bisect(session_id, line))
    headline, body = result_text(result, offers="shell")
    for line in (headline, *body.splitlines()):
        print_line(line)
    if not result.has_found_step:
        raise typer.Exit(1)


@app.command()
def revert(
    to: Annotated[int, typer.Argument(metavar="N", help="Checkpoint to revert to.")],
    session_id: SessionOption = None,
    scope: Annotated[str, typer.Option(metavar="|".join(_SCOPES), help="Select what to revert.")] = "both",
    only: OnlyOption = None,
    choose: ChooseOption = None,
    hunks: HunksOption = None,
    note: Annotated[str, typer.Option(metavar="TEXT", help="Add a note for the model.")] = "",
    dry_run: DryRunOption = False,
    assume_yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Revert to just before a checkpoint, keeping your own changes."""
    parsed_scope = _parse_scope(scope)
    command = Revert(to, parsed_scope, to_paths(only), note, parse_file_choices(choose or (), hunks or ()))
    run_revert(
        session_id,
        PlanRevert(to, parsed_scope),
        command,
        msg("Revert to checkpoint {checkpoint}", checkpoint=to),
        dry_run=dry_run,
        assume_yes=assume_yes,
        as_json=as_json,
    )


@app.command()
def undo(
    session_id: SessionOption = None,
    only: OnlyOption = None,
    choose: ChooseOption = None,
    hunks: HunksOption = None,
    dry_run: DryRunOption = False,
    assume_yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Undo the last revert."""
    command = Undo(to_paths(only), parse_file_choices(choose or (), hunks or ()))
    run_revert(
        session_id,
        PlanRevert("undo"),
        command,
        "Undo the last revert",
        dry_run=dry_run,
        assume_yes=assume_yes,
        as_json=as_json,
    )


@app.command()
def redo(
    session_id: SessionOption = None,
    only: OnlyOption = None,
    choose: ChooseOption = None,
    hunks: HunksOption = None,
    dry_run: DryRunOption = False,
    assume_yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Redo the last undone revert."""
    command = Redo(to_paths(only), parse_file_choices(choose or (), hunks or ()))
    run_revert(
        session_id,
        PlanRevert("redo"),
        command,
        "Redo the last undone revert",
        dry_run=dry_run,
        assume_yes=assume_yes,
        as_json=as_json,
    )


@app.command()
def switch(
    branch: Annotated[int, typer.Argument(metavar="BRANCH", help="Branch number from `branches`.")],
    to: Annotated[
        int | None, typer.Argument(metavar="N", help="Checkpoint of the branch. Default: its end.")
    ] = None,
    session_id: SessionOption = None,
    scope: Annotated[
        str, typer.Option(metavar="|".join(_SCOPES[:3]), help="Select what to switch.")
    ] = "both",
    only: OnlyOption = None,
    choose: ChooseOption = None,
    hunks: HunksOption = None,
    dry_run: DryRunOption = False,
    assume_yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Switch to another branch."""
    command = SwitchBranch(
        branch, to, _parse_scope(scope), to_paths(only), parse_file_choices(choose or (), hunks or ())
    )
    run_revert(
        session_id,
        PlanSwitch(branch, to),
        command,
        msg("Switch to branch {branch}", branch=branch),
        dry_run=dry_run,
        assume_yes=assume_yes,
        as_json=as_json,
    )


@app.command()
def fork(
    to: Annotated[int | None, typer.Argument(metavar="N", help="Checkpoint. Default: the end.")] = None,
    session_id: SessionOption = None,
) -> None:
    """Fork the conversation before a checkpoint into a new session."""
    asyncio.run(_run_fork(session_id, to))


@app.command()
def name(
    number: Annotated[int, typer.Argument(metavar="N", help="Checkpoint to name.")],
    text: Annotated[
        str, typer.Argument(metavar="NAME", help="New name; leave it out to remove the name.")
    ] = "",
    session_id: SessionOption = None,
) -> None:
    """Name a checkpoint."""
    asyncio.run(_set_name(session_id, number, text))


@app.command()
def du() -> None:
    """Show the disk space used by this directory's file snapshots."""
    usage = ProjectStore(data_dir(), current_dir(), "").usage()
    print_line(msg("contents   {megabytes:10.1f} MB", megabytes=usage.contents / MB))
    print_line(
        msg("snapshots  {megabytes:10.1f} MB  ({count})", megabytes=usage.manifests / MB, count=usage.states)
    )


@app.command()
def prune(
    days: Annotated[
        float | None, typer.Option(min=0, help="Remove snapshots older than this. Default: from config.")
    ] = None,
    size: Annotated[
        int | None,
        typer.Option(
            min=0, metavar="MB", help="Remove the oldest snapshots until the rest fits into this size."
        ),
    ] = None,
) -> None:
    """Remove old file snapshots to free disk space."""
    caps = snapshot_limits(checkpoint_settings(current_dir()))
    caps = replace(
        caps,
        age_days=days if days is not None else caps.age_days,
        total=size * MB if size is not None else caps.total,
    )
    store = ProjectStore(data_dir(), current_dir(), "")
    try:
        freed = store.prune(caps)
    except OSError as error:
        raise SessionError(
            msg("Can't remove old file snapshots: {reason}.", reason=error.strerror or error),
            hint=f"Check {store.folder}.",
        ) from error
    print_line(msg("Freed {megabytes:.1f} MB.", megabytes=freed / MB))


def _parse_scope(text: str) -> RevertScope:
    for known in _SCOPES:
        if known == text:
            return known
    raise UsageError(
        msg("Unknown scope “{scope}”.", scope=text), hint=msg("Use one of {names}.", names=", ".join(_SCOPES))
    )


def to_paths(only: Sequence[str] | None) -> tuple[str, ...] | None:
    """Return the value of `--only`."""
    return tuple(only) if only else None


def run_revert(
    session_id: str | None,
    plan: PlanCommand,
    revert_command: RevertCommand,
    question: str,
    *,
    dry_run: bool,
    assume_yes: bool,
    as_json: bool = False,
) -> None:
    """Print the plan, ask, and change the files. Raises KimiTuiError."""
    if not (dry_run or assume_yes or sys.stdin.isatty()):
        raise UsageError("Can't ask for confirmation: standard input isn't a terminal.", hint="Add --yes.")
    asyncio.run(
        _plan_and_revert(
            session_id,
            plan,
            revert_command,
            question,
            dry_run=dry_run,
            assume_yes=assume_yes,
            as_json=as_json,
        )
    )


async def _plan_and_revert(
    session_id: str | None,
    plan: PlanCommand,
    revert_command: RevertCommand,
    question: str,
    *,
    dry_run: bool,
    assume_yes: bool,
    as_json: bool = False,
) -> None:
    async with open_session_for_command(find_session(session_id)) as access:
        planned = await access.plan(plan)
        if as_json:
            typer.echo(json.dumps(to_jsonable(planned), ensure_ascii=False))
        else:
            print_plan(planned)
        if dry_run or not (assume_yes or confirm(question)):
            return
        reverted = await access.revert(revert_command)
        if as_json:
            typer.echo(json.dumps(to_jsonable(reverted), ensure_ascii=False))
            return
        count = len(reverted.files)
        if count == 1:
            print_line(msg("Now at checkpoint {checkpoint}; 1 file changed.", checkpoint=reverted.to))
        else:
            print_line(
                msg(
                    "Now at checkpoint {checkpoint}; {count} files changed.",
                    checkpoint=reverted.to,
                    count=count,
                )
            )
        print_saved_versions(reverted)


async def _run_bisect(session_id: str | None, command: str) -> BisectResult:
    session = find_session(session_id)
    async with (
        open_workspaces(session) as workspaces,
        open_session_for_command(session, events=_PrintedEvents(), workspaces=workspaces) as access,
    ):
        return await access.bisect(command)


class _PrintedEvents(EventList):
    """Prints the progress of a search to stderr as it arrives."""

    def send(self, event: Event) -> None:
        super().send(event)
        if isinstance(event, BisectProgress):
            typer.echo(progress_text(event), err=True)


async def _run_fork(session_id: str | None, to: int | None) -> None:
    async with open_session_for_command(find_session(session_id)) as access:
        forked = await access.fork(to)
        print_line(f"{forked.session_id}  {forked.title}")


async def _set_name(session_id: str | None, number: int, text: str) -> None:
    async with open_session_for_command(find_session(session_id)) as access:
        await access.name_checkpoint(number, text)
