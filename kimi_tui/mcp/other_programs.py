"""MCP servers in the user's config files of Claude and VS Code, for copying them to `mcp.json`.

Project files (`.mcp.json`, `.vscode/mcp.json`) aren't copied: kimi-tui reads them if the user trusts them.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from kimi_tui.base.errors import ConfigError
from kimi_tui.base.frozen import frozen
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.config.config_source import read_config_text, source_from_text
from kimi_tui.config.project_config import dirs_up_to_repository
from kimi_tui.config.project_mcp import SERVERS_KEY
from kimi_tui.config.vscode_servers import convert_vscode_servers, describe_inputs

_MAX_FILE_SIZE = 50_000_000
"""Maximum size in bytes. Claude Code's file is large, because it contains more than settings."""
_CONFIG_FOLDERS = (".config", "Library/Application Support")
_VSCODE_NAMES = ("Code", "Code - Insiders", "VSCodium")
_KEYS = ("type", "command", "args", "env", "cwd", "url", "headers", "envFile")
"""Keys to copy."""
_VARIABLE = re.compile(r"\$\{(\w+)\}")


@frozen
class FoundServer:
    """A server in a config file of another program."""

    name: str
    program: str
    """Name of the program, such as `VS Code`."""
    path: Path
    entry: dict[str, Any]
    """The server's entry in the format of `mcp.json`."""
    inputs: tuple[str, ...] = ()
    """Environment variables that replace the program's prompts for input, each with a description."""

    @property
    def target(self) -> str:
        """The command line or URL."""
        return entry_target(self.entry)


@frozen
class FoundServers:
    """The servers of other programs, and the problems with unreadable files."""

    servers: tuple[FoundServer, ...] = ()
    problems: tuple[str, ...] = ()


@frozen
class ServerCopy:
    """A server to copy to `mcp.json`."""

    name: str
    """Unique name of the server in `mcp.json`."""
    server: FoundServer


def find_other_servers(
    *, home: Path, work_dir: Path, environ: Mapping[str, str] = os.environ
) -> FoundServers:
    """Return the servers that the user configured for Claude and VS Code, without duplicates."""
    servers: dict[tuple[str, str], FoundServer] = {}
    problems: list[str] = []
    for program, path in _config_files(home, environ):
        try:
            for server in _read_servers(program, path, work_dir):
                servers.setdefault((server.name, server.target), server)
        except ConfigError as error:
            problems.append(str(error))
    return FoundServers(tuple(servers.values()), tuple(problems))


def plan_copies(found: Iterable[FoundServer], own: Mapping[str, Any]) -> tuple[ServerCopy, ...]:
    """Return the servers that aren't in `own`, the entries of `mcp.json`.

    If a name is already used, the program's name is added as a suffix.
    """
    targets = {entry_target(entry) for entry in own.values()}
    names = set(own)
    copies: list[ServerCopy] = []
    for server in found:
        if not server.target or server.target in targets:
            continue
        name = _free_name(server, names)
        names.add(name)
        targets.add(server.target)
        copies.append(ServerCopy(name, server))
    return tuple(copies)


def entry_target(entry: Any) -> str:
    """Return the command line or URL of an entry; empty if the entry has neither."""
    if not isinstance(entry, dict):
        return ""
    args = entry.get("args")
    words = [entry.get("command") or entry.get("url"), *(args if isinstance(args, list) else ())]
    return " ".join(str(word) for word in words if word)


def _config_files(home: Path, environ: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    """Yield the existing config files with the names of their programs."""
    xdg = environ.get("XDG_CONFIG_HOME")
    folders = [home / name for name in _CONFIG_FOLDERS] + ([Path(xdg)] if xdg else [])
    candidates = [("Claude Code", Path(environ.get("CLAUDE_CONFIG_DIR") or home) / ".claude.json")]
    candidates += [("Claude Desktop", it / "Claude" / "claude_desktop_config.json") for it in folders]
    users = [folder / name / "User" for folder in folders for name in _VSCODE_NAMES]
    for user in (*users, home / ".vscode-server" / "data" / "User"):
        candidates += [("VS Code", user / "mcp.json")]
        candidates += [("VS Code", path) for path in sorted(user.glob("profiles/*/mcp.json"))]
    for program, path in candidates:
        if path.is_file():
            yield program, path


def _read_servers(program: str, path: Path, work_dir: Path) -> Iterator[FoundServer]:
    """Yield the usable entries in a file. Raises ConfigError."""
    if path.stat().st_size > _MAX_FILE_SIZE:
        return
    source = source_from_text(read_config_text(path), name=str(path), syntax="jsonc", path=path)
    inputs: dict[str, str] = {}
    tables: list[Any]
    if program == "VS Code":
        tables = [convert_vscode_servers(source.data, folder=None)]
        inputs = describe_inputs(source.data)
    else:
        tables = [*_claude_project_tables(source.data, work_dir), source.data.get(SERVERS_KEY)]
    for table in tables:
        for name, entry in table.items() if isinstance(table, dict) else ():
            if isinstance(entry, dict) and not entry.get("disabled"):
                kept = {key: entry[key] for key in _KEYS if key in entry}
                yield FoundServer(name, program, path, kept, tuple(_describe_used(kept, inputs)))


def _claude_project_tables(data: Mapping[str, Any], work_dir: Path) -> Iterator[Any]:
    """Yield the servers that the user added to the project at `work_dir`."""
    projects = data.get("projects")
    for folder in dirs_up_to_repository(work_dir):
        project = projects.get(str(folder)) if isinstance(projects, dict) else None
        if isinstance(project, dict):
            yield project.get(SERVERS_KEY)


def _describe_used(entry: Mapping[str, Any], inputs: Mapping[str, str]) -> Iterator[str]:
    for variable in dict.fromkeys(_VARIABLE.findall(str(entry))):
        if variable in inputs:
            yield f"{variable} ({inputs[variable]})" if inputs[variable] else variable


def _free_name(server: FoundServer, taken: set[str]) -> str:
    """Return a valid name that isn't in `taken`."""
    name = re.sub(r"[\s/:*()]+", "-", sanitize_line(server.name)).strip("-")[:40] or "server"
    suffix = re.sub(r"\W+", "-", server.program.lower())
    candidates = [name, f"{name}-{suffix}", *(f"{name}-{suffix}-{number}" for number in range(2, 1000))]
    return next(candidate for candidate in candidates if candidate not in taken)
