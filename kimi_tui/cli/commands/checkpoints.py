"""`kimi-tui checkpoints`: what a session can go back to, going back, and what that takes on disk."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from kimi_tui.base.errors import KimiTuiError, SessionError, UsageError
from kimi_tui.base.paths import share_dir
from kimi_tui.cli.commands.subcommands import new_app, say
from kimi_tui.cli.places import current_dir
from kimi_tui.cli.questions import yes
from kimi_tui.engine.build import session_files
from kimi_tui.engine.session_files import SessionFiles
from kimi_tui.engine.time_travel import TimeTravel
from kimi_tui.history.context import Context
from kimi_tui.history.records import Checkpoint
from kimi_tui.history.session import Session, SessionStore
from kimi_tui.history.snapshots.caps import DEFAULT_CAPS, MB
from kimi_tui.history.snapshots.file_history import FileHistory
from kimi_tui.history.snapshots.manifest import is_manifest
from kimi_tui.history.snapshots.plan import PlanItem
from kimi_tui.history.snapshots.store import ProjectStore
from kimi_tui.tools.workspace import Workspace, showable
from kimi_tui.wire.events import Event, Reverted, RevertPlan, RevertScope

app = new_app("Checkpoints: what a session can go back to, and what that takes on disk.")
SessionOption = Annotated[
    str | None, typer.Option("--session", "-S", metavar="ID", help="Not the last session of this folder.")
]
_SCOPES: tuple[RevertScope, ...] = ("both", "conversation", "files")


@app.command("list")
def list_checkpoints(session_id: SessionOption = None) -> None:
    """List the checkpoints of a session, the newest first."""
    asyncio.run(_list(session_id))


@app.command()
def diff(
    before: Annotated[int, typer.Argument(metavar="N", help="A checkpoint.")],
    after: Annotated[int, typer.Argument(metavar="M", help="Another one.")],
    session_id: SessionOption = None,
) -> None:
    """Show how the files differ between two checkpoints."""
    asyncio.run(_diff(session_id, before, after))


@app.command()
def revert(
    to: Annotated[int, typer.Argument(metavar="N", help="The checkpoint to go back to.")],
    session_id: SessionOption = None,
    scope: Annotated[str, typer.Option(metavar="|".join(_SCOPES), help="What goes back.")] = "both",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be done.")] = False,
    sure: Annotated[bool, typer.Option("-y", "--yes", help="Don't ask.")] = False,
) -> None:
    """Go back to just before a checkpoint. What you changed yourself is kept; /undo takes it back."""
    found = next((known for known in _SCOPES if known == scope), None)
    if found is None:
        raise UsageError(f"There is no scope “{scope}”.", hint=f"Say one of {', '.join(_SCOPES)}.")
    if not (dry_run or sure or sys.stdin.isatty()):
        raise UsageError("Reverting asks first, and standard input is no terminal.", hint="Add --yes.")
    asyncio.run(_revert(session_id, to, found, dry_run=dry_run, sure=sure))


@app.command()
def du() -> None:
    """Show what the files' states of this folder take on disk."""
    usage = ProjectStore(share_dir(), current_dir(), "").usage()
    say(f"contents   {usage.contents / MB:10.1f} MB")
    say(f"states     {usage.manifests / MB:10.1f} MB  ({usage.states} of them)")


@app.command()
def prune(
    days: Annotated[float, typer.Option(min=0, help="Forget states that are older.")] = DEFAULT_CAPS.age_days,
    size: Annotated[
        int, typer.Option(min=0, metavar="MB", help="Forget the oldest until the rest takes no more.")
    ] = DEFAULT_CAPS.project // MB,
) -> None:
    """Free disk space: forget old states of the files. Conversations and the files themselves stay."""
    store = ProjectStore(share_dir(), current_dir(), "")
    try:
        freed = store.prune(replace(DEFAULT_CAPS, age_days=days, project=size * MB))
    except OSError as error:
        raise SessionError(
            f"Old states can't be removed: {error.strerror or error}.", hint=f"Look at {store.folder}."
        ) from error
    say(f"Freed {freed / MB:.1f} MB.")


