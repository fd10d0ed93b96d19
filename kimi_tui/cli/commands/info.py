"""`kimi-tui info`: version, platform, files, model and environment for bug reports."""

import asyncio
import json
import os
import platform
import shutil
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated, Any

import typer

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.logging import log_path
from kimi_tui.base.paths import data_dir
from kimi_tui.cli.commands.runner import print_line
from kimi_tui.cli.run_paths import current_dir
from kimi_tui.config.loader import read_config, settings_of, user_config_path
from kimi_tui.config.resolved_model import resolve_model
from kimi_tui.config.settings import ProviderConfig, Settings
from kimi_tui.history.session import SessionStore
from kimi_tui.version import __version__

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
_PRESENCE_ONLY = ("_API_KEY", "_BASE_URL", "SSH_CONNECTION")
"""Endings of variables that may contain secrets; only their presence is reported."""


@app.command()
def info(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show version, config files, model and environment for bug reports."""
    facts = collect_info()
    if as_json:
        typer.echo(json.dumps(facts, ensure_ascii=False, indent=2))
        return
    for name, value in facts.items():
        shown = (
            ", ".join(f"{key} {item}" for key, item in value.items()) if isinstance(value, dict) else value
        )
        print_line(f"{name.replace('_', ' '):12} {shown}")


def collect_info() -> dict[str, Any]:
    """Return facts about the program, its files, the model and the environment, without secrets."""
    config = user_config_path(data_dir())
    model, settings = _configured_model()
    return {
        "version": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "executable": sys.executable,
        "packages": {name: _version(name) for name in _PACKAGES},
        "share_dir": str(data_dir()),
        "config": f"{config}{'' if config.exists() else ' (missing)'}",
        "log": str(log_path(data_dir())),
        "model": model,
        **settings,
        "sessions": str(len(SessionStore(data_dir()).list())),
        "terminal": _terminal(),
        "programs": {name: shutil.which(name) or "not found" for name in ("git", "bash")},
        "environment": {name: _variable_text(name) for name in _VARIABLES if os.environ.get(name)},
    }


def _configured_model() -> tuple[str, dict[str, str]]:
    """Return the model and other facts from the settings. API keys are reported only as present or not."""
    try:
        config = read_config(data_dir=data_dir(), work_dir=current_dir())
        settings = settings_of(config)
    except KimiTuiError as error:
        return f"none: {error}", {}
    read = [source.name for source in config.sources if source.path is not None]
    summary = {
        "config_files": ", ".join(read) or "none",
        "providers": ", ".join(_provider(name, one) for name, one in settings.providers.items()) or "none",
        "hooks": str(len(settings.hooks)),
        "file_states": "kept" if settings.checkpoints.files else "not kept",
    }
    status = asyncio.run(_workspace_status(settings))
    summary["workspaces"] = status
    try:
        model = resolve_model(settings)
    except KimiTuiError as error:
        return f"none: {error}", summary
    return f"{model.name} ({model.model}, {model.type})", summary


async def _workspace_status(settings: Settings) -> str:
    """Return how the agent's commands run in the current directory."""
    from kimi_tui.workspaces.workspaces import Workspaces

    if settings.sandbox.enabled:
        return "none (commands run in the sandbox)"
    workspaces = Workspaces(data_dir(), choice=settings.workspaces.backend)
    try:
        status = await workspaces.status(current_dir())
    finally:
        await workspaces.close()
    if status.problem:
        return f"none ({status.problem})"
    return f"{status.backend} ({'as root' if status.needs_privileges else 'in a user namespace'})"


def _provider(name: str, provider: ProviderConfig) -> str:
    return f"{name} ({provider.type}, {'with' if provider.api_key.get_secret_value() else 'without'} a key)"


def _terminal() -> str:
    if not sys.stdout.isatty():
        return "none (output isn't a terminal)"
    columns, lines = shutil.get_terminal_size()
    return f"{columns}x{lines}"


def _variable_text(name: str) -> str:
    return "set" if name.endswith(_PRESENCE_ONLY) else os.environ[name]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
