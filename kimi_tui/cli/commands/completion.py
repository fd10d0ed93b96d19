"""`kimi-tui completion`: prints completion scripts for shells."""

from typing import Annotated

import typer

from kimi_tui.cli.option_catalog import options, subcommands
from kimi_tui.cli.shell_completion import Shell, completion_script

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def completion(shell: Annotated[Shell, typer.Argument(help="Name of your shell.")]) -> None:
    """Print the completion script for a shell.

    bash: kimi-tui completion bash >> ~/.bashrc
    """
    typer.echo(completion_script(shell, tuple(options()), tuple(subcommands())), nl=False)
