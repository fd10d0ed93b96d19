"""`kimi-tui import`: config, MCP servers, input history, sessions and skills of Kimi CLI."""

from pathlib import Path
from typing import Annotated

import typer

from kimi_tui.base.errors import UsageError
from kimi_tui.cli.commands.subcommands import say
from kimi_tui.cli.kimi_cli.bringing import Account, bring_over
from kimi_tui.cli.kimi_cli.share import share_at, usual_share
from kimi_tui.cli.places import usable_share_dir

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def import_(
    path: Annotated[
        Path | None, typer.Argument(metavar="PATH", help="Its share folder; else ~/.kimi.")
    ] = None,
) -> int:
    """Bring config, MCP servers, input history, sessions and skills over from Kimi CLI.

    Everything is copied, skills are used where they are; nothing there changes, and nothing that is here
    already is replaced. Tokens stay there: it is told what to sign in to anew.
    """
    share = share_at(path) if path is not None else usual_share()
    if share is None:
        raise UsageError(
            "There is no share folder of Kimi CLI at ~/.kimi.", hint="Name it: kimi-tui import PATH."
        )
    account = bring_over(share, usable_share_dir())
    tell(account)
    return 1 if account.problems else 0


def tell(account: Account) -> None:
    """Say what came over and what did not."""
    for line in account.brought:
        say(f"+ {line}")
    if not account.brought and not account.problems:
        say("There is nothing new to bring over.")
    for line in (*account.notes, *account.to_do):
        say(line)
    for line in account.problems:
        say(f"Not brought over, or not right. {line}")
