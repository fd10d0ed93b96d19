"""`kimi-tui info`: which version runs where, with which files and which model."""

import json
import os
import platform
import shutil
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
from kimi_tui.config.settings import Provider
from kimi_tui.history.session import SessionStore

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
_PACKAGES = ("textual", "openai", "anthropic", "pydantic", "mcp", "fastmcp", "agent-client-protocol")
_VARIABLES = (
    "KIMI_API_KEY",
    "KIMI_BASE_URL",
    "KIMI_MODEL_NAME",
    "KIMI_MODEL_MAX_CONTEXT_SIZE",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_BASE_URL",
    "KIMI_SHARE_DIR",
    "KIMI_DEBUG",
    "NO_COLOR",
    "TERM",
    "TERM_PROGRAM",
    "COLORTERM",
    "LANG",
    "SSH_CONNECTION",
    "TMUX",
    "WSL_DISTRO_NAME",
)
_ONLY_WHETHER = ("_API_KEY", "_BASE_URL", "SSH_CONNECTION")
"""Of variables that end so it is told that they are set, and no more: an address may hold a password."""


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
    model, settings = _configured()
    return {
        "version": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "executable": sys.executable,
        "packages": {name: _version(name) for name in _PACKAGES},
        "share_dir": str(share_dir()),
        "config": f"{config}{'' if config.exists() else ' (not there)'}",
        "log": str(log_path(share_dir())),
        "model": model,
        **settings,
        "sessions": str(len(SessionStore(share_dir()).list())),
        "terminal": _terminal(),
        "programs": {name: shutil.which(name) or "not found" for name in ("git", "bash")},
        "environment": {name: _told(name) for name in _VARIABLES if os.environ.get(name)},
    }


def _configured() -> tuple[str, dict[str, str]]:
    """The model, and what else the settings say; of keys whether they are there, and no more."""
    try:
        config = read_config(share_dir=share_dir(), work_dir=current_dir())
        settings = settings_of(config)
    except KimiTuiError as error:
        return f"none: {error}", {}
    read = [source.name for source in config.sources if source.path is not None]
    told = {
        "config_files": ", ".join(read) or "none",
        "providers": ", ".join(_provider(name, one) for name, one in settings.providers.items()) or "none",
        "hooks": str(len(settings.hooks)),
        "file_states": "kept" if settings.checkpoints.files else "not kept",
    }
    try:
        model = resolve_model(settings)
    except KimiTuiError as error:
        return f"none: {error}", told
    return f"{model.name} ({model.model}, {model.type})", told


def _provider(name: str, provider: Provider) -> str:
    return f"{name} ({provider.type}, {'with' if provider.api_key.get_secret_value() else 'without'} a key)"


def _terminal() -> str:
    if not sys.stdout.isatty():
        return "none: the output is not shown on one"
    columns, lines = shutil.get_terminal_size()
    return f"{columns}x{lines}"


def _told(name: str) -> str:
    return "set" if name.endswith(_ONLY_WHETHER) else os.environ[name]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
