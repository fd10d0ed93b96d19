"""`kimi-tui info`: which version runs where, with which files and which model."""

import json
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated, Any

import typer

from kimi_tui import __version__
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.logging import log_path
from kimi_tui.base.paths import share_dir
from kimi_tui.cli.commands.subcommands import say
from kimi_tui.cli.places import current_dir
from kimi_tui.config.loading import read_config, settings_of, user_config_path
from kimi_tui.config.resolved_model import resolve_model

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
_PACKAGES = ("textual", "openai", "anthropic", "pydantic")


@app.command()
def info(
    as_json: Annotated[bool, typer.Option("--json", help="As one JSON object.")] = False,
) -> None:
    """What runs here: the version, the files that count, the model. For bug reports."""
    facts = _facts()
    if as_json:
        typer.echo(json.dumps(facts, ensure_ascii=False, indent=2))
        return
    for name, value in facts.items():
        shown = (
            ", ".join(f"{key} {item}" for key, item in value.items()) if isinstance(value, dict) else value
        )
        say(f"{name.replace('_', ' '):12} {shown}")


def _facts() -> dict[str, Any]:
    config = user_config_path(share_dir())
    return {
        "version": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "executable": sys.executable,
        "packages": {name: _version(name) for name in _PACKAGES},
        "share_dir": str(share_dir()),
        "config": f"{config}{'' if config.exists() else ' (not there)'}",
        "log": str(log_path(share_dir())),
        "model": _model(),
    }


def _model() -> str:
    try:
        model = resolve_model(settings_of(read_config(share_dir=share_dir(), work_dir=current_dir())))
    except KimiTuiError as error:
        return f"none: {error}"
    return f"{model.name} ({model.model}, {model.type})"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
