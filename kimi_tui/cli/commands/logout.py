"""`kimi-tui logout`: removes stored API keys."""

from typing import Annotated

import typer

from kimi_tui.base.message_text import msg
from kimi_tui.cli.commands.runner import print_line
from kimi_tui.cli.run_paths import ensure_data_dir
from kimi_tui.config.credentials import Credentials

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def logout(
    provider: Annotated[
        str | None,
        typer.Argument(metavar="PROVIDER", help="Provider of the key. Default: the only one stored."),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Remove the keys of all providers.")] = False,
) -> None:
    """Remove a stored API key."""
    credentials = Credentials(ensure_data_dir())
    chosen = tuple(credentials.read()) if everything else credentials.choose_stored(provider)
    if not chosen:
        print_line("No API keys stored.")
    for name in chosen:
        credentials.delete(name)
        print_line(msg("API key for {name} removed.", name=name))
