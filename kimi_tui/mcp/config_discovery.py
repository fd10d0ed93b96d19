"""Discovery of a session's MCP servers in config files. Untrusted config files are left out."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from kimi_tui.base.errors import ConfigError
from kimi_tui.base.frozen import frozen
from kimi_tui.config.project_mcp import project_mcp_paths, read_mcp_source
from kimi_tui.config.project_trust import ProjectTrust
from kimi_tui.mcp.config_file import parse_servers, source_from_config_text
from kimi_tui.mcp.server_config import SILENCE_TIMEOUT_S, InvalidServer, ServerEntry


@frozen
class McpSelection:
    """MCP servers requested on the command line and by a client."""

    texts: tuple[str, ...] = ()
    """Configs as JSON. They override the servers in config files."""
    files: tuple[Path, ...] = ()
    """Configs to read instead of the user's and the project's."""
    servers: tuple[ServerEntry, ...] = ()
    """Servers from a client. They override all other servers."""


@frozen
class ConfiguredServers:
    """The servers of a session, with unique names, and the problems with skipped configs."""

    entries: tuple[ServerEntry, ...] = ()
    problems: tuple[str, ...] = ()


def user_mcp_path(data_dir: Path) -> Path:
    """Return the path of the user's MCP config."""
    return data_dir / "mcp.json"


def find_servers(
    *,
    data_dir: Path,
    work_dir: Path,
    agent_file: Path | None = None,
    selection: McpSelection = McpSelection(),
    call_timeout_s: float | None = None,
) -> ConfiguredServers:
    """Return the servers from all sources. A later server overrides an earlier server of the same name.

    The order of sources: the user's file, trusted project files, the agent's file, the command line. An
    invalid file is skipped and reported. `call_timeout_s` is the timeout of calls to servers without their
    own timeout. Raises ConfigError for an invalid config from the command line.
    """
    entries: dict[str, ServerEntry] = {}
    problems: list[str] = []
    user = user_mcp_path(data_dir)
    project = () if selection.files else project_mcp_paths(work_dir, data_dir)
    own = user if user.is_file() and not selection.files else None
    for path in filter(None, (own, *project, agent_file)):
        try:
            source = read_mcp_source(path)
            servers = _index_by_name(parse_servers(source))
            if path in project and servers and not ProjectTrust(data_dir).is_trusted(path, source.text):
                problems.append(_untrusted_message(path, servers))
            else:
                entries |= servers
        except ConfigError as error:
            problems.append(str(error))
    for path in selection.files:
        entries |= _index_by_name(parse_servers(read_mcp_source(path)))
    for text in selection.texts:
        entries |= _index_by_name(parse_servers(source_from_config_text(text)))
    entries |= _index_by_name(selection.servers)
    used = tuple(_with_call_timeout(entry, call_timeout_s) for entry in entries.values())
    return ConfiguredServers(used, tuple(problems))


def _with_call_timeout(entry: ServerEntry, call_timeout_s: float | None) -> ServerEntry:
    if isinstance(entry, InvalidServer) or call_timeout_s is None:
        return entry
    if entry.timeouts.silence_s != SILENCE_TIMEOUT_S:
        return entry
    return replace(entry, timeouts=replace(entry.timeouts, silence_s=call_timeout_s))


def _untrusted_message(path: Path, names: Iterable[str]) -> str:
    return (
        f"Ignored the servers in {path} ({', '.join(names)}): the file isn't trusted."
        " Review it, then run `kimi-tui trust add`."
    )


def _index_by_name(entries: Sequence[ServerEntry]) -> dict[str, ServerEntry]:
    return {entry.name: entry for entry in entries}
