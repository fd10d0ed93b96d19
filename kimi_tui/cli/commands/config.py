"""`kimi-tui config`: shows, checks and changes settings."""

import os
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from kimi_tui.base.errors import ConfigError, KimiTuiError, ModelNotSet, UsageError
from kimi_tui.base.message_text import msg
from kimi_tui.base.paths import data_dir
from kimi_tui.cli.commands.runner import new_app, print_line
from kimi_tui.cli.config_lint import unknown_references, wide_rules
from kimi_tui.cli.run_paths import current_dir, ensure_data_dir
from kimi_tui.config.config_source import source_from_file
from kimi_tui.config.effective_settings import effective_settings
from kimi_tui.config.loader import read_config, user_config_path
from kimi_tui.config.raw_config import RawConfig
from kimi_tui.config.resolved_model import resolve_model
from kimi_tui.config.set_value import set_setting
from kimi_tui.config.template import write_template
from kimi_tui.config.validation import THEME_KEY, validate_settings
from kimi_tui.config.validation_errors import ConfigProblem
from kimi_tui.i18n.translate import join_sentences, translate_error, translate_message

app = new_app("Show, check and change settings.")


@app.command()
def path() -> None:
    """Show the path of your config file."""
    typer.echo(str(user_config_path(data_dir())))


@app.command("list")
def list_(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="WORD", help="Show only settings with these words in their keys."),
    ] = None,
) -> None:
    """List the settings with their values and sources."""
    config = read_config(data_dir=data_dir(), work_dir=current_dir())
    for view in effective_settings(config, data_dir=data_dir(), work_dir=current_dir()):
        if all(word in view.key for word in words or ()):
            shown = "(hidden)" if view.kind == "secret" and view.value else view.value or '""'
            print_line(f"{view.key} = {shown}" + (f"   # {view.place}" if view.place else ""))


@app.command("set")
def set_(
    key: Annotated[
        str, typer.Argument(metavar="KEY", help="Setting key, such as ui.mouse. `config list` lists them.")
    ],
    value: Annotated[
        str, typer.Argument(metavar="VALUE", help='New value. Write lists as TOML: ["a", "b"].')
    ],
) -> None:
    """Write a setting to your config file, keeping comments."""
    _apply_change(key, value)


@app.command()
def unset(key: Annotated[str, typer.Argument(metavar="KEY", help="Setting key, such as ui.mouse.")]) -> None:
    """Remove a setting from your config file."""
    _apply_change(key, None)


def _apply_change(key: str, value: str | None) -> None:
    directory = ensure_data_dir()
    config = read_config(data_dir=directory, work_dir=current_dir())
    override = set_setting(key, value, config=config, data_dir=directory)
    print_line(f"Changed {user_config_path(directory)}.")
    if override:
        print_line(msg("{setting} overrides the new value here.", setting=override))


@app.command()
def check(
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="Check this file instead of the active config.")
    ] = None,
) -> int:
    """List all problems in the settings."""
    config = read_config(data_dir=data_dir(), work_dir=current_dir(), config_file=file)
    for source in config.sources:
        if source.path is not None:
            print_line(f"Read {source.name}.")
    if config.untrusted_source is not None:
        print_line(msg("Ignored {file}: the file isn't trusted.", file=config.untrusted_source.name))
    if config.dropped_keys:
        print_line(msg("Ignored, used by kimi-cli only: {keys}.", keys=", ".join(config.dropped_keys)))
    problems = [
        *([translate_error(config.project_error)] if config.project_error is not None else ()),
        *_problems(config),
    ]
    for problem in problems:
        print_line(problem)
    for notice in wide_rules(config):
        print_line(notice)
    if not problems:
        print_line("No problems found.")
    return 1 if problems else 0


@app.command()
def edit() -> int:
    """Open your config file in `default_editor`, $VISUAL or $EDITOR, then check it."""
    command = _default_editor() or os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not command and not sys.stdin.isatty():
        raise UsageError(
            "Can't open an editor: EDITOR isn't set, and standard input isn't a terminal.",
            hint="Use `kimi-tui config set`, or edit the file that `kimi-tui config path` shows.",
        )
    command = command or "vi"
    file = user_config_path(ensure_data_dir())
    if not file.exists():
        write_template(file)
    try:
        code = subprocess.run([*shlex.split(command), str(file)], check=False).returncode
    except (OSError, ValueError) as error:
        raise KimiTuiError(
            msg(
                "Can't start the editor “{command}”: {reason}.",
                command=command,
                reason=getattr(error, "strerror", None) or error,
            ),
            hint="Set EDITOR to an installed editor, such as nano.",
        ) from error
    return code or check()


def _default_editor() -> str | None:
    """Return the setting; None if it's unset or the file can't be read, which is why it may be edited."""
    try:
        editor = source_from_file(user_config_path(data_dir())).data.get("default_editor")
    except ConfigError:
        return None
    return editor if isinstance(editor, str) else None


def _problems(config: RawConfig) -> list[str]:
    lenient = validate_settings(replace(config, is_lenient=True))
    try:
        settings = validate_settings(config).settings
    except ConfigError:
        return [_describe(problem) for problem in lenient.skipped]
    problems = [_describe(problem) for problem in lenient.skipped if problem.key == THEME_KEY]
    for problem in lenient.skipped:
        if problem.key != THEME_KEY:
            print_line(msg("Skipped: {problem}", problem=problem.what))
    problems += unknown_references(config, settings)
    try:
        resolve_model(settings)
    except ModelNotSet as error:
        print_line(msg("Note: {problem}", problem=error))
    except KimiTuiError as error:
        problems.append(translate_error(error))
    return problems


def _describe(problem: ConfigProblem) -> str:
    return join_sentences(translate_message(problem.what), translate_message(problem.hint))
