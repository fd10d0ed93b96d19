"""MCP servers of a project, as they are shown before the user trusts them."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from kimi_tui.base.errors import ConfigError
from kimi_tui.config.config_source import ConfigSource, Syntax, read_config_text, source_from_text
from kimi_tui.config.project_config import project_file
from kimi_tui.config.vscode_servers import convert_vscode_servers

SERVERS_KEY = "mcpServers"
_VSCODE_FILE = ".vscode/mcp.json"
_FILE = ".mcp.json"


def project_mcp_paths(work_dir: Path, data_dir: Path) -> tuple[Path, ...]:
    """Return `.vscode/mcp.json` and `.mcp.json` of the working directory or its repository, if they exist.

    Servers in a later one override those of the same name.
    """
    found = (project_file(work_dir, data_dir, name) for name in (_VSCODE_FILE, _FILE))
    return tuple(path for path in found if path is not None)


def read_mcp_source(path: Path) -> ConfigSource:
    """Return the MCP config in a file: YAML or JSON, by its suffix. Raises ConfigError.

    Servers in VS Code's file of a project are converted. `text` is always that of the file.
    """
    is_vscode = path.parts[-2:] == tuple(_VSCODE_FILE.split("/"))
    syntax: Syntax = "yaml" if path.suffix.lower() in (".yaml", ".yml") else "jsonc" if is_vscode else "json"
    source = source_from_text(read_config_text(path), name=str(path), syntax=syntax, path=path)
    if not is_vscode:
        return source
    return replace(source, data={SERVERS_KEY: convert_vscode_servers(source.data, folder=path.parents[1])})


def has_servers(path: Path) -> bool:
    """Return whether the file names servers. False for an unreadable file: the session reports it later."""
    try:
        return bool(read_mcp_source(path).data.get(SERVERS_KEY))
    except ConfigError:
        return False


def summarize_servers(source: ConfigSource) -> Iterator[str]:
    """Yield one line per server for the trust prompt. Nothing is validated yet."""
    servers = source.data.get(SERVERS_KEY)
    for name, entry in servers.items() if isinstance(servers, dict) else ():
        yield f"{name}: {_format_target(entry)}"


def _format_target(entry: Any) -> str:
    if not isinstance(entry, dict):
        return "no command or URL"
    args = entry.get("args")
    words = [entry.get("command") or entry.get("url"), *(args if isinstance(args, list) else ())]
    target = " ".join(str(word) for word in words if word)
    return f"{target}{_format_environment(entry)}" if target else "no command or URL"


def _format_environment(entry: dict[str, Any]) -> str:
    """Return the remaining keys that affect the server, including the environment it gets."""
    parts = [f"{key} {entry[key]}" for key in ("cwd", "auth") if isinstance(entry.get(key), str)]
    for key in ("env", "headers"):
        table = entry.get(key)
        if isinstance(table, dict) and table:
            parts.append(f"{key} " + ", ".join(f"{name}={value}" for name, value in table.items()))
    return f" (with {'; '.join(parts)})" if parts else ""
