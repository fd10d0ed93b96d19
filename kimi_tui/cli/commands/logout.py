"""`kimi-tui logout`: removes stored API keys."""

from typing import Annotated

import typer

from kimi_tui.base.errors import UsageError
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
    stored = list(credentials.read())
    if not stored:
        print_line("No API keys stored.")
        return
    if everything:
        chosen = stored
    elif provider is None and len(stored) > 1:
        raise UsageError(
            "API keys of several providers are stored.",
            hint=msg("Use {names} or --all.", names=", ".join(stored)),
        )
    else:
        chosen = [provider or stored[0]]
    if unknown := [name for name in chosen if name not in stored]:
        hint = msg("Stored: {names}.", names=", ".join(stored))
        raise UsageError(msg("No API key stored for “{name}”.", name=unknown[0]), hint=hint)
    for name in chosen:
        credentials.delete(name)
        print_line(msg("API key for {name} removed.", name=name))
