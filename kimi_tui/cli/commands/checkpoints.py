"""`kimi-tui checkpoints`: what a session can go back to, going there, and what that takes on disk."""

import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, get_args

import typer

from kimi_tui.base.encoding import to_jsonable
from kimi_tui.base.errors import SessionError, UsageError
from kimi_tui.base.paths import share_dir
from kimi_tui.cli.commands.differences import print_comparison, print_patch, print_plan
from kimi_tui.cli.commands.subcommands import new_app, say
from kimi_tui.cli.commands.visits import (
    checkpoint_settings,
    comparison_of,
    last_prompt,
    patch_of,
    session_of,
    tree_of,
    visit,
)
from kimi_tui.cli.places import current_dir
from kimi_tui.cli.questions import yes
from kimi_tui.engine.time_machine import caps_of
from kimi_tui.engine.timeline import node
from kimi_tui.engine.travels import listed_branch, listed_checkpoint
from kimi_tui.history.deed import deed_of
from kimi_tui.history.snapshots.caps import MB
from kimi_tui.history.snapshots.store import ProjectStore
from kimi_tui.language.saying import retell
from kimi_tui.wire.commands import (
    ForkSession,
    NameCheckpoint,
    PlanRevert,
    PlanSwitch,
    Redo,
    Revert,
    SwitchBranch,
    TravelCommand,
    Undo,
)
from kimi_tui.wire.timeline import Reverted, RevertPlan, RevertScope, SessionForked

app = new_app("Checkpoints: what a session can go back to, and what that takes on disk.")
SessionOption = Annotated[
    str | None, typer.Option("--session", "-S", metavar="ID", help="Not the last session of this folder.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only show what would be done.")]
Sure = Annotated[bool, typer.Option("-y", "--yes", help="Don't ask.")]
Only = Annotated[
    list[str] | None,
    typer.Option("--only", metavar="FILE", help="Change this file alone; may be repeated."),
]
_SCOPES: tuple[RevertScope, ...] = get_args(RevertScope)


