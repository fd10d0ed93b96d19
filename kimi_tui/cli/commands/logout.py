"""`kimi-tui logout`: stored keys are removed."""

from typing import Annotated

import typer

from kimi_tui.base.errors import UsageError
from kimi_tui.cli.commands.subcommands import say
from kimi_tui.cli.places import usable_share_dir
from kimi_tui.config.credentials import Credentials

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def logout(
    provider: Annotated[
        str | None, typer.Argument(metavar="PROVIDER", help="Whose key; without it, the only one or --all.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Remove the keys of all providers.")] = False,
) -> None:
    """Remove a stored key."""
    credentials = Credentials(usable_share_dir())
    stored = list(credentials.read())
    if not stored:
        say("No key is stored.")
        return
    if everything:
        chosen = stored
    elif provider is None and len(stored) > 1:
        raise UsageError(
            "Keys of several providers are stored.", hint=f"Name {' or '.join(stored)}, or --all."
        )
    else:
        chosen = [provider or stored[0]]
    if unknown := [name for name in chosen if name not in stored]:
        hint = f"There is one for {' and '.join(stored)}."
        raise UsageError(f"No key is stored for “{unknown[0]}”.", hint=hint)
    for name in chosen:
        credentials.forget(name)
        say(f"The key for {name} is removed.")
