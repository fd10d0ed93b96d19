"""Command /fleet: shows a fleet and opens its tasks."""

import asyncio
from pathlib import Path

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.i18n.translate import tr, translate_error
from kimi_tui.tui.commands.command_host import CommandHost
from kimi_tui.tui.commands.ui_command import UiCommand
from kimi_tui.tui.widgets.choice_list import Choice


async def _fleet(host: CommandHost, argument: str) -> None:
    from kimi_tui.frontend.fleet.progress import read_progress  # imports sqlite3

    database = await _find_database(host, argument)
    if database is None:
        return
    try:
        await asyncio.to_thread(read_progress, database)
    except KimiTuiError as error:
        host.notify(translate_error(error), severity="error")
        return
    request = await host.dialogs.choose_fleet_task(database)
    if request is None:
        return
    if host.state.turn is not None:
        host.notify(tr("A turn is running. Interrupt it first."), severity="warning")
    else:
        host.open_session(request)


async def _find_database(host: CommandHost, argument: str) -> Path | None:
    """Return the database that `argument` names. By default, the last database opened or written."""
    from kimi_tui.frontend.fleet.progress import database_of, find_fleets  # imports sqlite3

    session = host.state.session
    work_dir = Path(session.work_dir) if session is not None else Path.cwd()
    if argument:
        return database_of(work_dir / Path(argument).expanduser())
    if host.fleet_visit is not None:
        return host.fleet_visit.database
    fleets = await asyncio.to_thread(find_fleets, work_dir)
    if not fleets:
        host.notify(tr("No fleets in this directory. Start one with: kimi-tui fleet run TASKS"))
        return None
    if len(fleets) == 1:
        return fleets[0]
    chosen = await host.choose(tr("Fleets"), [Choice(value=str(path), label=path.name) for path in fleets])
    return Path(chosen) if chosen is not None else None


FLEET_COMMANDS = (
    UiCommand(
        name="fleet", summary="Watch a fleet and open its tasks as sessions", run=_fleet, argument="[RUN]"
    ),
)