@dataclass(frozen=True, slots=True)
class _Opened:
    """A session that is opened for this."""

    context: Context
    files: SessionFiles
    travel: TimeTravel
    heard: list[Event]

    def checkpoint(self, number: int) -> Checkpoint:
        """A checkpoint of the live line. Raises UsageError."""
        for checkpoint in self.context.checkpoints:
            if checkpoint.id == number:
                return checkpoint
        raise UsageError(
            f"There is no checkpoint {number}.",
            hint="`kimi-tui checkpoints list` shows what there is.",
        )


@asynccontextmanager
async def _opened(session_id: str | None) -> AsyncIterator[_Opened]:
    session = _found(session_id)
    session.acquire()
    try:
        context = Context(session.context_file)
        await context.restore()
        heard: list[Event] = []
        workspace = Workspace(session.work_dir, tuple(map(Path, session.state.additional_dirs)))
        files = session_files(session, context, workspace, share_dir=share_dir(), send=heard.append)
        try:
            travel = TimeTravel(session=session, context=context, files=files, send=heard.append)
            yield _Opened(context, files, travel, heard)
        finally:
            await files.close()
            await context.close()
    finally:
        session.release()


def _found(session_id: str | None) -> Session:
    store = SessionStore(share_dir())
    if session_id is not None:
        return store.find(session_id)
    session = store.last(current_dir())
    if session is None:
        raise UsageError("There is no session in this folder.", hint="Name one with --session ID.")
    return session


async def _list(session_id: str | None) -> None:
    context = Context(_found(session_id).context_file)
    await context.restore()
    for checkpoint in reversed(context.checkpoints):
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(checkpoint.time))
        files = "" if is_manifest(checkpoint.files) else "  (conversation only)"
        say(f"{checkpoint.id:>5}  {when}  {checkpoint.kind:10}  {checkpoint.label}{files}")
    if not context.checkpoints:
        typer.echo("There are no checkpoints yet.", err=True)


async def _diff(session_id: str | None, before: int, after: int) -> None:
    async with _opened(session_id) as opened:
        states = [opened.checkpoint(number).files for number in (before, after)]
        for number, state in zip((before, after), states, strict=True):
            if not is_manifest(state):
                raise KimiTuiError(
                    f"The files' state at checkpoint {number} is not known.",
                    hint="Choose another one.",
                )
        items = await opened.files.use(_difference, states[0] or "", states[1] or "")
        for item in items:
            say(f"{_SIGNS[item.action]} {showable(item.path)}  +{item.added} −{item.removed}")
        if not items:
            say("The files are the same.")


_SIGNS = {"delete": "D", "recreate": "A", "restore": "M"}


def _difference(history: FileHistory, before: str, after: str) -> list[PlanItem]:
    return history.difference(before, after)


async def _revert(session_id: str | None, to: int, scope: RevertScope, *, dry_run: bool, sure: bool) -> None:
    async with _opened(session_id) as opened:
        await opened.travel.show_plan(to)
        for event in opened.heard:
            if isinstance(event, RevertPlan):
                _show(event)
        if dry_run or not (sure or yes(f"Go back to checkpoint {to}")):
            return
        await opened.travel.revert(to, scope, None)
        for event in opened.heard:
            if isinstance(event, Reverted):
                say(f"Went back to checkpoint {event.to}; {len(event.files)} file(s) changed.")


def _show(plan: RevertPlan) -> None:
    for file in plan.files:
        note = f"  ({file.note})" if file.note else ""
        say(f"{file.action:12} {file.path}  +{file.added} −{file.removed}{note}")
    if plan.note or not plan.files:
        say(plan.note or "No file would change.")
    for command in plan.commands:
        say(f"can't be taken back elsewhere: $ {command}")
