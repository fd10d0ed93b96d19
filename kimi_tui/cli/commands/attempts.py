"""`kimi-tui attempts`: lists, shows, adopts and discards the attempts of a stored session."""

import asyncio
import json
from typing import Annotated

import typer

from kimi_tui.base.json_codec import to_jsonable
from kimi_tui.base.message_text import msg
from kimi_tui.cli.commands.checkpoints import (
    ChooseOption,
    DryRunOption,
    HunksOption,
    OnlyOption,
    SessionOption,
    YesOption,
    run_revert,
    to_paths,
)
from kimi_tui.cli.commands.runner import new_app, print_line
from kimi_tui.cli.commands.session_access import find_session, open_session_for_command
from kimi_tui.engine.attempts.attempt_store import AttemptStore, mark_adopted, missing_attempt
from kimi_tui.frontend.text.attempts import attempts_text, whole_attempt_text
from kimi_tui.wire.attempts import AdoptAttempts, AttemptChanges, AttemptList, PlanAdoption
from kimi_tui.wire.file_choice_options import parse_file_choices

app = new_app("List, show, adopt and discard the attempts of a session.")
NumbersArgument = Annotated[list[int], typer.Argument(metavar="N...", help="Numbers of attempts.")]


@app.command("list")
def list_attempts(
    session_id: SessionOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object per line.")] = False,
) -> None:
    """List the attempts of a session."""
    session = find_session(session_id)
    stored = AttemptStore(session.dir).read_all()
    attempts = mark_adopted((each.attempt for each in stored.values()), session.state)
    if as_json:
        for attempt in attempts:
            typer.echo(json.dumps(to_jsonable(attempt), ensure_ascii=False))
        return
    headline, lines = attempts_text(AttemptList(attempts))
    if attempts:
        typer.echo(lines)
    else:
        typer.echo(headline, err=True)


@app.command()
def show(
    number: Annotated[int, typer.Argument(metavar="N", help="Number of the attempt.")],
    session_id: SessionOption = None,
) -> None:
    """Show the last message, the check and the diff of an attempt."""
    changes = asyncio.run(_read_changes(session_id, number))
    session = f" --session {session_id}" if session_id is not None else ""
    for text in whole_attempt_text(changes, f"kimi-tui attempts adopt{session}"):
        typer.echo(text)


@app.command()
def adopt(
    numbers: NumbersArgument,
    session_id: SessionOption = None,
    only: OnlyOption = None,
    choose: ChooseOption = None,
    hunks: HunksOption = None,
    dry_run: DryRunOption = False,
    assume_yes: YesOption = False,
) -> None:
    """Apply the changes of attempts, keeping your own changes."""
    selected = tuple(dict.fromkeys(numbers))
    run_revert(
        session_id,
        PlanAdoption(selected),
        AdoptAttempts(selected, to_paths(only), parse_file_choices(choose or (), hunks or ())),
        msg("Adopt attempt {numbers}", numbers=", ".join(map(str, selected))),
        dry_run=dry_run,
        assume_yes=assume_yes,
    )


@app.command()
def discard(numbers: NumbersArgument, session_id: SessionOption = None) -> None:
    """Remove attempts."""
    asyncio.run(_discard(session_id, numbers))


async def _read_changes(session_id: str | None, number: int) -> AttemptChanges:
    async with open_session_for_command(find_session(session_id)) as access:
        return await access.read_attempt(number)


async def _discard(session_id: str | None, numbers: list[int]) -> None:
    session = find_session(session_id)
    async with open_session_for_command(session):  # other processes must not use it
        store = AttemptStore(session.dir)
        stored = store.read_all()
        for number in numbers:
            if number not in stored:
                raise missing_attempt(number)
        store.remove(numbers)
        await session.forget_attempts(numbers)
    print_line(msg("Removed attempt {numbers}.", numbers=", ".join(map(str, numbers))))
