"""`kimi-tui completion`: the script that makes a shell complete options and subcommands."""

from typing import Annotated

import typer

from kimi_tui.cli.completion_scripts import Shell, completion_script
from kimi_tui.cli.vocabulary import options, subcommands

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def completion(shell: Annotated[Shell, typer.Argument(help="The shell that you use.")]) -> None:
    """Print the script that makes your shell complete what can be typed after kimi-tui.

    bash: kimi-tui completion bash >> ~/.bashrc
    """
    typer.echo(completion_script(shell, tuple(options()), tuple(subcommands())), nl=False)
