"""The MCP servers that a project brings along, and whether the user trusts it with starting them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kimi_tui.base.errors import ConfigError
from kimi_tui.config.project import project_file
from kimi_tui.config.source import Source, read_config_text, source_from_text
from kimi_tui.config.trust import Trust

SERVERS_KEY = "mcpServers"
_FILE = ".mcp.json"


def project_mcp_path(work_dir: Path, share_dir: Path) -> Path | None:
    """`.mcp.json` of the work dir or of the repository around it; None when there is none."""
    return project_file(work_dir, share_dir, _FILE)


def mcp_source(path: Path) -> Source:
    """The MCP config in a file. Raises ConfigError."""
    return source_from_text(read_config_text(path), name=str(path), syntax="json", path=path)


def is_trusted_mcp(source: Source, share_dir: Path) -> bool:
    """Whether the user said yes to this very text."""
    return source.path is not None and Trust(share_dir).covers(source.path, source.text)


def untrusted_mcp(work_dir: Path, share_dir: Path) -> Source | None:
    """The project's MCP config when it names servers that the user hasn't said yes to.

    One that can't be read is none: that is told when the session looks for servers.
    """
    path = project_mcp_path(work_dir, share_dir)
    if path is None:
        return None
    try:
        source = mcp_source(path)
    except ConfigError:
        return None
    return source if source.data.get(SERVERS_KEY) and not is_trusted_mcp(source, share_dir) else None


def summary_of_servers(source: Source) -> Iterator[str]:
    """One line a server, for whoever decides whether to trust them; nothing of it is checked yet."""
    servers = source.data.get(SERVERS_KEY)
    for name, entry in servers.items() if isinstance(servers, dict) else ():
        yield f"{name}: {_target(entry)}"


def _target(entry: Any) -> str:
    if not isinstance(entry, dict):
        return "nothing that could be started"
    args = entry.get("args")
    words = [entry.get("command") or entry.get("url"), *(args if isinstance(args, list) else ())]
    target = " ".join(str(word) for word in words if word)
    return f"{target}{_sent_along(entry)}" if target else "nothing that could be started"


def _sent_along(entry: dict[str, Any]) -> str:
    """What else decides what the server does, and what of the user's environment it is given."""
    said = [f"{key} {entry[key]}" for key in ("cwd", "auth") if isinstance(entry.get(key), str)]
    for key in ("env", "headers"):
        table = entry.get(key)
        if isinstance(table, dict) and table:
            said.append(f"{key} " + ", ".join(f"{name}={value}" for name, value in table.items()))
    return f" (with {'; '.join(said)})" if said else ""