@app.command("list")
def list_checkpoints(
    session_id: SessionOption = None,
    everywhere: Annotated[bool, typer.Option("--all", help="Those of branches, too.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """List the checkpoints of a session, the newest first."""
    session = session_of(session_id)
    line, tree = tree_of(session)
    done = deed_of(line.since_checkpoint)  # which the newest knows nothing of yet
    live = [tree.places[known.uid] for known in tree.live]
    for place in reversed(list(tree.places.values()) if everywhere else live):
        known = node(place, session.state.names, done=done if place.branch is None else None)
        if as_json:
            typer.echo(json.dumps(to_jsonable(known), ensure_ascii=False))
        else:
            say(listed_checkpoint(known))
    if not tree.places and not as_json:
        typer.echo(retell("There are no checkpoints yet."), err=True)


@app.command()
def branches(session_id: SessionOption = None) -> None:
    """List the lines of the conversation that reverts, clears and compactions left."""
    _, tree = tree_of(session_of(session_id))
    known = tree.own_branches()
    for branch in reversed(known):
        say(listed_branch(branch))
    if not known:
        typer.echo(retell("There are no branches yet."), err=True)


@app.command()
def diff(
    before: Annotated[
        int | None, typer.Argument(metavar="N", help="A checkpoint; else that of your last prompt.")
    ] = None,
    after: Annotated[
        int | None, typer.Argument(metavar="M", help="Another one; else what the files hold now.")
    ] = None,
    session_id: SessionOption = None,
    patch: Annotated[
        bool, typer.Option("--patch", "-p", help="All of it, as a patch that git apply takes.")
    ] = False,
) -> None:
    """Show how the files differ between two checkpoints, or between one and now."""
    session = session_of(session_id)
    first = last_prompt(session) if before is None else before
    if patch:
        print_patch(asyncio.run(patch_of(session, first, after)))
    else:
        print_comparison(asyncio.run(comparison_of(session, first, after)))


@app.command()
def revert(
    to: Annotated[int, typer.Argument(metavar="N", help="The checkpoint to go back to.")],
    session_id: SessionOption = None,
    scope: Annotated[str, typer.Option(metavar="|".join(_SCOPES), help="What goes back.")] = "both",
    only: Only = None,
    note: Annotated[str, typer.Option(metavar="TEXT", help="What the model is to read there.")] = "",
    dry_run: DryRun = False,
    sure: Sure = False,
) -> None:
    """Go back to just before a checkpoint. What you changed yourself is kept; `undo` takes it back."""
    what = _scope(scope)
    go = Revert(to, what, _paths(only), note)
    _jump(session_id, PlanRevert(to, what), go, f"Go back to checkpoint {to}", dry_run=dry_run, sure=sure)


@app.command()
def undo(
    session_id: SessionOption = None, only: Only = None, dry_run: DryRun = False, sure: Sure = False
) -> None:
    """Take the last jump back."""
    go = Undo(_paths(only))
    _jump(session_id, PlanRevert("undo"), go, "Take it back", dry_run=dry_run, sure=sure)


@app.command()
def redo(
    session_id: SessionOption = None, only: Only = None, dry_run: DryRun = False, sure: Sure = False
) -> None:
    """Take the last undo back."""
    go = Redo(_paths(only))
    _jump(session_id, PlanRevert("redo"), go, "Do it again", dry_run=dry_run, sure=sure)


@app.command()
def switch(
    branch: Annotated[int, typer.Argument(metavar="BRANCH", help="The branch, as `branches` lists it.")],
    to: Annotated[int | None, typer.Argument(metavar="N", help="A checkpoint of it; else its end.")] = None,
    session_id: SessionOption = None,
    scope: Annotated[str, typer.Option(metavar="|".join(_SCOPES[:3]), help="What goes there.")] = "both",
    only: Only = None,
    dry_run: DryRun = False,
    sure: Sure = False,
) -> None:
    """Go on with a branch; where the session is now becomes a branch."""
    go = SwitchBranch(branch, to, _scope(scope), _paths(only))
    _jump(session_id, PlanSwitch(branch, to), go, f"Switch to branch {branch}", dry_run=dry_run, sure=sure)


@app.command()
def fork(
    to: Annotated[int | None, typer.Argument(metavar="N", help="A checkpoint; else the end.")] = None,
    session_id: SessionOption = None,
) -> None:
    """Make the conversation up to just before a checkpoint a session of its own."""
    asyncio.run(_fork(session_id, to))


@app.command()
def name(
    number: Annotated[int, typer.Argument(metavar="N", help="The checkpoint.")],
    text: Annotated[str, typer.Argument(metavar="NAME", help="Its name; nothing takes it away.")] = "",
    session_id: SessionOption = None,
) -> None:
    """Name a checkpoint."""
    asyncio.run(_name(session_id, number, text))


@app.command()
def du() -> None:
    """Show what the files' states of this folder take on disk."""
    usage = ProjectStore(share_dir(), current_dir(), "").usage()
    say(f"contents   {usage.contents / MB:10.1f} MB")
    say(f"states     {usage.manifests / MB:10.1f} MB  ({usage.states} of them)")


@app.command()
def prune(
    days: Annotated[
        float | None, typer.Option(min=0, help="Forget states that are older; else as the config says.")
    ] = None,
    size: Annotated[
        int | None,
        typer.Option(min=0, metavar="MB", help="Forget the oldest until the rest takes no more."),
    ] = None,
) -> None:
    """Free disk space: forget old states of the files. Conversations and the files themselves stay."""
    caps = caps_of(checkpoint_settings(current_dir()))
    caps = replace(
        caps,
        age_days=days if days is not None else caps.age_days,
        total=size * MB if size is not None else caps.total,
    )
    store = ProjectStore(share_dir(), current_dir(), "")
    try:
        freed = store.prune(caps)
    except OSError as error:
        raise SessionError(
            f"Old states can't be removed: {error.strerror or error}.", hint=f"Look at {store.folder}."
        ) from error
    say(f"Freed {freed / MB:.1f} MB.")


def _scope(text: str) -> RevertScope:
    for known in _SCOPES:
        if known == text:
            return known
    raise UsageError(f"There is no scope “{text}”.", hint=f"Say one of {', '.join(_SCOPES)}.")


def _paths(only: Sequence[str] | None) -> tuple[str, ...] | None:
    return tuple(only) if only else None


def _jump(
    session_id: str | None,
    plan: PlanRevert | PlanSwitch,
    go: TravelCommand,
    question: str,
    *,
    dry_run: bool,
    sure: bool,
) -> None:
    if not (dry_run or sure or sys.stdin.isatty()):
        raise UsageError("This asks first, and standard input is no terminal.", hint="Add --yes.")
    asyncio.run(_planned_jump(session_id, plan, go, question, dry_run=dry_run, sure=sure))


async def _planned_jump(
    session_id: str | None,
    plan: PlanRevert | PlanSwitch,
    go: TravelCommand,
    question: str,
    *,
    dry_run: bool,
    sure: bool,
) -> None:
    async with visit(session_of(session_id)) as visited:
        for event in await visited.do(plan):
            if isinstance(event, RevertPlan):
                print_plan(event)
        if dry_run or not (sure or yes(question)):
            return
        for event in await visited.do(go):
            if isinstance(event, Reverted):
                count = len(event.files)
                if count == 1:
                    say(f"Went to checkpoint {event.to}; 1 file changed.")
                else:
                    say(f"Went to checkpoint {event.to}; {count} files changed.")


async def _fork(session_id: str | None, to: int | None) -> None:
    async with visit(session_of(session_id)) as visited:
        for event in await visited.do(ForkSession(to)):
            if isinstance(event, SessionForked):
                say(f"{event.session_id}  {event.title}")


async def _name(session_id: str | None, number: int, text: str) -> None:
    async with visit(session_of(session_id)) as visited:
        await visited.do(NameCheckpoint(number, text))
