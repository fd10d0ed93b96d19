"""`kimi-tui config`: where the settings are, what they are, whether they are right, and changing them."""

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError

from kimi_tui.base.errors import ConfigError, KimiTuiError, ModelNotSet, UsageError
from kimi_tui.base.paths import share_dir
from kimi_tui.base.private_file import replace_private_file
from kimi_tui.cli.commands.subcommands import new_app, say
from kimi_tui.cli.config_check import meaningless
from kimi_tui.cli.places import current_dir, usable_share_dir
from kimi_tui.config.changing import change_setting
from kimi_tui.config.loading import RawConfig, read_config, user_config_path
from kimi_tui.config.overview import overview
from kimi_tui.config.problems import problems_in
from kimi_tui.config.resolved_model import resolve_model
from kimi_tui.config.settings import Settings
from kimi_tui.config.template import TEMPLATE
from kimi_tui.language.errors import told
from kimi_tui.language.saying import joined, retell

app = new_app("The settings: where they are, whether they are right.")


@app.command()
def path() -> None:
    """Say which config file is yours."""
    typer.echo(str(user_config_path(share_dir())))


@app.command("list")
def list_(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="WORD", help="Only those that have these in their name."),
    ] = None,
) -> None:
    """List the settings: what each is now, and where that comes from."""
    config = read_config(share_dir=share_dir(), work_dir=current_dir())
    for view in overview(config, share_dir=share_dir(), work_dir=current_dir()):
        if all(word in view.key for word in words or ()):
            shown = "(not shown)" if view.kind == "secret" and view.value else view.value or '""'
            say(f"{view.key} = {shown}" + (f"   # {view.place}" if view.place else ""))


@app.command("set")
def set_(
    key: Annotated[str, typer.Argument(metavar="KEY", help="Such as ui.mouse; `config list` has them all.")],
    value: Annotated[str, typer.Argument(metavar="VALUE", help='A list as TOML: ["a", "b"].')],
) -> None:
    """Write a setting into your config file, whose comments stay."""
    _change(key, value)


@app.command()
def unset(key: Annotated[str, typer.Argument(metavar="KEY", help="Such as ui.mouse.")]) -> None:
    """Take a setting out of your config file, so that its default counts."""
    _change(key, None)


def _change(key: str, value: str | None) -> None:
    share = usable_share_dir()
    config = read_config(share_dir=share, work_dir=current_dir())
    stronger = change_setting(key, value, config=config, share_dir=share)
    say(f"Changed {user_config_path(share)}.")
    if stronger:
        say(f"{stronger} goes before it here.")


@app.command()
def check(
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="A file to check instead of those that count here.")
    ] = None,
) -> int:
    """Say everything that is wrong with the settings, and which files they come from."""
    config = read_config(share_dir=share_dir(), work_dir=current_dir(), config_file=file)
    for source in config.sources:
        if source.path is not None:
            say(f"Read {source.name}.")
    if config.untrusted is not None:
        say(f"Left out {config.untrusted.name}, since you haven't said that you trust it.")
    if config.left_out:
        say(f"Passed over, as they mean something to kimi-cli only: {', '.join(config.left_out)}.")
    problems = [*([told(config.fault)] if config.fault is not None else ()), *_problems(config)]
    for problem in problems:
        say(problem)
    if not problems:
        say("The settings are right.")
    return 1 if problems else 0


@app.command()
def edit() -> int:
    """Open your config file in $VISUAL or $EDITOR, then check it."""
    command = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not command and not sys.stdin.isatty():
        raise UsageError(
            "No editor can be opened: EDITOR is not set, and standard input is no terminal.",
            hint="Use `kimi-tui config set`, or edit the file that `kimi-tui config path` names.",
        )
    command = command or "vi"
    file = user_config_path(usable_share_dir())
    if not file.exists():
        _write_template(file)
    try:
        code = subprocess.run([*shlex.split(command), str(file)], check=False).returncode
    except (OSError, ValueError) as error:
        raise KimiTuiError(
            f"The editor “{command}” can't be started: {getattr(error, 'strerror', None) or error}.",
            hint="Set EDITOR to one that is there, such as nano.",
        ) from error
    return code or check()


def _write_template(file: Path) -> None:
    try:
        replace_private_file(file, TEMPLATE)
    except OSError as error:
        raise ConfigError(
            f"{file} can't be written: {error.strerror or error}.", hint="Check its folder's permissions."
        ) from error


def _problems(config: RawConfig) -> list[str]:
    try:
        settings = Settings.model_validate(config.data)
    except ValidationError as error:
        return [joined(retell(it.what), retell(it.hint)) for it in problems_in(error, config.sources)]
    problems = list(meaningless(config, settings))
    try:
        resolve_model(settings)
    except ModelNotSet as error:
        say(f"Note: {told(error)}")
    except KimiTuiError as error:
        problems.append(told(error))
    return problems
